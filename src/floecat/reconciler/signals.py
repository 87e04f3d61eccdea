"""Signals: tells this process's own chores that the queue has something for them.

What other processes write is found by looking now and then; a signal only makes the wait shorter.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from threading import Event
from typing import Final

from floecat.reconciler import keys
from floecat.storage.kv.port import Key, KeyValueStore, Operation, Put, Record

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


class SignallingKeyValueStore:
    """A store whose commits are signalled, once they are there. Reading is as ever."""

    def __init__(self, kv: KeyValueStore, signals: Signals) -> None:
        self._kv = kv
        self._signals = signals

    def get(self, key: Key) -> Record | None:
        return self._kv.get(key)

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        return self._kv.get_many(keys)

    def scan(
        self,
        partition: str,
        prefix: str = "",
        *,
        after: str | None = None,
        limit: int,
        reverse: bool = False,
    ) -> Sequence[Record]:
        return self._kv.scan(partition, prefix, after=after, limit=limit, reverse=reverse)

    def glance(self) -> AbstractContextManager[None]:
        return self._kv.glance()

    def commit(self, operations: Sequence[Operation]) -> None:
        self._kv.commit(operations)
        self._signals.written(operations)

    def dump(self, after: Key | None = None) -> Iterator[Record]:
        return self._kv.dump(after)

    def sweep(self, limit: int) -> int:
        return self._kv.sweep(limit)

    def close(self) -> None:
        self._kv.close()
