"""Cost follows what changed: files that are known are never opened again."""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyiceberg.table import Table
from pyiceberg.types import DoubleType
from tests.support.lake import Lake, connected, create_connector, mirroring, worker_of
from tests.support.runs import ended_run

import floecat
from ai.floedb.floecat.catalog.directory_pb2 import ResolveTableRequest
from ai.floedb.floecat.catalog.index_pb2 import (
    IndexArtifactRecord,
    ListIndexArtifactsRequest,
    ReadIndexArtifactRequest,
)
from ai.floedb.floecat.catalog.stats_pb2 import (
    GetTargetStatsRequest,
    ListTargetStatsRequest,
    ScalarStats,
    TargetStatsRecord,
)
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.connector.connector_pb2 import Connector
from ai.floedb.floecat.execution.capture_pb2 import (
    CAO_FILE_STATS,
    CAO_PAGE_INDEX,
    CAO_TABLE_STATS,
    DCS_EXPLICIT,
    CapturePolicy,
)
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.statistics.statistics_pb2 import (
    STK_COLUMN,
    STK_FILE,
    ColumnStatsTarget,
    StatsTarget,
    TableStatsTarget,
)
from floecat.client.names import parse_relation
from floecat.errors import InvalidArgumentError

SOAK = bool(os.environ.get("SOAK"))
FILES = 2000 if SOAK else 30
NEW = 20 if SOAK else 3
REWRITTEN = 100 if SOAK else 10
ROWS = 400
SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])


def rows(number: int) -> pa.Table:
    """A file's worth of rows that no other file has."""
    ids = np.arange(number * ROWS, (number + 1) * ROWS)
    return pa.table({"id": ids, "name": [f"name {n % 50}" for n in ids]}, SCHEMA)


class Captured:
    """A table that is written to, and captured."""

    def __init__(self, lake: Lake, clients: floecat.GrpcClients) -> None:
        self.lake = lake
        self.clients = clients
        lake.catalog.create_namespace("sales")
        self.table: Table = lake.catalog.create_table("sales.orders", SCHEMA)
        self.connector: Connector = create_connector(clients, lake)
        self.next = 0

    def append(self, files: int) -> None:
        """As many files, in one snapshot."""
        with (
            self.table.transaction() as transaction,
            transaction.update_snapshot().fast_append() as append,
        ):
            from pyiceberg.io.pyarrow import _dataframe_to_data_files

            for _ in range(files):
                for file in _dataframe_to_data_files(
                    transaction.table_metadata, rows(self.next), self.table.io
                ):
                    append.append_data_file(file)
                self.next += 1

    def capture(self, policy: CapturePolicy | None = None) -> messages.ReconcileJob:
        """Run to a good end."""
        request = messages.StartCaptureRequest(
            scope=messages.CaptureScope(connector_id=self.connector.resource_id),
            mode=messages.METADATA_AND_CAPTURE,
            capture_policy=policy,
        )
        job = ended_run(self.clients, self.clients.reconcile.StartCapture(request).job_id, 600)
        assert job.state == messages.RJS_SUCCEEDED, job
        assert not job.degraded, job
        return job

    @property
    def table_id(self) -> ResourceId:
        name = parse_relation("lake.sales.orders")
        return self.clients.directory.ResolveTable(ResolveTableRequest(name=name)).resource_id

    def column(self, column_id: int) -> ScalarStats:
        target = StatsTarget(column=ColumnStatsTarget(column_id=column_id))
        return self._get(target).scalar

    def row_count(self) -> int:
        return self._get(StatsTarget(table=TableStatsTarget())).table.row_count

    def files(self) -> list[TargetStatsRecord]:
        request = ListTargetStatsRequest(table_id=self.table_id, target_kinds=[STK_FILE])
        request.page.page_size = 1000
        found: list[TargetStatsRecord] = []
        while True:
            page = self.clients.statistics.ListTargetStats(request)
            found += page.records
            if not page.page.next_page_token:
                return found
            request.page.page_token = page.page.next_page_token

    def sidecars(self) -> dict[str, IndexArtifactRecord]:
        """The sidecars of the current snapshot, by the path of their file."""
        request = ListIndexArtifactsRequest(table_id=self.table_id)
        records = self.clients.indexes.ListIndexArtifacts(request).records
        return {record.target_file.file_path: record for record in records}

    def sidecar(self, path: str) -> pa.Table:
        """The rows of a file's sidecar."""
        request = ReadIndexArtifactRequest(table_id=self.table_id, file_path=path)
        content = b"".join(a.data for a in self.clients.indexes.ReadIndexArtifact(request))
        return pq.read_table(pa.BufferReader(content))

    def _get(self, target: StatsTarget) -> TargetStatsRecord:
        request = GetTargetStatsRequest(table_id=self.table_id, target=target)
        return self.clients.statistics.GetTargetStats(request).record

    def hide_data(self) -> Path:
        """Move every data file away: whoever opens one fails."""
        data = self.lake.folder / "data" / "sales" / "orders" / "data"
        hidden = data.with_name("hidden")
        data.rename(hidden)
        data.mkdir()
        return hidden

    def show_data(self, hidden: Path) -> None:
        data = hidden.with_name("data")
        for file in hidden.iterdir():
            shutil.move(file, data / file.name)
        hidden.rmdir()


