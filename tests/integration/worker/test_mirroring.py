"""Workers and a real service together: what an upstream has is there, and stays up to date."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.support.lake import Lake, capture, capture_now, create_connector, mirroring, worker_of
from tests.support.lakehouse import delta_root, iceberg_root, iceberg_truth
from tests.support.service import connected

import floecat
from ai.floedb.floecat.catalog.directory_pb2 import ResolveTableRequest, ResolveViewRequest
from ai.floedb.floecat.catalog.snapshot_pb2 import ListSnapshotsRequest
from ai.floedb.floecat.catalog.table_pb2 import TF_ICEBERG, US_PRESENT, GetTableRequest, Table
from ai.floedb.floecat.common.common_pb2 import NameRef
from ai.floedb.floecat.connector import connector_pb2
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.reconciler_pb2 import SnapshotSelection
from floecat.client.names import parse_relation

EVERYTHING = SnapshotSelection(all=True)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake(tmp_path)
    lake.add("sales.orders", snapshots=3)
    lake.add("sales.items")
    lake.add("ops.jobs", snapshots=0)
    return lake


@pytest.fixture
def clients(lake: Lake, tmp_path: Path) -> Iterator[floecat.GrpcClients]:
    with (
        mirroring(lake, tmp_path) as service,
        connected(service) as clients,
        worker_of(service, lake, tmp_path),
    ):
        yield clients


def table(clients: floecat.GrpcClients, name: str) -> Table:
    found = clients.directory.ResolveTable(ResolveTableRequest(name=parse_relation(name)))
    return clients.tables.GetTable(GetTableRequest(table_id=found.resource_id)).table


def snapshot_ids(clients: floecat.GrpcClients, name: str) -> list[int]:
    request = ListSnapshotsRequest(table_id=table(clients, name).resource_id)
    return [snapshot.snapshot_id for snapshot in clients.snapshots.ListSnapshots(request).snapshots]


def is_finalized(clients: floecat.GrpcClients, name: str, snapshot_id: int) -> bool:
    request = messages.GetFinalizedSnapshotStatusRequest(
        table_id=table(clients, name).resource_id, snapshot_id=snapshot_id
    )
    return clients.reconcile.GetFinalizedSnapshotStatus(request).state == messages.FSS_FINALIZED


def test_a_run_mirrors_and_captures(clients: floecat.GrpcClients, lake: Lake) -> None:
    connector = create_connector(clients, lake)
    job = capture(clients, connector)
    assert job.state == messages.RJS_SUCCEEDED
    assert not job.degraded, job.failures
    orders = table(clients, "lake.sales.orders")
    upstream = lake.catalog.load_table("sales.orders")
    assert orders.format == TF_ICEBERG
    assert orders.location == upstream.location()
    assert orders.upstream.state == US_PRESENT
    assert orders.upstream.table_display_name == "orders"
    assert [tuple(column.path) for column in orders.column_ids] == [("id",), ("name",)]
    assert orders.current_snapshot_id == upstream.metadata.current_snapshot_id
    assert is_finalized(clients, "lake.sales.orders", orders.current_snapshot_id)
    assert not table(clients, "lake.ops.jobs").HasField("current_snapshot_id")
    assert job.counters.files_completed == 4  # three of orders, one of items
    assert job.counters.rows_processed == 12


def test_an_incremental_run_does_only_what_is_new(clients: floecat.GrpcClients, lake: Lake) -> None:
    connector = create_connector(clients, lake)
    capture(clients, connector)
    again = capture(clients, connector)
    assert again.counters.jobs_total <= 1
    lake.append("sales.items")
    changed = capture(clients, connector)
    assert changed.counters.snapshots_processed == 1
    assert changed.counters.stats_processed == 1
    assert len(snapshot_ids(clients, "lake.sales.items")) == 2


def test_a_full_run_is_one_to_go_on_from(clients: floecat.GrpcClients, lake: Lake) -> None:
    connector = create_connector(clients, lake)
    capture(clients, connector, full=True)
    assert capture(clients, connector).counters.jobs_total == 1, "nothing has changed since"
    assert capture(clients, connector, full=True).counters.jobs_total > 1, "all is looked at"


def test_history_is_as_asked_for(clients: floecat.GrpcClients, lake: Lake) -> None:
    connector = create_connector(clients, lake)
    upstream = [s.snapshot_id for s in lake.catalog.load_table("sales.orders").snapshots()]
    capture(clients, connector, mode=messages.METADATA_ONLY)
    assert snapshot_ids(clients, "lake.sales.orders") == upstream[-1:]
    latest = SnapshotSelection(latest_n=2)
    capture(clients, connector, mode=messages.METADATA_ONLY, snapshots=latest)
    assert snapshot_ids(clients, "lake.sales.orders") == upstream[:0:-1]
    capture(clients, connector, snapshots=EVERYTHING)
    assert snapshot_ids(clients, "lake.sales.orders") == upstream[::-1]
    assert all(is_finalized(clients, "lake.sales.orders", one) for one in upstream)


def test_capture_only_captures_what_is_recorded(clients: floecat.GrpcClients, lake: Lake) -> None:
    connector = create_connector(clients, lake)
    capture(clients, connector, mode=messages.METADATA_ONLY)
    orders = table(clients, "lake.sales.orders")
    lake.append("sales.orders")
    scope = messages.CaptureScope(
        connector_id=connector.resource_id, table_ids=[orders.resource_id]
    )
    request = messages.CaptureNowRequest(scope=scope, mode=messages.CAPTURE_ONLY)
    assert capture_now(clients, request).counters.stats_processed == 1
    assert is_finalized(clients, "lake.sales.orders", orders.current_snapshot_id)
    assert table(clients, "lake.sales.orders") == orders


def test_one_broken_table_doesnt_stop_the_others(clients: floecat.GrpcClients, lake: Lake) -> None:
    location = lake.catalog.load_table("sales.items").metadata_location.removeprefix("file://")
    Path(location).write_text("{")
    job = capture(clients, create_connector(clients, lake))
    assert job.state == messages.RJS_SUCCEEDED
    assert job.degraded
    assert ["items" in failure.message for failure in job.failures] == [True]
    assert job.counters.stats_processed == 1
    assert table(clients, "lake.sales.orders").HasField("current_snapshot_id")


def test_one_broken_table_among_unchanged_ones_fails_no_run(
    clients: floecat.GrpcClients, lake: Lake
) -> None:
    connector = create_connector(clients, lake)
    capture(clients, connector)
    lake.append("sales.items")
    location = lake.catalog.load_table("sales.items").metadata_location.removeprefix("file://")
    Path(location).write_text("{")
    job = capture(clients, connector)
    assert job.state == messages.RJS_SUCCEEDED
    assert job.degraded
    assert ["items" in failure.message for failure in job.failures] == [True]


@dataclass(frozen=True)
class Foreign:
    """A catalog that another engine wrote."""

    kind: str
    uri: str
    root: Path
    failures: set[str] = field(default_factory=set)
    views: tuple[str, ...] = ()


def jdbc() -> Foreign:
    root = iceberg_root()
    views = tuple(iceberg_truth()["jdbc"]["views"])
    return Foreign("iceberg-sql", f"sqlite:///{root}/catalog.db", root, views=views)


def warehouse() -> Foreign:
    root = iceberg_root()
    broken = {"lost", "strange", "torn"}
    return Foreign("iceberg-filesystem", f"file:{root}/warehouse", root, broken)


def delta() -> Foreign:
    root = delta_root()
    return Foreign("delta-filesystem", f"file://{root}", root, {"future", "gap", "torn"})


@pytest.mark.slow
@pytest.mark.parametrize("make", [jdbc, warehouse, delta])
def test_whatever_other_engines_wrote_is_mirrored(
    tmp_path: Path, make: Callable[[], Foreign]
) -> None:
    foreign = make()
    lake = Lake(tmp_path)
    roots = {"outbound_file_roots": str(foreign.root)}
    with (
        mirroring(lake, tmp_path, **roots) as service,
        connected(service) as clients,
        worker_of(service, lake, tmp_path, **roots),
    ):
        destination = connector_pb2.DestinationTarget(catalog_display_name="foreign")
        spec = connector_pb2.ConnectorSpec(
            display_name="foreign",
            kind_name=foreign.kind,
            uri=foreign.uri,
            destination=destination,
        )
        request = connector_pb2.CreateConnectorRequest(spec=spec)
        connector = clients.connectors.CreateConnector(request).connector
        job = capture(clients, connector, snapshots=SnapshotSelection(latest_n=2))
        assert job.state == messages.RJS_SUCCEEDED
        assert {failure.target.source.name for failure in job.failures} == foreign.failures
        assert job.counters.files_completed == job.counters.files_total > 0
        assert job.counters.jobs_failed >= len(foreign.failures)
        for view in foreign.views:
            *path, name = view.split(".")
            clients.directory.ResolveView(
                ResolveViewRequest(name=NameRef(catalog="foreign", path=path, name=name))
            )
