"""Answers about statistics: of one target, or page by page."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from ai.floedb.floecat.catalog.index_pb2 import (
    GetIndexArtifactRequest,
    IndexArtifactRecord,
    ListIndexArtifactsRequest,
    ListIndexArtifactsResponse,
    PutIndexArtifactsResponse,
    ReadIndexArtifactRequest,
)
from ai.floedb.floecat.catalog.stats_pb2 import (
    GetTargetStatsRequest,
    ListTargetStatsRequest,
    ListTargetStatsResponse,
    PutTargetStatsResponse,
    TargetStatsRecord,
)
from ai.floedb.floecat.statistics.statistics_pb2 import STK_UNSPECIFIED
from floecat.artifacts.targets import StatsTargetIdentity
from floecat.catalog.callers import Caller
from floecat.catalog.paging import MAX_PAGE_BYTES, first_fitting, page_cursor
from floecat.catalog.records import CatalogStores
from floecat.errors import InvalidArgumentError, LimitExceededError
from floecat.statistics.index_artifacts import IndexArtifactRepository
from floecat.statistics.places import SnapshotPlaces
from floecat.statistics.store import (
    PreparedPut,
    PreparesPuts,
    SnapshotPlace,
    StatsQuery,
    StatsStore,
)
from floecat.statistics.uploads import RecordUploads


class TableStatistics:
    """Statistics of tables, for callers who may see them."""

    def __init__(self, stores: CatalogStores, store: StatsStore) -> None:
        self._stores = stores
        self._store = store
        self._places = SnapshotPlaces(stores)
        self.uploads: RecordUploads[TargetStatsRecord, PutTargetStatsResponse] = RecordUploads(
            stores, self._prepared, PutTargetStatsResponse
        )

    def get(self, caller: Caller, request: GetTargetStatsRequest) -> TargetStatsRecord:
        """One target's record."""
        place = self._places.of(caller, request.table_id, request.snapshot)
        return _fitting(self._store.get(place, request.target, sketches=request.include_sketches))

    def list(self, caller: Caller, request: ListTargetStatsRequest) -> ListTargetStatsResponse:
        """A page of records, in the order of their targets."""
        query = _query(request)
        place = self._places.of(caller, request.table_id, request.snapshot)
        cursor = page_cursor(
            request.page,
            "statistics",
            place.account_id,
            place.table_id,
            str(place.snapshot_id),
            str(query.kind),
            ",".join(map(str, sorted(query.column_ids))),
        )
        found = self._store.list(place, query, cursor.after)
        # One more than fits the page: whether anything is left is known without counting it all.
        records, cut = first_fitting(map(_fitting, islice(found, cursor.size + 1)))
        more = cut or len(records) > cursor.size
        shown = records[: cursor.size]
        response = ListTargetStatsResponse(records=shown, snapshot_id=place.snapshot_id)
        if more:
            last = StatsTargetIdentity.storage_id(shown[-1].target)
            response.page.next_page_token = cursor.token(last)
        return response

    def _prepared(
        self, place: SnapshotPlace, told: Iterable[TargetStatsRecord]
    ) -> Callable[[], PreparedPut]:
        records = map(self._dated, told)
        if isinstance(self._store, PreparesPuts):
            return self._store.prepared(place, records)
        # A store that lives elsewhere: what it has kept can be put again, should the answer get
        # lost on the way.
        meta = self._store.put(place, records)
        return lambda: PreparedPut(meta, ())

    def _dated(self, record: TargetStatsRecord) -> TargetStatsRecord:
        """A record that says when it was made: now, if it doesn't."""
        if record.metadata.HasField("captured_at"):
            return record
        dated = TargetStatsRecord()
        dated.CopyFrom(record)
        dated.metadata.captured_at.CopyFrom(self._stores.now())
        return dated


class TableIndex:
    """Index artifacts of tables, for callers who may see them."""

    def __init__(self, stores: CatalogStores, artifacts: IndexArtifactRepository) -> None:
        self._artifacts = artifacts
        self._places = SnapshotPlaces(stores)
        self.uploads: RecordUploads[IndexArtifactRecord, PutIndexArtifactsResponse] = RecordUploads(
            stores, artifacts.prepared, PutIndexArtifactsResponse
        )

    def get(
        self, caller: Caller, request: GetIndexArtifactRequest | ReadIndexArtifactRequest
    ) -> IndexArtifactRecord:
        """The artifact of one file."""
        place = self._places.of(caller, request.table_id, request.snapshot)
        return self._artifacts.get(place, request.file_path)

    def read(self, record: IndexArtifactRecord) -> Iterator[bytes]:
        """An artifact's bytes, in order."""
        return self._artifacts.pieces(record)

    def list(
        self, caller: Caller, request: ListIndexArtifactsRequest
    ) -> ListIndexArtifactsResponse:
        """A page of records, in the order of their files' paths."""
        place = self._places.of(caller, request.table_id, request.snapshot)
        cursor = page_cursor(
            request.page, "artifacts", place.account_id, place.table_id, str(place.snapshot_id)
        )
        listing = _Keyed(islice(self._artifacts.list(place, cursor.after), cursor.size + 1))
        records, cut = first_fitting(listing)
        more = cut or len(records) > cursor.size
        shown = records[: cursor.size]
        response = ListIndexArtifactsResponse(records=shown, snapshot_id=place.snapshot_id)
        if more:
            response.page.next_page_token = cursor.token(listing.keys[len(shown) - 1])
        return response


class _Keyed:
    """Records, and the keys of those that were gone through."""

    def __init__(self, found: Iterator[tuple[str, IndexArtifactRecord]]) -> None:
        self._found = found
        self.keys: list[str] = []

    def __iter__(self) -> Iterator[IndexArtifactRecord]:
        for key, record in self._found:
            self.keys.append(key)
            yield record


def _query(request: ListTargetStatsRequest) -> StatsQuery:
    kinds = set(request.target_kinds)
    if len(request.target_kinds) > 1:
        raise InvalidArgumentError(
            "at most one target kind per request: ask once for each", field="target_kinds"
        )
    if STK_UNSPECIFIED in kinds:
        raise InvalidArgumentError("target_kinds holds no kind", field="target_kinds")
    return StatsQuery(
        kind=next(iter(kinds), None),
        column_ids=frozenset(request.column_ids),
        sketches=request.include_sketches,
    )


def _fitting(record: TargetStatsRecord) -> TargetStatsRecord:
    """A record that an answer can carry."""
    if record.ByteSize() > MAX_PAGE_BYTES:
        raise LimitExceededError(
            f"the record of {StatsTargetIdentity.storage_id(record.target)} has "
            f"{record.ByteSize()} bytes, and at most {MAX_PAGE_BYTES} fit an answer: ask for fewer "
            "columns (ListTargetStats with column_ids), or without sketches",
            reason="RECORD_TOO_LARGE",
        )
    return record