@pytest.fixture
def captured(tmp_path: Path) -> Iterator[Captured]:
    lake = Lake(tmp_path)
    with (
        mirroring(lake, tmp_path) as service,
        connected(service) as clients,
        worker_of(service, lake, tmp_path, capture_engine="inline"),
    ):
        yield Captured(lake, clients)


def test_only_new_files_are_read(captured: Captured) -> None:
    captured.append(FILES)
    began = time.monotonic()
    first = captured.capture()
    took = time.monotonic() - began
    assert first.counters.files_completed == FILES
    hidden = captured.hide_data()
    captured.append(NEW)
    began = time.monotonic()
    second = captured.capture()
    again = time.monotonic() - began
    captured.show_data(hidden)
    print(f"{FILES} files: {took:.1f} s, {NEW} more: {again:.1f} s")
    assert (second.counters.files_completed, second.counters.files_reused) == (NEW, FILES)
    assert second.counters.bytes_read < first.counters.bytes_read / 5
    assert not SOAK or again <= took / 10
    total = (FILES + NEW) * ROWS
    assert captured.row_count() == total
    ids = captured.column(1)
    assert (ids.min, ids.max) == ("0", str(total - 1))
    assert ids.ndv.approx.estimate == pytest.approx(total, rel=0.1)
    assert captured.column(2).ndv.exact == 50
    assert len(captured.files()) == FILES + NEW


def test_another_column_is_read_alone(captured: Captured) -> None:
    captured.append(FILES)
    policy = CapturePolicy(default_scope=DCS_EXPLICIT)
    policy.columns.add(selector="id", ndv=True)
    first = captured.capture(policy)
    captured.append(1)
    policy.columns.add(selector="name", ndv=True, frequent_items=True)
    second = captured.capture(policy)
    assert second.counters.files_completed == FILES + 1
    everything = sum(file.file.identity.size_bytes for file in captured.files())
    assert second.counters.bytes_read < everything - first.counters.bytes_read / 4
    assert captured.column(1).ndv.approx.estimate == pytest.approx(captured.next * ROWS, rel=0.1)
    assert captured.column(2).ndv.exact == 50
    assert captured.column(2).frequent_items
    hidden = captured.hide_data()
    captured.append(1)
    third = captured.capture(policy)
    captured.show_data(hidden)
    assert (third.counters.files_completed, third.counters.files_reused) == (1, FILES + 1)


def _of_columns(*names: str) -> CapturePolicy:
    policy = CapturePolicy(default_scope=DCS_EXPLICIT)
    for name in names:
        policy.columns.add(selector=name, ndv=True)
    return policy


