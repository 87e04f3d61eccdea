"""What was captured, as the services show it: by target, page by page, with overlays above."""

from collections.abc import Iterator, Sequence
from datetime import UTC
from functools import partial
from typing import Any

import pytest
from tests.support.capturing import Captured, Capturing, files_of
from tests.support.reconciling import Reconciling
from tests.support.segments import Content
from tests.support.stats_store import DictStatsStore

from ai.floedb.floecat.catalog.index_pb2 import (
    IAS_FAILED,
    IAS_READY,
    GetIndexArtifactRequest,
    IndexArtifactRecord,
    ListIndexArtifactsRequest,
    PutIndexArtifactsRequest,
    ReadIndexArtifactRequest,
)
from ai.floedb.floecat.catalog.snapshot_pb2 import DeleteSnapshotRequest
from ai.floedb.floecat.catalog.stats_pb2 import (
    GetTargetStatsRequest,
    ListTargetStatsRequest,
    PutTargetStatsRequest,
    ScalarStats,
    TableValueStats,
    TargetStatsRecord,
)
from ai.floedb.floecat.common.common_pb2 import (
    BlobReference,
    IdempotencyKey,
    PageRequest,
    SnapshotRef,
)
from ai.floedb.floecat.statistics.statistics_pb2 import (
    STK_COLUMN,
    STK_FILE,
    STK_TABLE,
    ColumnStatsTarget,
    FileStatsTarget,
    StatsTarget,
    TableStatsTarget,
)
from floecat.catalog.garbage import DEFAULT_GRACE, GarbageCollector
from floecat.errors import (
    AbortedError,
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    LimitExceededError,
    NotFoundError,
)
from floecat.reconciler.finalization import SnapshotFinalizeReconcileExecutor
from floecat.statistics.repository import StatsRepository
from floecat.statistics.store import SnapshotPlace, StatsQuery

TABLE = StatsTarget(table=TableStatsTarget())


def column(number: int) -> StatsTarget:
    return StatsTarget(column=ColumnStatsTarget(column_id=number))


def file(path: str) -> StatsTarget:
    return StatsTarget(file=FileStatsTarget(file_path=path))


class Asking:
    """The two services, asked about one table."""

    def __init__(self, capturing: Capturing, captured: Captured) -> None:
        self.world = capturing.plane.world
        self.table_id = captured.table_id

    def get(self, target: StatsTarget, **fields: Any) -> TargetStatsRecord:
        request = GetTargetStatsRequest(table_id=self.table_id, target=target, **fields)
        found = self.world.call("TableStatisticsService/GetTargetStats", request)
        record: TargetStatsRecord = found.record
        return record

    def pages(self, size: int, **fields: Any) -> Iterator[list[TargetStatsRecord]]:
        token = ""
        while True:
            page = PageRequest(page_size=size, page_token=token)
            request = ListTargetStatsRequest(table_id=self.table_id, page=page, **fields)
            found = self.world.call("TableStatisticsService/ListTargetStats", request)
            yield list(found.records)
            token = found.page.next_page_token
            if not token:
                return

    def all(self, **fields: Any) -> list[TargetStatsRecord]:
        return [record for page in self.pages(1000, **fields) for record in page]

    def put(self, records: Sequence[TargetStatsRecord], snapshot_id: int = 1, **more: Any) -> Any:
        request = PutTargetStatsRequest(
            table_id=self.table_id, snapshot_id=snapshot_id, records=records, **more
        )
        return self.world.call("TableStatisticsService/PutTargetStats", iter([request]))

    def artifacts(self, size: int = 1000) -> list[IndexArtifactRecord]:
        token, found = "", []
        while True:
            page = PageRequest(page_size=size, page_token=token)
            request = ListIndexArtifactsRequest(table_id=self.table_id, page=page)
            answer = self.world.call("TableIndexService/ListIndexArtifacts", request)
            found += list(answer.records)
            token = answer.page.next_page_token
            if not token:
                return found

    def artifact(self, path: str) -> IndexArtifactRecord:
        request = GetIndexArtifactRequest(table_id=self.table_id, file_path=path)
        found = self.world.call("TableIndexService/GetIndexArtifact", request)
        record: IndexArtifactRecord = found.record
        return record

    def sidecar(self, path: str) -> bytes:
        request = ReadIndexArtifactRequest(table_id=self.table_id, file_path=path)
        answers = list(self.world.call("TableIndexService/ReadIndexArtifact", request))
        assert answers[0].record.target_file.file_path == path
        return b"".join(answer.data for answer in answers[1:])

    def put_artifacts(self, records: Sequence[IndexArtifactRecord], snapshot_id: int = 1) -> Any:
        request = PutIndexArtifactsRequest(
            table_id=self.table_id, snapshot_id=snapshot_id, records=records
        )
        return self.world.call("TableIndexService/PutIndexArtifacts", iter([request]))


