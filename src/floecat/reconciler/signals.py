"""Signals: tells this process's own chores that the queue has something for them.

What other processes write is found by looking now and then; a signal only makes the wait shorter.
"""

from collections.abc import Sequence
from threading import Event
from typing import Final

from typing_extensions import override

from floecat.reconciler import keys
from floecat.storage.kv.delegating import DelegatingKeyValueStore
from floecat.storage.kv.port import KeyValueStore, Operation, Put

AREAS: Final = (keys.EXPANSIONS, keys.CANCELLATIONS, keys.FINALIZATIONS)


class Signals:
    """An event for each area of keys that somebody in this process waits for."""

    def __init__(self) -> None:
        self._events = {area: Event() for area in AREAS}

    def of(self, area: str) -> Event:
        """Set when something was written there."""
        return self._events[area]

    def written(self, operations: Sequence[Operation]) -> None:
        """Tell whoever waits for what was written."""
        for operation in operations:
            if isinstance(operation, Put) and operation.key.partition.startswith(AREAS):
                self._set(operation.key.partition)

    def _set(self, partition: str) -> None:
        for area, event in self._events.items():
            if partition.startswith(area):
                event.set()


class SignallingKeyValueStore(DelegatingKeyValueStore):
    """A store whose commits are signalled, once they are there. Reading is as ever."""

    def __init__(self, kv: KeyValueStore, signals: Signals) -> None:
        super().__init__(kv)
        self._signals = signals

    @override
    def commit(self, operations: Sequence[Operation]) -> None:
        self._kv.commit(operations)
        self._signals.written(operations)