def test_the_sidecar_has_the_pages_of_every_column_whenever_it_was_read(
    captured: Captured,
) -> None:
    captured.append(2)
    captured.capture(_of_columns("id"))
    before = captured.sidecars()
    rows_before = {path: captured.sidecar(path) for path in before}
    assert [list(record.coverage.column_ids) for record in before.values()] == [[1]] * 2
    captured.append(1)
    captured.capture(_of_columns("id", "name"))
    after = captured.sidecars()
    assert len(after) == 3
    for path, record in after.items():
        assert list(record.coverage.column_ids) == [1, 2]
        table = captured.sidecar(path)
        assert set(table.column("column_id").to_pylist()) == {1, 2}
        if path in before:
            kept = table.filter(pc.equal(table.column("column_id"), 1))
            assert kept.equals(rows_before[path])
            assert record.artifact.uri != before[path].artifact.uri


def test_a_sidecar_that_cant_be_read_keeps_no_column_from_being_captured(
    captured: Captured,
) -> None:
    captured.append(2)
    captured.capture(_of_columns("id"))
    torn, gone = captured.sidecars().values()
    for record in (torn, gone):
        Path(record.artifact.uri.removeprefix("file://")).unlink()
    Path(torn.artifact.uri.removeprefix("file://")).write_bytes(b"torn")
    captured.append(1)
    captured.capture(_of_columns("id", "name"))
    assert captured.column(2).ndv.exact == 50
    known = [list(record.coverage.column_ids) for record in captured.sidecars().values()]
    assert sorted(known) == [[1, 2], [2], [2]]
    for path in captured.sidecars():
        assert 2 in captured.sidecar(path).column("column_id").to_pylist()


def test_after_dropping_files_none_is_read_and_less_is_known(captured: Captured) -> None:
    captured.append(FILES)
    captured.capture()
    hidden = captured.hide_data()
    gone = FILES // 2
    captured.table.delete(f"id < {gone * ROWS}")
    second = captured.capture()
    captured.show_data(hidden)
    assert (second.counters.files_completed, second.counters.files_reused) == (0, FILES - gone)
    left = (FILES - gone) * ROWS
    assert captured.row_count() == left
    ids = captured.column(1)
    assert ids.min == str(gone * ROWS)
    assert ids.ndv.approx.estimate == pytest.approx(left, rel=0.1)


def test_after_a_compaction_only_what_is_new_is_read(captured: Captured) -> None:
    captured.append(FILES)
    captured.capture()
    # The first files become one.
    together = pa.concat_tables([rows(number) for number in range(REWRITTEN)])
    captured.table.overwrite(together, overwrite_filter=f"id < {REWRITTEN * ROWS}")
    second = captured.capture()
    assert second.counters.files_completed == 1
    assert second.counters.files_reused == FILES - REWRITTEN
    assert captured.row_count() == FILES * ROWS
    assert captured.column(1).ndv.approx.estimate == pytest.approx(FILES * ROWS, rel=0.1)


def test_an_old_snapshot_is_captured_from_what_is_known(captured: Captured) -> None:
    captured.append(5)
    captured.append(5)
    captured.capture()
    hidden = captured.hide_data()
    selection = messages.SnapshotSelection(all=True)
    request = messages.StartCaptureRequest(
        scope=messages.CaptureScope(
            connector_id=captured.connector.resource_id, snapshots=selection
        ),
        mode=messages.METADATA_AND_CAPTURE,
    )
    job = ended_run(captured.clients, captured.clients.reconcile.StartCapture(request).job_id)
    captured.show_data(hidden)
    assert job.state == messages.RJS_SUCCEEDED, job
    assert not job.degraded, job


def test_files_that_may_fail_are_unknown(captured: Captured) -> None:
    captured.append(4)
    data = captured.lake.folder / "data" / "sales" / "orders" / "data"
    broken = min(data.iterdir())
    content = broken.read_bytes()
    broken.write_bytes(content[:-4] + b"XXXX")
    job = captured.capture(CapturePolicy(allow_failed_files=True))
    assert (job.counters.files_completed, job.counters.files_failed) == (3, 1)
    failed = [record for record in captured.files() if record.file.failure]
    assert [record.file.identity.file_path.endswith(broken.name) for record in failed] == [True]
    assert "can't be read as parquet" in failed[0].file.failure
    broken.write_bytes(content)
    captured.append(1)
    again = captured.capture(CapturePolicy(allow_failed_files=True))
    assert (again.counters.files_completed, again.counters.files_reused) == (2, 3)
    assert not any(record.file.failure for record in captured.files())


