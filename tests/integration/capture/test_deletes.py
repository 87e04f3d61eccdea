"""Live rows under position deletes are what a reader sees; each delete file is read once."""

import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.manifest import FileFormat
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.typedef import Record
from pyiceberg.types import IntegerType, LongType, NestedField
from tests.support.aftermath import inconsistencies
from tests.support.counting import opened_files
from tests.support.iceberg import tables
from tests.support.iceberg_deletes import delete_positions, delete_rows
from tests.support.lake import Lake, connected, create_connector, mirroring, worker_of
from tests.support.lakehouse import iceberg_root
from tests.support.runs import EVERYTHING, ended_run

import floecat
from ai.floedb.floecat.catalog.directory_pb2 import ResolveTableRequest
from ai.floedb.floecat.catalog.stats_pb2 import (
    GetTargetStatsRequest,
    ListTargetStatsRequest,
    TableValueStats,
)
from ai.floedb.floecat.common.common_pb2 import SnapshotRef
from ai.floedb.floecat.connector import connector_pb2
from ai.floedb.floecat.execution.capture_pb2 import (
    CAO_FILE_STATS,
    CAO_TABLE_STATS,
    CapturePolicy,
)
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.statistics.statistics_pb2 import STK_FILE, StatsTarget, TableStatsTarget
from floecat.client.names import parse_relation

ROWS = 100
FILES = 4
FOOTERS = CapturePolicy(outputs=[CAO_TABLE_STATS, CAO_FILE_STATS])
SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=False),
    NestedField(2, "part", IntegerType(), required=False),
)
BY_PART = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "part"))


def rows(number: int) -> pa.Table:
    ids = pa.array(range(number * ROWS, (number + 1) * ROWS), pa.int64())
    return pa.table({"id": ids, "part": pa.array([number % 2] * ROWS, pa.int32())})


class Orders:
    """A table of two partitions that rows are deleted from, and captured."""

    def __init__(self, lake: Lake, clients: floecat.GrpcClients) -> None:
        self.lake = lake
        self.clients = clients
        lake.catalog.create_namespace("sales")
        self.table: Table = lake.catalog.create_table("sales.orders", SCHEMA, None, BY_PART)
        self.connector = create_connector(clients, lake)
        for number in range(FILES):
            self.table.append(rows(number))

    def paths(self, part: int) -> list[str]:
        """The data files of a partition, the oldest first."""
        tasks = self.table.inspect.entries().sort_by("sequence_number").to_pylist()
        files = [task["data_file"] for task in tasks if task["status"] != 2]
        return [
            file["file_path"]
            for file in files
            if file["content"] == 0 and file["partition"] == {"part": part}
        ]

    def delete(self, part: int, deleted: list[tuple[str, int]]) -> str:
        """Delete rows of a partition's files, whatever order they are listed in."""
        return delete_rows(self.table, deleted, Record(part))

    def delete_of(self, path: str, part: int, positions: list[int]) -> str:
        """Delete rows of one file."""
        return delete_positions(self.table, path, Record(part), positions)

    def seen(self) -> int:
        """Rows that pyiceberg reads."""
        return len(self.lake.catalog.load_table("sales.orders").scan().to_arrow())

    def capture(self, policy: CapturePolicy | None = None) -> messages.ReconcileJob:
        request = messages.StartCaptureRequest(
            scope=messages.CaptureScope(connector_id=self.connector.resource_id),
            mode=messages.METADATA_AND_CAPTURE,
            capture_policy=policy,
            full_rescan=True,
        )
        job = ended_run(self.clients, self.clients.reconcile.StartCapture(request).job_id)
        assert job.state == messages.RJS_SUCCEEDED, job
        assert not job.degraded, job
        return job

    def told(self) -> TableValueStats:
        return table_stats(self.clients, "lake.sales.orders")

    def live(self) -> dict[str, int | None]:
        """What is told of each file."""
        name = parse_relation("lake.sales.orders")
        found = self.clients.directory.ResolveTable(ResolveTableRequest(name=name)).resource_id
        request = ListTargetStatsRequest(table_id=found, target_kinds=[STK_FILE])
        return {
            record.file.identity.file_path: record.file.live_row_count
            if record.file.HasField("live_row_count")
            else None
            for record in self.clients.statistics.ListTargetStats(request).records
        }

    def assert_exact(self) -> None:
        """What is told is what is seen, of the table and of every file."""
        value = self.told()
        assert (value.live_row_count, value.live_row_count_exact) == (self.seen(), True)
        live = self.live()
        assert sum(count for count in live.values() if count is not None) == self.seen()


