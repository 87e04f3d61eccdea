"""StatsRepository: the store that Floecat brings along, on the storage ports.

What was captured lies in the blobs that finalization left; what clients put lies over it.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby
from typing import Final, NamedTuple

from ai.floedb.floecat.catalog.stats_pb2 import TargetStatsRecord
from ai.floedb.floecat.common.common_pb2 import MutationMeta
from ai.floedb.floecat.statistics.statistics_pb2 import STK_FILE, StatsTarget
from floecat.artifacts.sorted import SortedRecord
from floecat.artifacts.statistics import from_sorted, to_sorted
from floecat.artifacts.targets import StatsTargetIdentity, TargetKind
from floecat.catalog import keys
from floecat.catalog.records import CatalogStores
from floecat.errors import ConflictError, ContentionError, NotFoundError
from floecat.statistics.captured import CapturedStatistics, Captures
from floecat.statistics.checks import check_record, check_target
from floecat.statistics.overlays import LayeredEntry, Overlay, Overlays
from floecat.statistics.store import PreparedPut, SnapshotPlace, StatsQuery
from floecat.storage.kv.port import ANY, Delete, Key

_ATTEMPTS: Final = 64
_FILES: Final = "file/"


class _Found(NamedTuple):
    """A record that is somewhere; made only if it is wanted."""

    key: str
    rank: int
    """Of the same key the lowest wins."""
    record: Callable[[], TargetStatsRecord]


class StatsRepository:
    """Statistics in the key-value and blob stores."""

    reads_captures = True

    def __init__(self, stores: CatalogStores) -> None:
        self._stores = stores
        self._overlays = Overlays(stores)
        self._captures = Captures(stores)

    def put(self, place: SnapshotPlace, records: Iterable[TargetStatsRecord]) -> MutationMeta:
        """Write records over what is known."""
        listed = self._overlays.layer(place.account_id, _sorted(place, records))
        for _ in range(_ATTEMPTS):
            laid = self._overlays.laid(place.account_id, _row(place), listed)
            try:
                self._stores.kv.commit(laid.operations)
            except ConflictError:
                continue
            return laid.meta
        raise ContentionError("too many concurrent writes of the same statistics: try again")

    def prepared(
        self, place: SnapshotPlace, records: Iterable[TargetStatsRecord]
    ) -> Callable[[], PreparedPut]:
        """Write records where nobody sees them; the result lays them over what is there then."""
        layer = self._overlays.layer(place.account_id, _sorted(place, records))
        return lambda: self._overlays.laid(place.account_id, _row(place), layer)

    def get(
        self, place: SnapshotPlace, target: StatsTarget, *, sketches: bool = False
    ) -> TargetStatsRecord:
        """What is known of a target."""
        check_target(target)
        key = StatsTargetIdentity.storage_id(target)
        overlay = self._overlays.find(_row(place))
        written = overlay.find(key) if overlay else None
        if written is not None:
            return from_sorted(written.records, written.entry, sketches=sketches)
        captured = self._captures.find(place)
        found = self._captured(captured, target, key, sketches=sketches) if captured else None
        if found is None:
            raise NotFoundError(
                f"nothing is known of {key} in snapshot {place.snapshot_id}: capture it with "
                "'floecat connector trigger --mode metadata-and-capture' (StartCapture)",
                reason="STATISTICS_NOT_FOUND",
                metadata={"target": key, "snapshot_id": str(place.snapshot_id)},
            )
        return found

    def list(
        self, place: SnapshotPlace, query: StatsQuery, after: str | None = None
    ) -> Iterator[TargetStatsRecord]:
        """Records in order."""
        for found in self._found(place, query, after):
            record = found.record()
            narrowed = _narrowed(record, query)
            if narrowed is not None:
                yield narrowed

    def count(self, place: SnapshotPlace, kind: TargetKind | None = None) -> int:
        """How many targets something is known of."""
        query = StatsQuery(kind=kind)
        overlay = self._overlays.find(_row(place))
        captured = self._captures.find(place)
        if overlay is None and captured is not None and kind == STK_FILE:
            return len(captured.files.index)
        return sum(1 for _ in self._merged(overlay, captured, query, None))

    def delete(self, place: SnapshotPlace) -> bool:
        """Forget a snapshot's statistics: it isn't finalized any more, either."""
        final = keys.final(place.account_id, place.table_id, place.snapshot_id)
        known = [row for row in (_row(place), final) if self._stores.kv.get(row) is not None]
        self._stores.kv.commit([Delete(row, ANY) for row in known])
        return bool(known)

    def metadata(self, place: SnapshotPlace) -> MutationMeta | None:
        """When clients last put something."""
        overlay = self._overlays.find(_row(place))
        return None if overlay is None else overlay.stored.meta

    def _captured(
        self, captured: CapturedStatistics, target: StatsTarget, key: str, *, sketches: bool
    ) -> TargetStatsRecord | None:
        if not target.HasField("file"):
            return captured.statistics.find(key, sketches=sketches)
        file = captured.files.index.find(target.file.file_path)
        return captured.files.record(file, StatsQuery(sketches=sketches)) if file else None

    def _found(
        self, place: SnapshotPlace, query: StatsQuery, after: str | None
    ) -> Iterator[_Found]:
        overlay = self._overlays.find(_row(place))
        return self._merged(overlay, self._captures.find(place), query, after)

    def _merged(
        self,
        overlay: Overlay | None,
        captured: CapturedStatistics | None,
        query: StatsQuery,
        after: str | None,
    ) -> Iterator[_Found]:
        """Each target once, by storage id; what clients put before what was captured."""
        start = "" if query.kind is None else StatsTargetIdentity.prefix(query.kind)
        sources: list[Iterator[_Found]] = []
        if overlay is not None:
            sources.append(_written(overlay.entries(after, start), query))
        if captured is not None:
            records = captured.statistics.records
            entries = (LayeredEntry(e, records) for e in records.entries(after, start))
            sources.append(_written(entries, query, rank=1))
            if query.kind in (None, STK_FILE):
                sources.append(_files(captured, query, after))
        ordered = heapq.merge(*sources, key=lambda found: found[:2])
        for key, same in groupby(ordered, key=lambda found: found.key):
            if not key.startswith(start):
                return
            yield next(same)


def _row(place: SnapshotPlace) -> Key:
    return keys.overlay(place.account_id, place.table_id, place.snapshot_id, keys.STATISTICS)


def _sorted(place: SnapshotPlace, records: Iterable[TargetStatsRecord]) -> Iterator[SortedRecord]:
    for record in records:
        check_record(place, record)
        placed = TargetStatsRecord()
        placed.CopyFrom(record)
        placed.table_id.CopyFrom(place.table)
        placed.snapshot_id = place.snapshot_id
        yield to_sorted(placed)


def _written(entries: Iterable[LayeredEntry], query: StatsQuery, rank: int = 0) -> Iterator[_Found]:
    for one in entries:
        read = partial(from_sorted, one.records, one.entry, sketches=query.sketches)
        yield _Found(one.entry.key, rank, read)


def _files(captured: CapturedStatistics, query: StatsQuery, after: str | None) -> Iterator[_Found]:
    if after is not None and after >= "file0":  # behind every file
        return
    seek = after.removeprefix(_FILES) if after is not None and after.startswith(_FILES) else None
    for file in captured.files.index.files(seek):
        yield _Found(_FILES + file.key, 1, partial(captured.files.record, file, query))


def _narrowed(record: TargetStatsRecord, query: StatsQuery) -> TargetStatsRecord | None:
    """Only the columns that are wanted; None of a column that isn't."""
    if not query.column_ids:
        return record
    if record.target.HasField("column"):
        return record if record.target.column.column_id in query.column_ids else None
    if record.HasField("file"):
        kept = [c for c in record.file.columns if c.column_id in query.column_ids]
        if len(kept) != len(record.file.columns):
            columns = [type(c).FromString(c.SerializeToString()) for c in kept]
            record.file.ClearField("columns")
            record.file.columns.extend(columns)
    return record
