"""What mirrors what: found again after a rename, gone when the upstream says so, never doubled."""

import pytest
from tests.support.clock import FakeClock
from tests.support.reconciling import Reconciling, relation, summary, table_chunk

from ai.floedb.floecat.catalog import directory_pb2, table_pb2
from ai.floedb.floecat.catalog.snapshot_pb2 import ListSnapshotsRequest
from ai.floedb.floecat.catalog.table_pb2 import ColumnId, GetTableRequest, Table
from ai.floedb.floecat.common.common_pb2 import NameRef, ResourceId
from ai.floedb.floecat.connector import connector_pb2
from ai.floedb.floecat.reconciler import executor_control_pb2 as wire
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from floecat.catalog.mirrors import Mirrors
from floecat.errors import NotFoundError


def resolve(plane: Reconciling, name: str) -> ResourceId:
    catalog, *path, last = name.split(".")
    request = directory_pb2.ResolveTableRequest(name=NameRef(catalog=catalog, path=path, name=last))
    found: ResourceId = plane.world.call("DirectoryService/ResolveTable", request).resource_id
    return found


def table(plane: Reconciling, table_id: ResourceId) -> Table:
    request = GetTableRequest(table_id=table_id)
    found: Table = plane.world.call("TableService/GetTable", request).table
    return found


def recorded(plane: Reconciling, table_id: ResourceId) -> list[int]:
    request = ListSnapshotsRequest(table_id=table_id)
    answer = plane.world.call("SnapshotService/ListSnapshots", request)
    return [snapshot.snapshot_id for snapshot in answer.snapshots]


def test_a_table_is_mirrored_under_the_connectors_name(plane: Reconciling) -> None:
    job = plane.mirror("sales.orders", snapshots=[1, 2])
    found = table(plane, resolve(plane, "lake.sales.orders"))
    assert found.current_snapshot_id == 2
    assert found.upstream.connector_id == plane.connector
    assert recorded(plane, found.resource_id) == [2, 1]
    counters = plane.job(job).counters
    assert (counters.tables_scanned, counters.tables_changed) == (1, 1)
    assert (counters.snapshots_processed, counters.jobs_total, counters.jobs_succeeded) == (2, 2, 2)
    assert not plane.problems()


def test_a_renamed_mirror_stays_the_mirror(plane: Reconciling) -> None:
    plane.mirror("sales.orders", snapshots=[1])
    found = resolve(plane, "lake.sales.orders")
    spec = table_pb2.TableSpec(display_name="bestellungen")
    request = table_pb2.UpdateTableRequest(table_id=found, spec=spec)
    plane.world.call("TableService/UpdateTable", request)
    plane.mirror("sales.orders", snapshots=[1, 2])
    assert resolve(plane, "lake.sales.bestellungen") == found
    assert recorded(plane, found) == [2, 1]
    with pytest.raises(NotFoundError):
        resolve(plane, "lake.sales.orders")


def test_a_name_that_is_somebody_elses_fails_that_table_alone(plane: Reconciling) -> None:
    catalog = plane.world.catalog("lake")
    sales = plane.world.namespace(catalog, "sales")
    plane.world.table(sales, "orders")
    job = plane.mirror("sales.orders", "sales.items")
    shown = plane.job(job)
    assert shown.state == messages.RJS_SUCCEEDED
    assert shown.degraded
    assert "taken at the destination" in shown.failures[0].message
    assert resolve(plane, "lake.sales.items").id


def test_what_isnt_found_any_more_is_gone_and_then_deleted(
    plane: Reconciling, clock: FakeClock
) -> None:
    plane.mirror("sales.orders", "sales.items", snapshots=[1], full=True)
    orders = resolve(plane, "lake.sales.orders")
    plane.mirror("sales.items", snapshots=[1], full=True)
    with pytest.raises(NotFoundError):
        resolve(plane, "lake.sales.orders")
    assert table(plane, orders).upstream.state == table_pb2.US_GONE
    assert resolve(plane, "lake.sales.items").id
    clock.advance(days=8)
    plane.mirror("sales.items", snapshots=[1], full=True)
    with pytest.raises(NotFoundError):
        table(plane, orders)
    mirrors = Mirrors(plane.world.stores, plane.world.caller, plane.connector.id)
    assert mirrors.find_table(relation("sales.orders")) is None


def test_an_incremental_run_notices_what_is_gone_too(plane: Reconciling, clock: FakeClock) -> None:
    plane.mirror("sales.orders", "sales.items", full=True)
    orders = resolve(plane, "lake.sales.orders")
    plane.mirror("sales.items")
    assert table(plane, orders).upstream.state == table_pb2.US_GONE
    clock.advance(days=8)
    plane.mirror("sales.items")
    with pytest.raises(NotFoundError):
        table(plane, orders)
    assert resolve(plane, "lake.sales.items").id


def test_what_comes_back_is_the_same_table(plane: Reconciling) -> None:
    plane.mirror("sales.orders", full=True)
    before = resolve(plane, "lake.sales.orders")
    plane.mirror(full=True)
    plane.mirror("sales.orders", full=True)
    assert resolve(plane, "lake.sales.orders") == before


