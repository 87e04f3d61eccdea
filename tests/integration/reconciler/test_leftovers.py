"""What the reconciler keeps goes with the account or connector that it keeps it for."""

from datetime import timedelta

from tests.support.catalog import World
from tests.support.clock import FakeClock
from tests.support.reconciling import Reconciling, summary, table_chunk

from ai.floedb.floecat.account import account_pb2
from ai.floedb.floecat.catalog.view_pb2 import ViewSpec
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.connector import connector_pb2
from ai.floedb.floecat.reconciler import executor_control_pb2 as wire
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from floecat.reconciler import keys
from floecat.reconciler.schedules import Schedules
from floecat.storage.kv.port import ANY, Delete, Key, Put


def left_of(plane: Reconciling, identifier: str) -> list[str]:
    """Areas with rows that speak of something."""
    rows = (f"{row.key.partition} {row.key.sort}" for row in plane.world.stores.kv.dump())
    return sorted({row.split("/")[0].split()[0] for row in rows if identifier in row})


def schedule(plane: Reconciling) -> None:
    schedules, account = Schedules(plane.world.stores.kv), plane.world.account_id
    before = schedules.get(account, plane.connector.id)
    soon = plane.world.stores.clock() + timedelta(minutes=1)
    schedules.put(account, plane.connector.id, before, soon, "")


def delete_connector(plane: Reconciling) -> None:
    request = connector_pb2.DeleteConnectorRequest(connector_id=plane.connector)
    plane.world.call("Connectors/DeleteConnector", request)


def delete_account(world: World, *, cascade: bool) -> None:
    own = ResourceId(account_id=world.account_id, id=world.account_id)
    request = account_pb2.DeleteAccountRequest(account_id=own, cascade=cascade)
    world.call("AccountService/DeleteAccount", request)


def forget_ended(plane: Reconciling, clock: FakeClock) -> None:
    clock.advance(days=2)
    while plane.store.expire(100):
        pass
    plane.world.stores.kv.sweep(10_000)


def test_a_deleted_connector_leaves_nothing(plane: Reconciling, clock: FakeClock) -> None:
    plane.mirror(*(f"sales.t{number}" for number in range(120)))
    schedule(plane)
    kept = plane.world.connector("pond")
    delete_connector(plane)
    assert "mirrors" in left_of(plane, plane.connector.id)
    assert not plane.problems(), "it is about to be swept"
    plane.world.sweep()
    forget_ended(plane, clock)
    left = left_of(plane, plane.connector.id)
    assert not {"mirrors", "schedule", "runs", "active", "sweep"} & set(left), left
    assert left_of(plane, kept.id)
    assert not plane.problems()


def test_a_deleted_account_leaves_nothing(plane: Reconciling, clock: FakeClock) -> None:
    settings = messages.ReconcilerSettings(max_parallel=2)
    request = messages.UpdateReconcilerSettingsRequest(settings=settings)
    plane.world.call("ReconcileControl/UpdateReconcilerSettings", request)
    plane.mirror("sales.orders")
    schedule(plane)
    policy = messages.ExecutionPolicy(execution_lane="nobody works here")
    plane.start(mode=messages.METADATA_ONLY, execution_policy=policy)
    delete_account(plane.world, cascade=True)
    plane.world.sweep()
    plane.spread()
    assert not plane.problems()
    forget_ended(plane, clock)
    assert set(left_of(plane, plane.world.account_id)) <= {"turn"}


def test_an_empty_account_takes_its_settings_along(world: World) -> None:
    settings = messages.ReconcilerSettings(max_parallel=2)
    request = messages.UpdateReconcilerSettingsRequest(settings=settings)
    world.call("ReconcileControl/UpdateReconcilerSettings", request)
    delete_account(world, cascade=False)
    world.sweep()
    assert world.stores.kv.get(keys.settings(world.account_id)) is None


def test_what_belongs_to_nobody_is_found(plane: Reconciling) -> None:
    account, kv = plane.world.account_id, plane.world.stores.kv
    rows = [
        keys.schedule(account, "nowhere"),
        keys.settings("nobody"),
        Key(keys.active_runs(account, "nowhere"), "no-job"),
    ]
    kv.commit([Put(row, b"", ANY) for row in rows])
    plane.mirror("sales.orders")
    delete_connector(plane)
    for partition in ("sweep/00", "sweep/01", "sweep/02", "sweep/03"):
        kv.commit([Delete(row.key, ANY) for row in kv.scan(partition, limit=100)])
    found = plane.problems()
    assert len(found) == 4, found
    assert sum("doesn't exist" in problem for problem in found) == 3


def test_a_result_that_comes_after_its_connector_mirrors_nothing(plane: Reconciling) -> None:
    plane.start(mode=messages.METADATA_ONLY)
    plane.plan_connector(plane.lease().lease, ["sales.orders"], ["sales.totals"])
    leased = [plane.lease(), plane.lease()]
    delete_connector(plane)
    plane.world.sweep()
    for one in leased:
        if one.kind == messages.PLAN_TABLE:
            plane.plan_table(one.lease, table_chunk("orders"))
        else:
            request = wire.SubmitLeasedPlanViewResultRequest
            chunk = wire.PlanViewChunk(view=ViewSpec())
            closing = request(lease=one.lease, success=summary(one.lease, 1))
            plane.submit("PlanView", [request(lease=one.lease, chunk=chunk), closing])
        assert plane.job(one.lease.job_id).outcome_reason == messages.JOR_OBSOLETE
    assert not {"mirrors", "table", "view"} & set(left_of(plane, plane.connector.id))
    assert not plane.problems()