FILES = files_of(range(10))


@pytest.fixture
def asking(capturing: Capturing) -> Asking:
    return Asking(capturing, capturing.capture(1, FILES))


def test_every_target_is_found(asking: Asking) -> None:
    assert asking.get(TABLE).table.row_count == 80
    assert asking.get(column(1)).scalar.value_count == 80
    record = asking.get(file(FILES[3].path))
    assert record.file.identity == FILES[3].identity
    assert (record.file.row_count, record.file.live_row_count) == (8, 8)
    assert record.file.file_format == "parquet"
    assert record.file.sequence_number == 7
    assert record.metadata.generation == 1
    scalar = record.file.columns[0].scalar
    present = [value for value in FILES[3].columns[1] if value is not None]
    assert (scalar.min, scalar.max) == (str(min(present)), str(max(present)))
    assert scalar.ndv.exact == len(set(present))
    for target in (column(9), file("s3://nowhere")):
        with pytest.raises(NotFoundError, match="capture it with"):
            asking.get(target)
    with pytest.raises(InvalidArgumentError):
        asking.get(StatsTarget())


def test_sketches_come_when_asked_for(asking: Asking) -> None:
    for target in (column(1), file(FILES[0].path)):
        for wanted in (True, False):
            record = asking.get(target, include_sketches=wanted)
            scalar = record.scalar if target.HasField("column") else record.file.columns[0].scalar
            assert len(scalar.sketches) == 3
            for sketch in scalar.sketches:
                assert bool(sketch.data) == wanted
                assert sketch.size_bytes > 0


def test_pages_hold_everything_once_and_in_order(asking: Asking) -> None:
    for size in (1, 3, 4, 100):
        pages = list(asking.pages(size, target_kinds=[STK_FILE]))
        assert all(len(page) == size for page in pages[:-1])
        paths = [record.target.file.file_path for page in pages for record in page]
        assert paths == [content.path for content in FILES]
    everything = asking.all()
    assert len(everything) == 13
    assert [record.WhichOneof("value") for record in everything] == [
        *["scalar"] * 2,
        *["file"] * 10,
        "table",
    ]
    assert len(asking.all(target_kinds=[STK_COLUMN])) == 2
    assert len(asking.all(target_kinds=[STK_TABLE])) == 1


def test_columns_are_chosen(asking: Asking) -> None:
    assert len(asking.all(target_kinds=[STK_COLUMN], column_ids=[2])) == 1
    for record in asking.all(target_kinds=[STK_FILE], column_ids=[2, 7]):
        assert [part.column_id for part in record.file.columns] == [2]


def test_a_token_fits_its_own_listing_only(asking: Asking) -> None:
    request = ListTargetStatsRequest(
        table_id=asking.table_id, target_kinds=[STK_FILE], page=PageRequest(page_size=2)
    )
    first = asking.world.call("TableStatisticsService/ListTargetStats", request)
    assert first.snapshot_id == 1
    request.page.page_token = first.page.next_page_token
    assert asking.world.call("TableStatisticsService/ListTargetStats", request).records
    for changed in ({"target_kinds": [STK_COLUMN]}, {"column_ids": [1]}):
        other = ListTargetStatsRequest(
            table_id=asking.table_id,
            page=request.page,
            **changed,
        )
        with pytest.raises(InvalidArgumentError, match="page_token"):
            asking.world.call("TableStatisticsService/ListTargetStats", other)