def test_a_narrow_run_says_nothing_of_what_it_didnt_look_at(plane: Reconciling) -> None:
    plane.mirror("sales.orders", full=True)
    plane.start(mode=messages.METADATA_ONLY)
    lease = plane.lease().lease
    request = wire.SubmitLeasedPlanConnectorResultRequest
    failed = wire.PlanConnectorChunk(failures=[messages.JobFailure(message="can't be listed")])
    parts = [request(lease=lease, chunk=failed), request(lease=lease, success=summary(lease, 0))]
    plane.submit("PlanConnector", parts)
    assert resolve(plane, "lake.sales.orders").id, "a part of the upstream couldn't be listed"
    scope = messages.CaptureScope(tables=[relation("sales.items")])
    plane.mirror("sales.items", full=True, scope=scope)
    assert resolve(plane, "lake.sales.orders").id


def test_columns_keep_their_numbers(plane: Reconciling) -> None:
    plane.start(mode=messages.METADATA_ONLY)
    plane.plan_connector(plane.lease().lease, ["sales.orders"])
    leaves = [ColumnId(path=["a"]), ColumnId(path=["b"])]
    plane.plan_table(plane.lease().lease, table_chunk("orders", columns=leaves))
    plane.start(mode=messages.METADATA_ONLY)
    plane.plan_connector(plane.lease().lease, ["sales.orders"])
    plane.plan_table(plane.lease().lease, table_chunk("orders", columns=[ColumnId(path=["b"])]))
    plane.start(mode=messages.METADATA_ONLY)
    plane.plan_connector(plane.lease().lease, ["sales.orders"])
    plane.plan_table(plane.lease().lease, table_chunk("orders", columns=leaves))
    found = table(plane, resolve(plane, "lake.sales.orders"))
    numbers = {(tuple(c.path), c.dropped): c.column_id for c in found.column_ids}
    assert numbers == {(("a",), False): 3, (("b",), False): 2, (("a",), True): 1}


def test_snapshots_the_upstream_dropped_go_and_others_are_limited(plane: Reconciling) -> None:
    policy = connector_pb2.ReconcilePolicy(keep_snapshots=2)
    request = connector_pb2.UpdateConnectorRequest(
        connector_id=plane.connector, spec=connector_pb2.ConnectorSpec(policy=policy)
    )
    plane.mirror("sales.orders", snapshots=[1, 2, 3])
    orders = resolve(plane, "lake.sales.orders")
    plane.start(mode=messages.METADATA_ONLY, full_rescan=True)
    plane.plan_connector(plane.lease().lease, ["sales.orders"])
    chunk = table_chunk("orders", [4], upstream_snapshot_ids=[2, 3, 4], upstream_complete=True)
    plane.plan_table(plane.lease().lease, chunk)
    assert recorded(plane, orders) == [4, 3, 2]
    plane.world.call("Connectors/UpdateConnector", request)
    plane.mirror("sales.orders", snapshots=[5])
    assert recorded(plane, orders) == [5, 4]
    assert not plane.problems()


def selected(**fields: object) -> messages.CaptureScope:
    """All tables, and of these some snapshots."""
    selection = messages.SnapshotSelection(**fields)  # type: ignore[arg-type]
    return messages.CaptureScope(snapshots=selection)


def looked_at(
    plane: Reconciling, revision: str, scope: messages.CaptureScope, *, full: bool = False
) -> bool:
    """Whether a run looked at the table, which has a revision."""
    job = plane.start(mode=messages.METADATA_ONLY, scope=scope, full_rescan=full)
    plane.plan_connector(plane.lease().lease, ["sales.orders"], revision=revision)
    if plane.job(job).state == messages.RJS_SUCCEEDED:
        return False
    plane.plan_table(plane.lease().lease, table_chunk("orders", [1]))
    return True


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        (selected(all=True), selected(current=True)),
        (selected(all=True), selected(latest_n=2)),
        (selected(latest_n=3), selected(latest_n=2)),
        (selected(all=True), selected(ids=messages.SnapshotIds(snapshot_ids=[1]))),
        (selected(current=True), selected(ids=messages.SnapshotIds(snapshot_ids=[1]))),
    ],
)
def test_a_narrower_run_doesnt_forget_what_a_wider_one_did(
    plane: Reconciling, wide: messages.CaptureScope, narrow: messages.CaptureScope
) -> None:
    assert looked_at(plane, "v1", wide)
    assert looked_at(plane, "v1", narrow, full=True)
    assert not looked_at(plane, "v1", wide)
    assert looked_at(plane, "v2", narrow)
    assert looked_at(plane, "v2", wide), "of the new revision only the narrow part is there"


def test_a_table_that_hasnt_changed_isnt_looked_at_again(plane: Reconciling) -> None:
    current, everything = selected(current=True), selected(all=True)
    assert looked_at(plane, "v1", current)
    assert not looked_at(plane, "v1", current)
    assert looked_at(plane, "v1", everything), "the history was never asked for"
    assert not looked_at(plane, "v1", current)
    assert not looked_at(plane, "v1", everything)
    assert looked_at(plane, "v2", everything)
