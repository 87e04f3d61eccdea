"""TPC-H in an Iceberg catalog and in Delta tables, through the service, beside DuckDB.

A hundredth of the usual size, unless SOAK asks for all of it.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from tests.support.captures import assert_equals, truths
from tests.support.lake import Lake, connected, create_connector, mirroring, worker_of
from tests.support.runs import ended_run
from tests.support.tpch import TABLES, make_tpch, read_parts

import floecat
from ai.floedb.floecat.catalog.directory_pb2 import ResolveTableRequest
from ai.floedb.floecat.catalog.stats_pb2 import (
    ListTargetStatsRequest,
    ScalarStats,
    TargetStatsRecord,
)
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.connector import connector_pb2 as connectors
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.statistics.statistics_pb2 import (
    STK_COLUMN,
    STK_FILE,
    STK_TABLE,
    StatsTargetKind,
)
from floecat.client.names import parse_relation
from floecat.types.messages import from_message

SCALE = 1.0 if os.environ.get("SOAK") else 0.01
PARTS = 3
LAKES = ("lake", "deltas")

pytestmark = pytest.mark.slow


class Captured:
    """Both lakes as the service knows them."""

    def __init__(self, clients: floecat.GrpcClients) -> None:
        self._clients = clients

    def records(
        self, lake: str, table: str, kind: "StatsTargetKind.ValueType"
    ) -> list[TargetStatsRecord]:
        """Every record of one kind."""
        request = ListTargetStatsRequest(table_id=self._id(lake, table), target_kinds=[kind])
        found: list[TargetStatsRecord] = []
        while True:
            answer = self._clients.statistics.ListTargetStats(request)
            found += answer.records
            if not answer.page.next_page_token:
                return found
            request.page.page_token = answer.page.next_page_token

    def _id(self, lake: str, table: str) -> ResourceId:
        request = ResolveTableRequest(name=parse_relation(f"{lake}.sales.{table}"))
        return self._clients.directory.ResolveTable(request).resource_id


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Captured]:
    folder = tmp_path_factory.mktemp("lakes")
    tpch = make_tpch(folder / "tpch", SCALE, parts=PARTS)
    lake = Lake(folder)
    lake.catalog.create_namespace("sales")
    for name in TABLES:
        parts = read_parts(tpch, name)
        first = next(parts)
        table = lake.catalog.create_table(f"sales.{name}", first.schema)
        for part in (first, *parts):
            table.append(part)
            write_deltalake(lake.folder / "deltas" / "sales" / name, part, mode="append")
    with (
        mirroring(lake, folder) as service,
        connected(service) as clients,
        worker_of(service, lake, folder, capture_engine="inline"),
    ):
        for connector in (create_connector(clients, lake), _deltas(clients, lake.folder)):
            _capture(clients, connector)
        yield Captured(clients)


def _deltas(clients: floecat.GrpcClients, folder: Path) -> connectors.Connector:
    spec = connectors.ConnectorSpec(
        display_name="deltas",
        kind_name="delta-filesystem",
        uri=f"file://{folder}/deltas",
        destination=connectors.DestinationTarget(catalog_display_name="deltas"),
    )
    request = connectors.CreateConnectorRequest(spec=spec)
    return clients.connectors.CreateConnector(request).connector


def _capture(clients: floecat.GrpcClients, connector: connectors.Connector) -> None:
    scope = messages.CaptureScope(connector_id=connector.resource_id)
    request = messages.StartCaptureRequest(scope=scope, mode=messages.METADATA_AND_CAPTURE)
    job = ended_run(clients, clients.reconcile.StartCapture(request).job_id, 600)
    assert job.state == messages.RJS_SUCCEEDED, job


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("lake", LAKES)
def test_files_columns_and_tables_are_exact(lake: str, table: str, captured: Captured) -> None:
    files = captured.records(lake, table, STK_FILE)
    assert files
    for record in files:
        columns = [column.scalar for column in record.file.columns]
        assert_true([record.file.identity.file_path], columns, record.file.row_count)
    paths = [record.file.identity.file_path for record in files]
    [whole] = captured.records(lake, table, STK_TABLE)
    assert whole.table.data_file_count == len(files)
    assert whole.table.live_row_count == whole.table.row_count
    assert whole.table.live_row_count_exact
    columns = [record.scalar for record in captured.records(lake, table, STK_COLUMN)]
    assert_true(paths, columns, whole.table.row_count)


def assert_true(paths: list[str], columns: list[ScalarStats], rows: int) -> None:
    """Counts and bounds are DuckDB's, of every column that the files have."""
    said = truths(paths, [(one.display_name, from_message(one.logical_type)) for one in columns])
    assert len(columns) == _width(paths[0])
    for stats, one in zip(columns, said, strict=True):
        assert rows == one.values
        assert stats.min_tight
        assert stats.max_tight
        assert_equals(stats, one, from_message(stats.logical_type))


def _width(path: str) -> int:
    return len(pq.read_schema(path.removeprefix("file://")))