def test_at_most_one_kind_is_asked_for(asking: Asking) -> None:
    for kinds in ([STK_FILE, STK_COLUMN], [0]):
        with pytest.raises(InvalidArgumentError):
            asking.all(target_kinds=kinds)


def test_what_clients_put_wins_over_what_was_captured(asking: Asking) -> None:
    ours = TargetStatsRecord(target=TABLE, table=TableValueStats(row_count=7))
    narrow = TargetStatsRecord(target=file(FILES[2].path))
    narrow.file.identity.file_path = FILES[2].path
    narrow.file.row_count = 99
    extra = TargetStatsRecord(target=file("s3://lake/orders/0002a"))
    extra.file.identity.file_path = "s3://lake/orders/0002a"
    answer = asking.put([ours, narrow, extra])
    assert answer.records_written == 3
    assert answer.meta.version == 1
    assert asking.get(TABLE).table.row_count == 7
    assert asking.get(file(FILES[2].path)).file.row_count == 99
    listed = asking.all(target_kinds=[STK_FILE])
    paths = [record.target.file.file_path for record in listed]
    assert paths == sorted([*(content.path for content in FILES), "s3://lake/orders/0002a"])
    assert [r.file.row_count for r in listed if r.target == narrow.target] == [99]
    again = asking.put([ours], snapshot_id=1)
    assert again.meta.version == 2
    repository = StatsRepository(asking.world.stores)
    place = SnapshotPlace(asking.world.account_id, asking.table_id.id, 1)
    assert repository.count(place, STK_FILE) == 11
    assert repository.count(place) == 14


def test_what_clients_put_says_when_it_was_made(asking: Asking) -> None:
    before = asking.world.stores.clock()
    asking.put([TargetStatsRecord(target=TABLE, table=TableValueStats(row_count=7))])
    made = asking.get(TABLE).metadata.captured_at.ToDatetime(UTC)
    assert before <= made <= asking.world.stores.clock()
    told = TargetStatsRecord(target=TABLE, table=TableValueStats(row_count=7))
    told.metadata.captured_at.FromSeconds(1)
    asking.put([told])
    assert asking.get(TABLE).metadata.captured_at.seconds == 1


def test_unknown_snapshots_are_accepted_and_read_by_their_id(asking: Asking) -> None:
    ours = TargetStatsRecord(target=TABLE, table=TableValueStats(row_count=7))
    asking.put([ours], snapshot_id=77)
    ref = SnapshotRef(snapshot_id=77)
    assert asking.get(TABLE, snapshot=ref).table.row_count == 7
    assert len(asking.all(snapshot=ref)) == 1
    with pytest.raises(NotFoundError):
        asking.get(TABLE, snapshot=SnapshotRef(snapshot_id=78))
    with pytest.raises(NotFoundError):
        asking.get(TABLE, snapshot=SnapshotRef(snapshot_id=77, finalized_only=True))


def test_a_stream_under_a_key_is_written_once(asking: Asking) -> None:
    ours = TargetStatsRecord(target=TABLE, table=TableValueStats(row_count=7))
    key = IdempotencyKey(key="k")
    first = asking.put([ours], idempotency=key)
    asking.put([TargetStatsRecord(target=TABLE, table=TableValueStats(row_count=8))])
    assert asking.put([ours], idempotency=key) == first
    assert asking.get(TABLE).table.row_count == 8
    with pytest.raises(AbortedError):
        asking.put([TargetStatsRecord(target=TABLE, table=TableValueStats())], idempotency=key)
    with pytest.raises(AbortedError):
        asking.put([ours], snapshot_id=2, idempotency=key)


