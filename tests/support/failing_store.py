"""Stores that fail at a chosen step, before its effect or after it."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

from floecat.errors import UnavailableError
from floecat.storage.blobs.port import BlobRef, BlobStore, BlobWriter
from floecat.storage.kv.port import Key, KeyValueStore, Operation, Record, ServerTime

T = TypeVar("T")


class CrashError(UnavailableError):
    """The process ended here."""


class Steps:
    """Counts the steps that stores take, and fails at the one it is told to."""

    def __init__(self) -> None:
        self._countdown: int | None = None
        self._after = False
        self.taken = 0

    def fail_at(self, step: int | None, *, after: bool = False) -> None:
        """Fail at the n-th step from now, 0 being the next; None never."""
        self._countdown = step
        self._after = after
        self.taken = 0

    def before(self) -> bool:
        """Whether this is the step; fails at once unless it is to fail after the effect."""
        self.taken += 1
        due = self._countdown == self.taken - 1
        if due and not self._after:
            raise CrashError("crashed before the step")
        return due

    def done(self, due: bool, found: T) -> T:
        """What a step found, unless the process ends here."""
        if due:
            raise CrashError("crashed after the step")
        return found


class FailingBlobStore:
    """Passes everything on; opening, writing, finishing and reading a blob are steps."""

    def __init__(self, store: BlobStore, steps: Steps) -> None:
        self._store = store
        self._steps = steps

    @contextmanager
    def writer(self, name: str) -> Iterator[BlobWriter]:
        self._steps.done(self._steps.before(), None)
        finishing = False
        with self._store.writer(name) as writer:
            yield _FailingWriter(writer, self._steps)
            finishing = self._steps.before()
        self._steps.done(finishing, None)

    def read(self, ref: BlobRef, *, offset: int = 0, length: int | None = None) -> bytes:
        due = self._steps.before()
        return self._steps.done(due, self._store.read(ref, offset=offset, length=length))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class _FailingWriter:
    def __init__(self, writer: BlobWriter, steps: Steps) -> None:
        self._writer = writer
        self._steps = steps

    def write(self, data: bytes | memoryview) -> None:
        due = self._steps.before()
        self._writer.write(data)
        self._steps.done(due, None)

    @property
    def ref(self) -> BlobRef:
        return self._writer.ref


class FailingKeyValueStore:
    """Passes everything on, until the step that fails."""

    def __init__(self, store: KeyValueStore, steps: Steps) -> None:
        self._store = store
        self._steps = steps

    def get(self, key: Key) -> Record | None:
        due = self._steps.before()
        found = self._store.get(key)
        return self._steps.done(due, found)

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        due = self._steps.before()
        found = self._store.get_many(keys)
        return self._steps.done(due, found)

    def scan(
        self,
        partition: str,
        prefix: str = "",
        *,
        after: str | None = None,
        limit: int,
        reverse: bool = False,
    ) -> Sequence[Record]:
        due = self._steps.before()
        found = self._store.scan(partition, prefix, after=after, limit=limit, reverse=reverse)
        return self._steps.done(due, found)

    def glance(self) -> AbstractContextManager[None]:
        return self._store.glance()

    def commit(self, operations: Sequence[Operation]) -> None:
        due = self._steps.before()
        self._store.commit(operations)
        self._steps.done(due, None)

    def dump(self, after: Key | None = None) -> Iterator[Record]:
        return self._store.dump(after)

    def server_time(self) -> ServerTime | None:
        return self._store.server_time()

    def sweep(self, limit: int) -> int:
        return self._store.sweep(limit)

    def close(self) -> None:
        self._store.close()
