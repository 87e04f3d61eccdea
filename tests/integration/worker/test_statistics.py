"""From an upstream's files to statistics over the network: captured, listed, put and read again."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.lake import Lake, capture, create_connector, mirroring, worker_of
from tests.support.service import connected

import floecat
from ai.floedb.floecat.catalog.directory_pb2 import ResolveTableRequest
from ai.floedb.floecat.catalog.index_pb2 import (
    GetIndexArtifactRequest,
    ListIndexArtifactsRequest,
    ReadIndexArtifactRequest,
)
from ai.floedb.floecat.catalog.stats_pb2 import (
    GetTargetStatsRequest,
    ListTargetStatsRequest,
    PutTargetStatsRequest,
    TableValueStats,
    TargetStatsRecord,
)
from ai.floedb.floecat.common.common_pb2 import IdempotencyKey, PageRequest, ResourceId
from ai.floedb.floecat.statistics.statistics_pb2 import (
    STK_COLUMN,
    STK_FILE,
    ColumnStatsTarget,
    StatsTarget,
    TableStatsTarget,
)
from floecat.client.names import parse_relation
from floecat.errors import InvalidArgumentError, NotFoundError

TABLE = StatsTarget(table=TableStatsTarget())


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake(tmp_path)
    lake.add("sales.orders", snapshots=3)
    return lake


@pytest.fixture
def clients(lake: Lake, tmp_path: Path) -> Iterator[floecat.GrpcClients]:
    with (
        mirroring(lake, tmp_path) as service,
        connected(service) as clients,
        worker_of(service, lake, tmp_path),
    ):
        yield clients


@pytest.fixture
def orders(clients: floecat.GrpcClients, lake: Lake) -> ResourceId:
    capture(clients, create_connector(clients, lake))
    name = parse_relation("lake.sales.orders")
    return clients.directory.ResolveTable(ResolveTableRequest(name=name)).resource_id


def test_captured_statistics_are_read_over_the_network(
    clients: floecat.GrpcClients, orders: ResourceId, lake: Lake
) -> None:
    truth = lake.catalog.load_table("sales.orders").scan().to_arrow()
    got = clients.statistics.GetTargetStats(GetTargetStatsRequest(table_id=orders, target=TABLE))
    assert got.record.table.row_count == truth.num_rows
    assert got.record.table.live_row_count_exact
    assert got.record.table.data_file_count == 3
    assert got.record.metadata.coverage.files_seen == 3
    for column_id, name in ((1, "id"), (2, "name")):
        target = StatsTarget(column=ColumnStatsTarget(column_id=column_id))
        request = GetTargetStatsRequest(table_id=orders, target=target)
        scalar = clients.statistics.GetTargetStats(request).record.scalar
        values = truth.column(name).to_pylist()
        assert scalar.display_name == name
        assert scalar.value_count == len(values)
        assert scalar.null_count == values.count(None)
        present = [value for value in values if value is not None]
        assert (scalar.min, scalar.max) == (str(min(present)), str(max(present)))
    of_files = ListTargetStatsRequest(table_id=orders, target_kinds=[STK_FILE])
    listed = clients.statistics.ListTargetStats(of_files)
    assert sum(record.file.row_count for record in listed.records) == truth.num_rows
    paths = [record.target.file.file_path for record in listed.records]
    assert paths == sorted(paths)


def test_pages_and_refusals_over_the_network(
    clients: floecat.GrpcClients, orders: ResourceId
) -> None:
    request = ListTargetStatsRequest(table_id=orders, page=PageRequest(page_size=2))
    seen: list[TargetStatsRecord] = []
    while True:
        page = clients.statistics.ListTargetStats(request)
        seen += page.records
        if not page.page.next_page_token:
            break
        request.page.page_token = page.page.next_page_token
    assert [record.WhichOneof("value") for record in seen] == [
        *["scalar"] * 2,
        *["file"] * 3,
        "table",
    ]
    both = ListTargetStatsRequest(table_id=orders, target_kinds=[STK_FILE, STK_COLUMN])
    with pytest.raises(InvalidArgumentError, match="at most one"):
        clients.statistics.ListTargetStats(both)
    nobody = StatsTarget(column=ColumnStatsTarget(column_id=99))
    with pytest.raises(NotFoundError):
        clients.statistics.GetTargetStats(GetTargetStatsRequest(table_id=orders, target=nobody))


def test_a_stream_of_records_is_visible_whole_or_not_at_all(
    clients: floecat.GrpcClients, orders: ResourceId
) -> None:
    record = TargetStatsRecord(target=TABLE, table=TableValueStats(row_count=1))
    key = IdempotencyKey(key="once")
    good = PutTargetStatsRequest(table_id=orders, snapshot_id=5, records=[record], idempotency=key)
    other = PutTargetStatsRequest(table_id=orders, snapshot_id=6, records=[record])
    with pytest.raises(InvalidArgumentError, match="one table and one snapshot"):
        clients.statistics.PutTargetStats(iter([good, other]))
    request = GetTargetStatsRequest(table_id=orders, target=TABLE)
    request.snapshot.snapshot_id = 5
    with pytest.raises(NotFoundError):
        clients.statistics.GetTargetStats(request)
    first = clients.statistics.PutTargetStats(iter([good]))
    assert clients.statistics.PutTargetStats(iter([good])) == first
    assert clients.statistics.GetTargetStats(request).record.table.row_count == 1


def test_files_without_sidecars_say_so(clients: floecat.GrpcClients, orders: ResourceId) -> None:
    listed = clients.indexes.ListIndexArtifacts(ListIndexArtifactsRequest(table_id=orders))
    assert not listed.records
    assert listed.snapshot_id
    with pytest.raises(NotFoundError):
        clients.indexes.GetIndexArtifact(GetIndexArtifactRequest(table_id=orders, file_path="a"))
    with pytest.raises(NotFoundError):
        list(
            clients.indexes.ReadIndexArtifact(
                ReadIndexArtifactRequest(table_id=orders, file_path="a")
            )
        )