def test_streams_are_of_one_table_and_snapshot(asking: Asking) -> None:
    ours = TargetStatsRecord(target=TABLE, table=TableValueStats(row_count=7))
    message = PutTargetStatsRequest(table_id=asking.table_id, snapshot_id=1, records=[ours])
    other = PutTargetStatsRequest(table_id=asking.table_id, snapshot_id=2, records=[ours])
    for stream in ([message, other], [], [PutTargetStatsRequest(table_id=asking.table_id)]):
        with pytest.raises(InvalidArgumentError):
            asking.world.call("TableStatisticsService/PutTargetStats", iter(stream))
    assert asking.get(TABLE).table.row_count == 80, "nothing of it is visible"


def test_where_a_stream_ends_is_not_what_it_brings(asking: Asking) -> None:
    ours = TargetStatsRecord(target=TABLE, table=TableValueStats(row_count=7))
    message = PutTargetStatsRequest(table_id=asking.table_id, snapshot_id=1, records=[ours])
    message.idempotency.key = "k"
    call = partial(asking.world.call, "TableStatisticsService/PutTargetStats")
    first = call(iter([message]))
    message.says_last = True
    assert call(iter([message, PutTargetStatsRequest(last=True)])) == first
    message.last = True
    assert call(iter([message])) == first


def test_many_records_come_through_one_stream(asking: Asking) -> None:
    def records(start: int) -> Iterator[TargetStatsRecord]:
        for number in range(start, 5000, 2):
            made = TargetStatsRecord(target=file(f"x/{number:06}"))
            made.file.identity.file_path = f"x/{number:06}"
            made.file.row_count = start
            made.file.properties["padding"] = "x" * 500
            yield made

    for start in (0, 1, 0):
        stream = (
            PutTargetStatsRequest(table_id=asking.table_id, snapshot_id=1, records=[record])
            for record in records(start)
        )
        written = asking.world.call("TableStatisticsService/PutTargetStats", stream)
        assert written.records_written == 2500
    assert asking.get(file("x/000003")).file.row_count == 1
    paths = [
        record.target.file.file_path
        for page in asking.pages(700, target_kinds=[STK_FILE])
        for record in page
    ]
    assert paths == sorted([*(c.path for c in FILES), *(f"x/{n:06}" for n in range(5000))])


def test_a_record_that_fits_no_answer_is_refused_in_words(asking: Asking) -> None:
    large = TargetStatsRecord(target=column(5), scalar=ScalarStats())
    large.scalar.properties["x"] = "y" * (4 * 1024 * 1024)
    with pytest.raises(LimitExceededError):
        asking.put([large])


def test_failed_files_say_so_and_know_nothing(capturing: Capturing) -> None:
    capturing.failing = [FILES[1].path]
    asking = Asking(capturing, capturing.capture(1, FILES))
    record = asking.get(file(FILES[1].path))
    assert record.file.failure == "torn"
    assert not record.file.columns


def test_deleting_the_snapshot_forgets_all_of_it(asking: Asking) -> None:
    ours = TargetStatsRecord(target=TABLE, table=TableValueStats(row_count=7))
    asking.put([ours])
    request = DeleteSnapshotRequest(table_id=asking.table_id, snapshot_id=1)
    asking.world.call("SnapshotService/DeleteSnapshot", request)
    with pytest.raises(NotFoundError):
        asking.get(TABLE, snapshot=SnapshotRef(snapshot_id=1))
    assert asking.world.findings() == []


def test_a_capture_that_is_published_anew_is_seen_at_once(capturing: Capturing) -> None:
    asking = Asking(capturing, capturing.capture(1, FILES))
    assert asking.get(TABLE).table.row_count == 80
    capturing.capture(1, FILES[:4])
    assert asking.get(TABLE).table.row_count == 32
    assert len(asking.all(target_kinds=[STK_FILE])) == 4


