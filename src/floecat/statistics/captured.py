"""What finalization published of a snapshot, opened; the last few are kept open."""

from collections import OrderedDict
from collections.abc import Iterator
from threading import Lock
from typing import Final

from ai.floedb.floecat.catalog.stats_pb2 import TargetStatsRecord
from ai.floedb.floecat.reconciler.stored_pb2 import FinalSnapshot
from floecat.artifacts.index.reading import ScanIndexFile
from floecat.artifacts.opened import OpenedSegments
from floecat.artifacts.payloads import blob_ref
from floecat.artifacts.statistics import StatisticsFile
from floecat.catalog import keys
from floecat.catalog.records import CatalogStores
from floecat.statistics.files import CapturedFiles
from floecat.statistics.store import SnapshotPlace, StatsQuery
from floecat.storage.blobs.port import BlobStore

_OPEN: Final = 4
"""An index keeps some files of the system open: two for each of its parts."""


class CapturedStatistics:
    """The statistics of one finalized snapshot. Made for a record that never changes."""

    def __init__(
        self, place: SnapshotPlace, final: FinalSnapshot, blobs: BlobStore, opened: OpenedSegments
    ) -> None:
        self.final = final
        self.statistics = StatisticsFile(blobs, blob_ref(final.stats))
        index = ScanIndexFile.open(blobs, final.index)
        self.files = CapturedFiles(place, final, index, opened)

    def records(self, *, sketches: bool) -> Iterator[TargetStatsRecord]:
        """Everything that was captured: columns, table, then file by file."""
        yield from self.statistics.list(sketches=sketches)
        query = StatsQuery(sketches=sketches)
        for file in self.files.index.files():
            yield self.files.record(file, query)


class Captures:
    """Finds published captures. A capture that is published anew is another one."""

    def __init__(self, stores: CatalogStores) -> None:
        self._stores = stores
        self._opened = OpenedSegments(stores.blobs)
        self._known: OrderedDict[tuple[SnapshotPlace, str], CapturedStatistics] = OrderedDict()
        self._lock = Lock()

    def find(self, place: SnapshotPlace) -> CapturedStatistics | None:
        """What was captured of a snapshot; None if nothing was published."""
        key = keys.final(place.account_id, place.table_id, place.snapshot_id)
        record = self._stores.kv.get(key)
        final = None if record is None else FinalSnapshot.FromString(record.value)
        if final is None or not (final.index.uri and final.stats.uri):
            return None
        return self._opened_for(place, final)

    def _opened_for(self, place: SnapshotPlace, final: FinalSnapshot) -> CapturedStatistics:
        name = (place, final.SerializeToString(deterministic=True).hex())
        with self._lock:
            found = self._known.get(name)
        if found is None:
            found = CapturedStatistics(place, final, self._stores.blobs, self._opened)
        with self._lock:
            self._known[name] = found
            self._known.move_to_end(name)
            if len(self._known) > _OPEN:
                self._known.popitem(last=False)
        return found