def table_stats(
    clients: floecat.GrpcClients, name: str, snapshot_id: int | None = None
) -> TableValueStats:
    request = ResolveTableRequest(name=parse_relation(name))
    table_id = clients.directory.ResolveTable(request).resource_id
    snapshot = None if snapshot_id is None else SnapshotRef(snapshot_id=snapshot_id)
    target = StatsTarget(table=TableStatsTarget())
    asked = GetTargetStatsRequest(table_id=table_id, target=target, snapshot=snapshot)
    return clients.statistics.GetTargetStats(asked).record.table


@pytest.fixture
def engine() -> str:
    return "inline"


@pytest.fixture
def orders(tmp_path: Path, engine: str) -> Iterator[Orders]:
    lake = Lake(tmp_path)
    with (
        mirroring(lake, tmp_path) as service,
        connected(service) as clients,
        worker_of(service, lake, tmp_path, capture_engine=engine),
    ):
        yield Orders(lake, clients)


def deletes_in(opened: list[str]) -> list[str]:
    return sorted(path for path in opened if path.endswith("-deletes.parquet"))


def test_deletes_that_overlap_repeat_and_miss_are_counted_once(orders: Orders) -> None:
    first, second = orders.paths(0)
    orders.delete_of(first, 0, [1, 2, 3, 50])
    orders.delete(0, [(second, 7), (first, 50), (first, 2), (first, 2), (second, 8), (first, 99)])
    orders.delete(0, [("file:///gone.parquet", 1), (second, 8), (second, ROWS), (second, 10**9)])
    job = orders.capture()
    assert orders.seen() == FILES * ROWS - 5 - 2
    orders.assert_exact()
    assert {path: orders.live()[path] for path in (first, second)} == {
        first: ROWS - 5,
        second: ROWS - 2,
    }
    counters = job.counters
    assert (counters.files_total, counters.files_completed, counters.files_failed) == (4, 4, 0)
    assert counters.rows_processed == FILES * ROWS


def test_whatever_is_deleted_is_what_a_reader_misses(orders: Orders) -> None:
    chooser = random.Random(3)
    for _ in range(3):
        for part in (0, 1):
            files = orders.paths(part)
            named = [
                (chooser.choice(files), chooser.randrange(ROWS))
                for _ in range(chooser.randrange(1, 60))
            ]
            orders.delete(part, named)
            orders.delete_of(chooser.choice(files), part, chooser.sample(range(ROWS), 9))
        orders.table.append(rows(chooser.randrange(20)))
        orders.capture()
        orders.assert_exact()


def test_each_delete_file_is_read_once(orders: Orders, tmp_path: Path) -> None:
    first, second = orders.paths(1)
    one = orders.delete_of(first, 1, [0, 1])
    with opened_files() as opened:
        orders.capture()
    assert deletes_in(opened) == [one]
    assert len(opened) == FILES + 1
    orders.assert_exact()
    with opened_files() as opened:
        same = orders.capture()
    assert opened == []
    assert (same.counters.files_completed, same.counters.files_reused) == (0, FILES)
    assert same.counters.bytes_read == 0
    orders.assert_exact()
    two = orders.delete(1, [(first, 1), (first, 5), (second, 1)])
    with opened_files() as opened:
        third = orders.capture()
    assert opened == [two]
    assert (third.counters.files_completed, third.counters.files_reused) == (0, FILES)
    assert third.counters.bytes_read > 0
    orders.assert_exact()
    orders.table.append(rows(9))
    with opened_files() as opened:
        orders.capture()
    assert len(opened) == 1
    assert deletes_in(opened) == []
    orders.assert_exact()
    assert not inconsistencies(tmp_path)


def test_footers_are_enough_for_files_and_positions_are_read_all_the_same(orders: Orders) -> None:
    first, _ = orders.paths(0)
    deleted = orders.delete_of(first, 0, [3])
    with opened_files() as opened:
        orders.capture(FOOTERS)
    assert deletes_in(opened) == [deleted]
    orders.assert_exact()


def test_deletes_of_files_that_are_gone_arent_read(orders: Orders) -> None:
    first, second = orders.paths(0)
    gone = orders.delete_of(first, 0, [3])
    orders.table.delete("part = 0 and id < 100")
    assert first not in orders.paths(0)
    orders.delete(0, [(second, 1), (first, 2)])
    with opened_files() as opened:
        orders.capture()
    assert gone not in opened
    orders.assert_exact()


@pytest.mark.parametrize("engine", ["native"])
def test_without_reading_files_there_is_an_estimate(orders: Orders, engine: str) -> None:
    first, _ = orders.paths(0)
    orders.delete_of(first, 0, [3, 3, 4])
    with opened_files() as opened:
        job = orders.capture()
    assert opened == []
    assert job.counters.files_completed == FILES
    value = orders.told()
    assert value.live_row_count == FILES * ROWS - 3
    assert not value.live_row_count_exact
    assert orders.live()[first] is None


