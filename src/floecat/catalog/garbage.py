"""Collecting blobs that no record names.

A blob is written before the record that names it, so being unnamed for a moment means nothing. It
is deleted only if two passes at least `grace` apart found it unnamed, and a last look right before
the delete does too. What a pass finds first is remembered in a record of its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from floecat.catalog import keys
from floecat.catalog.records import CatalogStores
from floecat.catalog.references import BLOBS, references_of
from floecat.storage.blobs.port import BlobInfo
from floecat.storage.kv.port import ANY, MAX_OPERATIONS, Delete, Operation, Put

_PAGE: Final = 1000

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


class GarbageCollector:
    """One pass over the blobs of this room's records. Several may run at once."""

    def __init__(self, stores: CatalogStores, grace: timedelta = DEFAULT_GRACE) -> None:
        self._stores = stores
        self._grace = grace

    def collect(self, *, dry_run: bool = False) -> GarbageReport:
        """Delete what has been unnamed for long enough; remember what is unnamed now."""
        now = self._stores.clock()
        # Blobs first: one that is written after this isn't looked at in this pass at all.
        blobs = list(self._blobs())
        named = self._named()
        unnamed = {blob.name: blob for blob in blobs if blob.uri not in named}
        since = dict(self._remembered())
        due = [
            blob
            for name, blob in unnamed.items()
            if name in since and now - since[name] >= self._grace
        ]
        if not dry_run:
            self._remember(unnamed, since, now)
            due = self._delete(due)
        return GarbageReport(
            blobs=len(blobs),
            waiting=len(unnamed) - len(due),
            deleted=len(due),
            freed_bytes=sum(blob.size for blob in due),
        )

    def _delete(self, due: list[BlobInfo]) -> list[BlobInfo]:
        deleted: list[BlobInfo] = []
        for start in range(0, len(due), _PAGE):
            named = self._named()  # the last look, as close to the delete as it can be
            deleted += [
                blob
                for blob in due[start : start + _PAGE]
                if blob.uri not in named and self._stores.blobs.delete(blob.name)
            ]
        self._commit([Delete(keys.garbage(blob.name), ANY) for blob in deleted])
        return deleted

    def _remember(
        self, unnamed: Mapping[str, BlobInfo], since: Mapping[str, datetime], now: datetime
    ) -> None:
        fresh = [name for name in unnamed if name not in since]
        stale = [name for name in since if name not in unnamed]
        moment = now.isoformat().encode()
        self._commit(
            [
                *(Put(keys.garbage(name), moment, ANY) for name in fresh),
                *(Delete(keys.garbage(name), ANY) for name in stale),
            ]
        )

    def _commit(self, operations: list[Operation]) -> None:
        for start in range(0, len(operations), MAX_OPERATIONS):
            self._stores.kv.commit(operations[start : start + MAX_OPERATIONS])

    def _named(self) -> set[str]:
        """URIs of every blob that a record names."""
        return {
            reference.uri
            for record in self._stores.kv.dump()
            for reference in references_of(record)
        }

    def _blobs(self) -> Iterator[BlobInfo]:
        after: str | None = None
        while page := self._stores.blobs.list(BLOBS, after=after, limit=_PAGE):
            yield from page
            after = page[-1].name

    def _remembered(self) -> Iterator[tuple[str, datetime]]:
        after: str | None = None
        while page := self._stores.kv.scan(keys.GARBAGE, after=after, limit=_PAGE):
            for record in page:
                yield record.key.sort, datetime.fromisoformat(record.value.decode())
            after = page[-1].key.sort
