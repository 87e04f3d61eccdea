"""The `floecat` command, killed by itself before or after a commit that touches named keys.

python -m tests.support.dying_service before put expand/ 1 serve

A blob that is written counts as a commit to `blob/` and its name. The product needs no points made
for tests: what it writes, and when, is what there is to be interrupted.
"""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple, cast

from floecat import bootstrap
from floecat.catalog.records import CatalogStores
from floecat.cli.main import main
from floecat.settings.model import Settings
from floecat.storage.blobs.port import BlobStore, BlobWriter
from floecat.storage.kv.port import Delete, KeyValueStore, Operation, Put


class Point(NamedTuple):
    """A moment in a service's life."""

    when: str
    """`before` or `after` the commit."""
    what: str
    """`put` or `delete`."""
    area: str
    """How the partition begins."""
    times: int = 1

    @property
    def arguments(self) -> list[str]:
        return [self.when, self.what, self.area, str(self.times)]


@dataclass
class Death:
    """Comes at one point."""

    point: Point

    def __post_init__(self) -> None:
        self._left = self.point.times
        self._lock = Lock()

    def is_due(self, what: str, partition: str) -> bool:
        """Whether this is the last of the times."""
        if what != self.point.what or not partition.startswith(self.point.area):
            return False
        with self._lock:
            self._left -= 1
            return self._left == 0

    def come(self, when: str) -> None:
        if when == self.point.when:
            os.kill(os.getpid(), signal.SIGKILL)


class DyingKeyValueStore:
    """Passes everything on, until the commit that is the last."""

    def __init__(self, store: KeyValueStore, death: Death) -> None:
        self._store = store
        self._death = death

    def commit(self, operations: Sequence[Operation]) -> None:
        is_due = any(self._is_due(operation) for operation in operations)
        if is_due:
            self._death.come("before")
        self._store.commit(operations)
        if is_due:
            self._death.come("after")

    def _is_due(self, operation: Operation) -> bool:
        match operation:
            case Put(key):
                return self._death.is_due("put", key.partition)
            case Delete(key):
                return self._death.is_due("delete", key.partition)
            case _:
                return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class DyingBlobStore:
    """Passes everything on, until the blob that is the last."""

    def __init__(self, store: BlobStore, death: Death) -> None:
        self._store = store
        self._death = death

    @contextmanager
    def writer(self, name: str) -> Iterator[BlobWriter]:
        is_due = self._death.is_due("put", f"blob/{name}")
        with self._store.writer(name) as writer:
            yield writer
            if is_due:
                self._death.come("before")
        if is_due:
            self._death.come("after")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def die_at(point: Point) -> None:
    """Wrap the stores that this process is going to open."""
    death = Death(point)
    open_stores = bootstrap.open_stores

    def dying(settings: Settings, opened: ExitStack) -> CatalogStores:
        stores = open_stores(settings, opened)
        kv = cast("KeyValueStore", DyingKeyValueStore(stores.kv, death))
        return CatalogStores(kv, cast("BlobStore", DyingBlobStore(stores.blobs, death)))

    bootstrap.open_stores = dying


if __name__ == "__main__":
    _, when, what, area, times, *rest = sys.argv
    die_at(Point(when, what, area, int(times)))
    sys.argv[1:] = rest
    main()