def test_deletes_that_arent_parquet_stay_an_estimate(orders: Orders) -> None:
    first, second = orders.paths(0)
    orders.delete_of(second, 0, [1, 1, 2])
    listed = [(first, 3), (first, 3)]
    path = delete_rows(orders.table, listed, Record(0), file_format=FileFormat.ORC)
    with opened_files() as opened:
        orders.capture()
    assert path not in opened
    value = orders.told()
    assert value.live_row_count == FILES * ROWS - 2 - 2
    assert not value.live_row_count_exact
    live = orders.live()
    assert (live[first], live[second]) == (None, None), "the other one speaks of the partition"


def test_a_damaged_delete_file_fails_unless_it_may(orders: Orders) -> None:
    first, second = orders.paths(0)
    orders.delete_of(second, 0, [1])
    path = orders.delete_of(first, 0, [3, 4])
    place = Path(path.removeprefix("file://"))
    content = place.read_bytes()
    place.write_bytes(content[:-4] + b"XXXX")
    request = messages.StartCaptureRequest(
        scope=messages.CaptureScope(connector_id=orders.connector.resource_id),
        mode=messages.METADATA_AND_CAPTURE,
    )
    started = orders.clients.reconcile.StartCapture(request).job_id
    failed = ended_run(orders.clients, started)
    assert failed.state == messages.RJS_FAILED or failed.degraded
    assert any("can't be read as parquet" in failure.message for failure in failed.failures)
    allowed = CapturePolicy(allow_failed_files=True)
    orders.capture(allowed)
    value = orders.told()
    assert (value.live_row_count, value.live_row_count_exact) == (FILES * ROWS - 3, False)
    assert orders.live()[first] is None
    assert orders.live()[second] == ROWS - 1
    place.write_bytes(content)
    with opened_files() as opened:
        orders.capture(allowed)
    assert opened == [path], "what couldn't be read is tried again"
    orders.assert_exact()


def test_paths_are_compared_as_the_table_writes_them(orders: Orders) -> None:
    """Readers do so too: a delete of a path that is written otherwise takes nothing away."""
    first, second = orders.paths(0)
    assert first.startswith("file:///")
    otherwise = first.replace("file:///", "file:/")
    orders.delete(0, [(otherwise, 1), (first, 2), (second.removeprefix("file://"), 3)])
    assert orders.seen() == FILES * ROWS - 1
    orders.capture()
    orders.assert_exact()
    assert orders.live()[first] == ROWS - 1


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[floecat.GrpcClients]:
    """The tables that Spark deleted rows from, every snapshot of them captured."""
    root = iceberg_root()
    lake = Lake(tmp_path)
    roots = f"{lake.folder},{root}"
    with (
        mirroring(lake, tmp_path, outbound_file_roots=roots) as service,
        connected(service) as clients,
        worker_of(service, lake, tmp_path, capture_engine="inline", outbound_file_roots=roots),
    ):
        spec = connector_pb2.ConnectorSpec(
            display_name="spark",
            kind_name="iceberg-filesystem",
            uri=f"file:{root}/warehouse",
            destination=connector_pb2.DestinationTarget(catalog_display_name="lake"),
        )
        created = clients.connectors.CreateConnector(
            connector_pb2.CreateConnectorRequest(spec=spec)
        ).connector
        scope = messages.CaptureScope(
            connector_id=created.resource_id,
            namespaces=[messages.NamespacePath(segments=["deletes"])],
            snapshots=EVERYTHING,
        )
        request = messages.StartCaptureRequest(
            scope=scope, mode=messages.METADATA_AND_CAPTURE, full_rescan=True
        )
        job = ended_run(clients, clients.reconcile.StartCapture(request).job_id)
        assert job.state == messages.RJS_SUCCEEDED, job
        assert not job.degraded, job
        yield clients


def test_live_rows_are_those_that_spark_reads(warehouse: floecat.GrpcClients) -> None:
    checked = estimates = 0
    for path, truth in tables().items():
        if not path.startswith("deletes."):
            continue
        for snapshot_id, count in truth["counts"].items():
            value = table_stats(warehouse, f"lake.{path}", int(snapshot_id))
            has_equality = any(f["content"] == 2 for f in truth["files"][snapshot_id])
            assert value.live_row_count_exact != has_equality, (path, snapshot_id)
            if value.live_row_count_exact:
                assert value.live_row_count == count, (path, snapshot_id)
                checked += 1
            estimates += has_equality
    assert checked >= 18
    assert estimates >= 4
