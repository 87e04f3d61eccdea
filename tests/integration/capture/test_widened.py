"""Columns that were widened: a sidecar never has bounds that mean something else by now."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.lake import (
    DeltaLake,
    capture_now,
    connected,
    create_connector,
    mirroring,
    worker_of,
)
from tests.support.lakehouse import delta_root

import floecat
from ai.floedb.floecat.catalog.directory_pb2 import ResolveTableRequest
from ai.floedb.floecat.catalog.index_pb2 import ListIndexArtifactsRequest, ReadIndexArtifactRequest
from ai.floedb.floecat.catalog.stats_pb2 import ListTargetStatsRequest
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.connector.connector_pb2 import Connector
from ai.floedb.floecat.execution.capture_pb2 import (
    CAO_COLUMN_STATS,
    CAO_PAGE_INDEX,
    CAO_TABLE_STATS,
    DCS_EXPLICIT,
    CapturePolicy,
    ColumnCapturePolicy,
)
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.reconciler_pb2 import SnapshotIds, SnapshotSelection
from ai.floedb.floecat.statistics.statistics_pb2 import STK_COLUMN
from floecat.client.names import parse_relation

NARROW = 1
"""The version with one file, before its columns were widened."""
NARROW_BOUNDS = {
    "id": 1,
    "t": 127,
    "i": 2147483647,
    "f": 1.100000023841858,
    "d": 123456789,
    "day": 19782,
    "s.n": 32767,
}
WIDE_BOUNDS = NARROW_BOUNDS | {"d": 12345678900, "day": 19782 * 86_400_000_000}
POLICIES = {
    "everything": CapturePolicy(),
    "pages of one column": CapturePolicy(
        outputs=[CAO_PAGE_INDEX],
        default_scope=DCS_EXPLICIT,
        columns=[ColumnCapturePolicy(selector="id")],
    ),
    "no pages": CapturePolicy(outputs=[CAO_TABLE_STATS, CAO_COLUMN_STATS]),
    "neither": CapturePolicy(
        outputs=[CAO_TABLE_STATS],
        default_scope=DCS_EXPLICIT,
        columns=[ColumnCapturePolicy(selector="id")],
    ),
}


class Widened:
    """A table whose columns were widened, captured a version at a time."""

    def __init__(self, clients: floecat.GrpcClients, connector: Connector) -> None:
        self._clients = clients
        self._connector = connector

    def capture(
        self, selection: SnapshotSelection, policy: CapturePolicy
    ) -> messages.ReconcileCounters:
        scope = messages.CaptureScope(connector_id=self._connector.resource_id, snapshots=selection)
        request = messages.CaptureNowRequest(
            scope=scope,
            mode=messages.METADATA_AND_CAPTURE,
            capture_policy=policy,
            full_rescan=True,
        )
        job = capture_now(self._clients, request)
        assert job.state == messages.RJS_SUCCEEDED, job
        assert not job.degraded, job
        return job.counters

    @property
    def table_id(self) -> ResourceId:
        name = parse_relation("lake.sales.orders")
        return self._clients.directory.ResolveTable(ResolveTableRequest(name=name)).resource_id

    def names(self) -> dict[int, str]:
        request = ListTargetStatsRequest(table_id=self.table_id, target_kinds=[STK_COLUMN])
        request.snapshot.snapshot_id = NARROW
        records = self._clients.statistics.ListTargetStats(request).records
        return {r.target.column.column_id: r.scalar.display_name for r in records}

    def paths(self, version: int) -> list[str]:
        request = ListIndexArtifactsRequest(table_id=self.table_id)
        request.snapshot.snapshot_id = version
        records = self._clients.indexes.ListIndexArtifacts(request).records
        return [record.target_file.file_path for record in records]

    def sidecar(self, version: int, path: str) -> pa.Table:
        request = ReadIndexArtifactRequest(table_id=self.table_id, file_path=path)
        request.snapshot.snapshot_id = version
        answers = self._clients.indexes.ReadIndexArtifact(request)
        return pq.read_table(pa.BufferReader(b"".join(a.data for a in answers)))

    def bounds(self, version: int, path: str) -> dict[str, Any]:
        """The least value of every column's row group, by the column's name."""
        names = self.names()
        return {
            names[row["column_id"]]: row["min_int"]
            if row["min_int"] is not None
            else row["min_float"]
            for row in self.sidecar(version, path).to_pylist()
            if row["row_group"] is not None and row["page"] is None
        }


@pytest.fixture
def widened(tmp_path: Path) -> Iterator[Widened]:
    lake = DeltaLake(tmp_path)
    shutil.copytree(delta_root() / "widened", lake.folder / "sales" / "orders")
    with (
        mirroring(lake, tmp_path) as service,
        connected(service) as clients,
        worker_of(service, lake, tmp_path, capture_engine="inline"),
    ):
        yield Widened(clients, create_connector(clients, lake))


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_bounds_are_of_the_type_that_the_column_has(
    widened: Widened, policy: CapturePolicy
) -> None:
    narrow = SnapshotSelection(ids=SnapshotIds(snapshot_ids=[NARROW]))
    widened.capture(narrow, CapturePolicy())
    [path] = widened.paths(NARROW)
    assert widened.bounds(NARROW, path) == NARROW_BOUNDS
    current = SnapshotSelection(current=True)
    widened.capture(current, policy)
    assert widened.bounds(8, path) == WIDE_BOUNDS
    assert widened.bounds(NARROW, path) == NARROW_BOUNDS, "the older snapshot keeps its own"
    again = widened.capture(current, policy)
    assert (again.files_completed, again.files_reused) == (0, 2), "read once, and known then"
