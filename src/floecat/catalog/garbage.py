"""Collecting blobs that no record names, nor needs.

A blob is written before the record that names it, so being unnamed for a moment means nothing. It
is deleted only if two passes at least `grace` apart found it unnamed, and a last look right before
the delete does too. What a pass finds first is remembered in a record of its own.

A pass takes some blobs at a time, by name, and walks the records once for each such batch: so it
holds a batch in memory and never more, however many blobs and records there are.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from floecat.catalog import keys
from floecat.catalog.holdings import CapturedBlobs, Holdings
from floecat.catalog.records import CatalogStores
from floecat.catalog.references import BLOBS, references_of
from floecat.storage.blobs.port import BlobInfo
from floecat.storage.kv.port import ANY, MAX_OPERATIONS, Delete, Operation, Put, Record

_PAGE: Final = 1000

BATCH: Final = 100_000
"""Blobs looked at together: about 50 MB, and a walk over all records."""

DEFAULT_GRACE: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class GarbageReport:
    """What a pass found and did."""

    blobs: int
    """Blobs there were."""
    waiting: int
    """Unnamed, but not for long enough."""
    deleted: int
    """Deleted, or with a dry run: would have been."""
    freed_bytes: int

    def __add__(self, other: "GarbageReport") -> "GarbageReport":
        return GarbageReport(
            blobs=self.blobs + other.blobs,
            waiting=self.waiting + other.waiting,
            deleted=self.deleted + other.deleted,
            freed_bytes=self.freed_bytes + other.freed_bytes,
        )


class GarbageCollector:
    """One pass over the blobs of this room's records. Several may run at once."""

    def __init__(
        self, stores: CatalogStores, grace: timedelta = DEFAULT_GRACE, batch: int = BATCH
    ) -> None:
        self._stores = stores
        self._grace = grace
        self._holdings = Holdings(stores.blobs)
        self._batch = batch

    def collect(self, *, dry_run: bool = False) -> GarbageReport:
        """Delete what has been unnamed for long enough; remember what is unnamed now."""
        total = GarbageReport(blobs=0, waiting=0, deleted=0, freed_bytes=0)
        remembered = _Remembered(self._memory())
        blobs = self._blobs()
        while batch := list(islice(blobs, self._batch)):
            since = remembered.up_to(batch[-1].name)
            total += self._collect(batch, since, dry_run=dry_run)
        if not dry_run:
            self._forget(remembered.rest())
        return total

    def _collect(
        self, batch: list[BlobInfo], since: Mapping[str, datetime], *, dry_run: bool
    ) -> GarbageReport:
        now = self._stores.clock()
        # The blobs were listed first: one that is written after that isn't looked at in this pass.
        unnamed = self._unnamed(batch)
        due = [
            blob for blob in unnamed if blob.name in since and now - since[blob.name] >= self._grace
        ]
        if not dry_run:
            self._remember([blob.name for blob in unnamed], since, now)
            due = self._delete(due)
        return GarbageReport(
            blobs=len(batch),
            waiting=len(unnamed) - len(due),
            deleted=len(due),
            freed_bytes=sum(blob.size for blob in due),
        )

    def _delete(self, due: list[BlobInfo]) -> list[BlobInfo]:
        deleted: list[BlobInfo] = []
        for start in range(0, len(due), _PAGE):
            # the last look, as close to the delete as it can be
            unnamed = self._unnamed(due[start : start + _PAGE])
            deleted += [blob for blob in unnamed if self._stores.blobs.delete(blob.name)]
        self._commit(Delete(keys.garbage(blob.name), ANY) for blob in deleted)
        return deleted

    def _remember(self, unnamed: list[str], since: Mapping[str, datetime], now: datetime) -> None:
        moment = now.isoformat().encode()
        self._commit(Put(keys.garbage(name), moment, ANY) for name in unnamed if name not in since)
        self._forget(since.keys() - unnamed)

    def _forget(self, names: Iterable[str]) -> None:
        self._commit(Delete(keys.garbage(name), ANY) for name in names)

    def _commit(self, operations: Iterable[Operation]) -> None:
        waiting = iter(operations)
        while page := list(islice(waiting, MAX_OPERATIONS)):
            self._stores.kv.commit(page)

    def _unnamed(self, blobs: list[BlobInfo]) -> list[BlobInfo]:
        """Those of some blobs that no record names."""
        by_uri = {blob.uri: blob for blob in blobs}
        captures = CapturedBlobs(blob.name for blob in blobs)
        for record in self._stores.kv.dump():
            for reference in references_of(record):
                by_uri.pop(reference.uri, None)
            captures.take(self._holdings.of(record))
        return [blob for blob in by_uri.values() if not captures.is_held(blob.name)]

    def _blobs(self) -> Iterator[BlobInfo]:
        for prefix in BLOBS:
            after: str | None = None
            while page := self._stores.blobs.list(prefix, after=after, limit=_PAGE):
                yield from page
                after = page[-1].name

    def _memory(self) -> Iterator[Record]:
        after: str | None = None
        while page := self._stores.kv.scan(keys.GARBAGE, after=after, limit=_PAGE):
            yield from page
            after = page[-1].key.sort


class _Remembered:
    """What earlier passes found unnamed, read alongside the blobs: both are ordered by name."""

    def __init__(self, records: Iterator[Record]) -> None:
        self._records = records
        self._ahead = next(records, None)

    def up_to(self, last: str) -> dict[str, datetime]:
        """Since when, by name, up to a name."""
        since: dict[str, datetime] = {}
        while self._ahead is not None and self._ahead.key.sort <= last:
            since[self._ahead.key.sort] = datetime.fromisoformat(self._ahead.value.decode())
            self._ahead = next(self._records, None)
        return since

    def rest(self) -> Iterator[str]:
        """The names behind the last blob: there is nothing of them any more."""
        while self._ahead is not None:
            yield self._ahead.key.sort
            self._ahead = next(self._records, None)
