"""A key-value store that fails at a chosen step, before its effect or after it."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from floecat.errors import UnavailableError
from floecat.storage.kv.port import Key, KeyValueStore, Operation, Record

T = TypeVar("T")


class CrashError(UnavailableError):
    """The process ended here."""


class FailingKeyValueStore:
    """Passes everything on, until the step it is told to fail at."""

    def __init__(self, store: KeyValueStore) -> None:
        self._store = store
        self._countdown: int | None = None
        self._after = False
        self.steps = 0

    def fail_at(self, step: int | None, *, after: bool = False) -> None:
        """Fail at the n-th step from now, 0 being the next; None never."""
        self._countdown = step
        self._after = after
        self.steps = 0

    def _before(self) -> bool:
        """Whether this is the step; fails at once unless it is to fail after the effect."""
        self.steps += 1
        due = self._countdown == self.steps - 1
        if due and not self._after:
            raise CrashError("crashed before the step")
        return due

    def get(self, key: Key) -> Record | None:
        due = self._before()
        found = self._store.get(key)
        return self._done(due, found)

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        due = self._before()
        found = self._store.get_many(keys)
        return self._done(due, found)

    def scan(
        self,
        partition: str,
        prefix: str = "",
        *,
        after: str | None = None,
        limit: int,
        reverse: bool = False,
    ) -> Sequence[Record]:
        due = self._before()
        found = self._store.scan(partition, prefix, after=after, limit=limit, reverse=reverse)
        return self._done(due, found)

    def commit(self, operations: Sequence[Operation]) -> None:
        due = self._before()
        self._store.commit(operations)
        self._done(due, None)

    def _done(self, due: bool, found: T) -> T:
        if due:
            raise CrashError("crashed after the step")
        return found

    def dump(self, after: Key | None = None) -> Iterator[Record]:
        return self._store.dump(after)

    def sweep(self, limit: int) -> int:
        return self._store.sweep(limit)

    def close(self) -> None:
        self._store.close()
