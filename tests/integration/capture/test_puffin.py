"""Iceberg's own `compute_table_stats` left sketches: ours of the same values are the same.

And where we have none, theirs are told.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.connectors import open_connector
from tests.support.lake import connected, mirroring, worker_of
from tests.support.lakehouse import iceberg_root, iceberg_truth
from tests.support.runs import ended_run

import floecat
from ai.floedb.floecat.catalog.directory_pb2 import ResolveTableRequest
from ai.floedb.floecat.catalog.stats_pb2 import (
    NM_EXACT,
    NM_PUFFIN,
    NM_THETA,
    SR_NDV,
    FileIdentity,
    ListTargetStatsRequest,
    TargetStatsRecord,
)
from ai.floedb.floecat.connector import connector_pb2
from ai.floedb.floecat.execution.capture_pb2 import (
    CAO_FILE_STATS,
    CAO_TABLE_STATS,
    DCS_EXPLICIT,
    CapturePolicy,
    PlannedFile,
)
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.statistics.statistics_pb2 import STK_COLUMN
from floecat.capture.files import capture_file
from floecat.capture.policies import file_policy
from floecat.client.names import parse_relation
from floecat.connectors.spi.columns import ColumnScope
from floecat.sketches.theta import ThetaSketch

TABLE = iceberg_truth()["warehouse"]["tables"]["statistics.theta"]


@pytest.mark.parametrize("column_id", [1, 2, 3, 4], ids=["long", "string", "date", "decimal"])
def test_sketches_of_the_same_values_are_the_same(column_id: int) -> None:
    root = iceberg_root()
    statistics = max(TABLE["statistics_files"], key=lambda file: len(file["blobs"]))
    snapshot_id = int(statistics["snapshot_id"])
    everything = ColumnScope((), {})
    with open_connector("iceberg-filesystem", f"file:{root}/warehouse", roots=[root]) as connector:
        at = (("statistics",), "theta", snapshot_id)
        records = list(connector.capture_snapshot_target_stats(*at, everything))
        bundle = connector.plan_snapshot_files(*at)
        access = connector.file_access(("statistics",), "theta")
        policy = file_policy(CapturePolicy(), everything.selected(bundle.columns))
        rows = []
        for file in bundle.data_files:
            identity = FileIdentity(file_path=file.file_path, size_bytes=file.file_size_bytes)
            found = capture_file(access, PlannedFile(file=file, identity=identity), policy)
            rows.append(found.rows[column_id])
    [theirs] = [
        sketch.data
        for record in records
        if record.target.column.column_id == column_id
        for sketch in record.scalar.sketches
        if sketch.role == SR_NDV
    ]
    ours = ThetaSketch.union(ThetaSketch.from_bytes(row.theta or b"") for row in rows)
    other = ThetaSketch.from_bytes(theirs)
    assert ours.estimate == other.estimate > 0
    assert list(ours.hashes) == list(other.hashes)


class Warehouse:
    """The warehouse that Iceberg wrote, as an upstream."""

    def __init__(self) -> None:
        self.folder = iceberg_root()


STATISTICS = {int(file["snapshot_id"]): file for file in TABLE["statistics_files"]}
FULL = max(STATISTICS, key=lambda snapshot: len(STATISTICS[snapshot]["blobs"]))
"""The snapshot whose statistics are of all four columns."""
HALF = min(STATISTICS, key=lambda snapshot: len(STATISTICS[snapshot]["blobs"]))
"""And the one with those of two."""


class Captured:
    """The table, captured one snapshot and policy after another."""

    def __init__(self, clients: floecat.GrpcClients) -> None:
        self.clients = clients
        spec = connector_pb2.ConnectorSpec(
            display_name="theirs",
            kind_name="iceberg-filesystem",
            uri=f"file:{iceberg_root()}/warehouse",
            destination=connector_pb2.DestinationTarget(catalog_display_name="theirs"),
        )
        request = connector_pb2.CreateConnectorRequest(spec=spec)
        self.connector = clients.connectors.CreateConnector(request).connector

    def capture(self, snapshot_id: int, policy: CapturePolicy) -> dict[int, TargetStatsRecord]:
        """What is known of the columns after a capture, by their id."""
        scope = messages.CaptureScope(connector_id=self.connector.resource_id)
        scope.snapshots.ids.snapshot_ids.append(snapshot_id)
        scope.tables.add(name="theta").namespace.segments.append("statistics")
        started = self.clients.reconcile.StartCapture(
            messages.StartCaptureRequest(
                scope=scope,
                mode=messages.METADATA_AND_CAPTURE,
                capture_policy=policy,
                full_rescan=True,
            )
        )
        job = ended_run(self.clients, started.job_id)
        assert job.state == messages.RJS_SUCCEEDED, job
        assert not job.degraded, job
        name = parse_relation("theirs.statistics.theta")
        found = self.clients.directory.ResolveTable(ResolveTableRequest(name=name)).resource_id
        request = ListTargetStatsRequest(table_id=found, target_kinds=[STK_COLUMN])
        request.snapshot.snapshot_id = snapshot_id
        records = self.clients.statistics.ListTargetStats(request).records
        return {record.target.column.column_id: record for record in records}


@pytest.fixture(params=["inline", "native"])
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def captured(engine: str, tmp_path: Path) -> Iterator[Captured]:
    lake = Warehouse()
    with (
        mirroring(lake, tmp_path) as service,
        connected(service) as clients,
        worker_of(service, lake, tmp_path, capture_engine=engine),
    ):
        yield Captured(clients)


FOOTERS = CapturePolicy(outputs=[CAO_TABLE_STATS, CAO_FILE_STATS])


def assert_theirs(record: TargetStatsRecord, snapshot_id: int) -> None:
    """The number that Iceberg states, between the bounds of its sketch."""
    column_id = record.target.column.column_id
    [stated] = [
        float(blob["properties"]["ndv"])
        for blob in STATISTICS[snapshot_id]["blobs"]
        if blob["fields"] == [column_id]
    ]
    ndv = record.scalar.ndv
    assert ndv.method == NM_PUFFIN
    assert ndv.approx.lower_bound <= ndv.approx.estimate == stated <= ndv.approx.upper_bound


def test_without_a_number_of_our_own_theirs_is_told(captured: Captured, engine: str) -> None:
    footers = captured.capture(FULL, FOOTERS)
    assert len(footers) == 4
    for record in footers.values():
        assert_theirs(record, FULL)
        assert record.scalar.value_count == 500
        assert record.scalar.display_name in {"id", "colour", "day", "price"}
    ours = captured.capture(FULL, CapturePolicy())
    for column_id, record in ours.items():
        if engine == "native":
            assert_theirs(record, FULL)
            continue
        assert record.scalar.ndv.method in {NM_EXACT, NM_THETA}
        assert record.scalar.ndv.exact == footers[column_id].scalar.ndv.approx.estimate


def test_columns_that_nobody_looked_at(captured: Captured, engine: str) -> None:
    policy = CapturePolicy(default_scope=DCS_EXPLICIT)
    policy.columns.add(selector="colour", ndv=True)
    records = captured.capture(HALF, policy)
    assert set(records) == {1, 2}, "the others have no statistics upstream"
    alone = records[1]
    assert_theirs(alone, HALF)
    assert (alone.scalar.display_name, alone.scalar.HasField("value_count")) == ("id", False)
    assert alone.scalar.logical_type.kind
    assert alone.metadata.coverage.rows_seen == 0
    assert alone.metadata.coverage.rows_total == 600
    if engine == "inline":
        assert (records[2].scalar.ndv.method, records[2].scalar.ndv.exact) == (NM_EXACT, 10)
    else:
        assert_theirs(records[2], HALF)


def test_statistics_of_another_snapshot_are_of_another(captured: Captured) -> None:
    current = int(TABLE["current_snapshot_id"])
    records = captured.capture(current, FOOTERS)
    assert len(records) == 4
    assert not any(record.scalar.HasField("ndv") for record in records.values())