def test_a_narrower_capture_takes_nothing_away(captured: Captured) -> None:
    captured.append(3)
    captured.capture()
    captured.append(1)
    index = CapturePolicy(outputs=[CAO_PAGE_INDEX])
    second = captured.capture(index)
    assert (second.counters.files_completed, second.counters.files_reused) == (1, 3)
    assert captured.row_count() == 4 * ROWS
    ids = captured.column(1)
    assert (ids.min, ids.max, ids.value_count) == ("0", str(4 * ROWS - 1), 4 * ROWS)
    captured.append(1)
    third = captured.capture()  # everything of the new file, and what the second left out
    assert (third.counters.files_completed, third.counters.files_reused) == (2, 3)
    assert captured.column(1).ndv.exact == 5 * ROWS
    captured.append(1)
    fourth = captured.capture(index)
    assert (fourth.counters.files_completed, fourth.counters.files_reused) == (1, 5)


def test_a_column_of_another_type_is_read_again(captured: Captured) -> None:
    schema = pa.schema([("f", pa.float32())])
    table = captured.lake.catalog.create_table("sales.floats", schema)
    table.append(pa.table({"f": [0.1, 0.3]}, schema))
    footers = CapturePolicy(outputs=[CAO_TABLE_STATS, CAO_FILE_STATS])
    captured.capture(footers)
    with table.update_schema() as update:
        update.update_column("f", DoubleType())
    table.append(pa.table({"f": pa.array([0.2], pa.float64())}))
    captured.capture(footers)
    name = parse_relation("lake.sales.floats")
    found = captured.clients.directory.ResolveTable(ResolveTableRequest(name=name)).resource_id
    target = StatsTarget(column=ColumnStatsTarget(column_id=1))
    request = GetTargetStatsRequest(table_id=found, target=target)
    stats = captured.clients.statistics.GetTargetStats(request).record.scalar
    assert (stats.min, stats.max) == ("0.10000000149011612", "0.30000001192092896")


@pytest.mark.parametrize("share", [0.0, -1.0, 2.0, float("nan")])
def test_a_share_that_is_none_is_refused(captured: Captured, share: float) -> None:
    policy = CapturePolicy()
    policy.sampling.row_group_fraction = share
    with pytest.raises(InvalidArgumentError, match="above 0 and at most 1"):
        captured.capture(policy)


def _called(captured: Captured) -> tuple[list[str], list[list[str]]]:
    """The names of columns, in the records of columns and in those of files."""
    request = ListTargetStatsRequest(table_id=captured.table_id, target_kinds=[STK_COLUMN])
    records = captured.clients.statistics.ListTargetStats(request).records
    return (
        [record.scalar.display_name for record in records],
        [[column.scalar.display_name for column in f.file.columns] for f in captured.files()],
    )


def test_a_dropped_column_is_gone(captured: Captured) -> None:
    captured.append(2)
    captured.capture()
    with captured.table.update_schema() as update:
        update.delete_column("name")
    captured.table.append(rows(9).drop_columns("name"))
    captured.capture()
    assert _called(captured) == (["id"], [["id"]] * 3)


def test_a_renamed_column_has_its_new_name_in_files_that_arent_read_again(
    captured: Captured,
) -> None:
    captured.append(2)
    captured.capture()
    with captured.table.update_schema() as update:
        update.rename_column("name", "called")
    captured.table.append(rows(9).rename_columns(["id", "called"]))
    second = captured.capture()
    assert (second.counters.files_completed, second.counters.files_reused) == (1, 2)
    assert _called(captured) == (["id", "called"], [["id", "called"]] * 3)
    first = captured.table.snapshots()[0].snapshot_id
    request = ListTargetStatsRequest(table_id=captured.table_id, target_kinds=[STK_FILE])
    request.snapshot.snapshot_id = first
    old = captured.clients.statistics.ListTargetStats(request).records
    assert [[c.scalar.display_name for c in f.file.columns] for f in old] == [["id", "name"]] * 2