def test_sidecars_are_listed_and_read(asking: Asking) -> None:
    listed = asking.artifacts()
    assert [record.target_file.file_path for record in listed] == [c.path for c in FILES]
    assert asking.artifacts(size=3) == listed
    record = asking.artifact(FILES[4].path)
    assert record == listed[4]
    assert record.table_id == asking.table_id
    assert record.snapshot_id == 1
    assert record.state == IAS_READY
    assert asking.sidecar(FILES[4].path) == f"page bounds of {FILES[4].path}".encode()
    with pytest.raises(NotFoundError):
        asking.artifact("s3://nowhere")


def test_a_sidecar_that_changed_is_data_loss(asking: Asking) -> None:
    path = FILES[4].path
    name = asking.artifact(path).artifact.uri.removeprefix("memory:")
    blobs = asking.world.stores.blobs
    blobs.delete(name)
    with pytest.raises(DataLossError):
        asking.sidecar(path)
    with blobs.writer(name) as writer:
        writer.write(f"PAGE bounds of {path}".encode())
    with pytest.raises(DataLossError):
        asking.sidecar(path)


def test_artifacts_that_clients_register_win_and_are_kept(
    asking: Asking, capturing: Capturing
) -> None:
    blobs, account = asking.world.stores.blobs, asking.world.account_id
    with blobs.writer(f"captures/{account}/mine/sidecar") as writer:
        writer.write(b"other bounds")
    ref = BlobReference(uri=writer.ref.uri, sha256=writer.ref.sha256, size_bytes=writer.ref.size)
    ours = IndexArtifactRecord(
        target_file=FILES[0].identity, artifact=ref, state=IAS_READY, artifact_format="mine"
    )
    failed = IndexArtifactRecord(
        target_file=FILES[1].identity, state=IAS_FAILED, failure="too many pages"
    )
    assert asking.put_artifacts([ours, failed]).records_written == 2
    assert asking.artifact(FILES[0].path).artifact_format == "mine"
    assert asking.sidecar(FILES[0].path) == b"other bounds"
    assert len(asking.artifacts()) == 10
    with pytest.raises(FailedPreconditionError, match="too many pages"):
        asking.sidecar(FILES[1].path)
    collector = GarbageCollector(asking.world.stores)
    collector.collect()
    clock: Any = asking.world.stores.clock
    clock.advance(seconds=DEFAULT_GRACE.total_seconds() + 1)
    collector.collect()
    assert asking.sidecar(FILES[0].path) == b"other bounds"


def test_artifacts_of_others_cant_be_registered(asking: Asking) -> None:
    blobs = asking.world.stores.blobs
    with blobs.writer("captures/other/x/sidecar") as writer:
        writer.write(b"theirs")
    ref = writer.ref
    missing = f"memory:captures/{asking.world.account_id}/x"
    for uri in (ref.uri, missing, "", "file:///etc/passwd"):
        record = IndexArtifactRecord(
            target_file=FILES[0].identity,
            artifact=BlobReference(uri=uri, sha256=ref.sha256, size_bytes=ref.size),
            state=IAS_READY,
        )
        with pytest.raises(InvalidArgumentError):
            asking.put_artifacts([record])
    with pytest.raises(InvalidArgumentError, match="ready"):
        asking.put_artifacts([IndexArtifactRecord(target_file=FILES[0].identity)])
    with pytest.raises(InvalidArgumentError):
        asking.put_artifacts([IndexArtifactRecord(state=IAS_FAILED)])


def test_a_store_that_lives_elsewhere_gets_every_record_before_it_is_final(
    capturing: Capturing,
) -> None:
    plane: Reconciling = capturing.plane
    elsewhere = DictStatsStore()
    stores = plane.world.stores
    plane.finalizer = SnapshotFinalizeReconcileExecutor(plane.store, stores, "t", elsewhere)
    contents: Sequence[Content] = FILES
    captured = capturing.capture(1, contents)
    assert capturing.final(captured, 1) is not None
    place = SnapshotPlace(plane.world.account_id, captured.table_id.id, 1)
    ours = list(StatsRepository(stores).list(place, StatsQuery(sketches=True)))
    assert list(elsewhere.list(place, StatsQuery(sketches=True))) == ours
    assert len(ours) == 13
