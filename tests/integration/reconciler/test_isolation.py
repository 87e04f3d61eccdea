"""One run's trouble is no other's: scopes, cancellations, back-off, lost plans, waiting turns."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from tests.integration.reconciler.test_mirrors import resolve
from tests.support.clock import FakeClock
from tests.support.reconciling import Reconciling
from typing_extensions import override

from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.reconciler import executor_control_pb2 as wire
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.stored_pb2 import PlannedJob
from floecat.errors import NotFoundError
from floecat.reconciler.jobs import (
    LeaseSelector,
    NewJob,
    Planned,
    QueueLimits,
    Report,
    RetryableFailure,
    Succeeded,
)
from floecat.reconciler.states import CANCELLED, FAILED
from floecat.reconciler.store.durable import DurableReconcileJobStore
from floecat.reconciler.store.memory import InMemoryReconcileJobStore
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.kv.delegating import DelegatingKeyValueStore
from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.port import Key, Operation, Record

PLANNER = LeaseSelector(executor_id="w", kinds=(messages.PLAN_CONNECTOR,))
TABLES = LeaseSelector(executor_id="w", kinds=(messages.PLAN_TABLE,))


def a_root(account: str) -> NewJob:
    return NewJob(account_id=account, kind=messages.PLAN_CONNECTOR, task=b"")


def queue(clock: FakeClock, **limits: object) -> DurableReconcileJobStore:
    return DurableReconcileJobStore(
        MemoryKeyValueStore(clock=clock),
        MemoryBlobStore(clock=clock),
        limits=QueueLimits(**limits),  # type: ignore[arg-type]
        clock=clock,
    )


@pytest.mark.parametrize("field", ["stats_requests", "table_ids"])
def test_a_full_run_over_a_part_marks_nothing_gone(plane: Reconciling, field: str) -> None:
    plane.mirror("sales.orders", "sales.items", full=True)
    orders = resolve(plane, "lake.sales.orders")
    scope = messages.CaptureScope()
    if field == "table_ids":
        scope.table_ids.append(orders)
    else:
        scope.stats_requests.add(table_id=orders, snapshot_id=1)
    plane.mirror("sales.orders", full=True, scope=scope)
    assert resolve(plane, "lake.sales.items").id


def test_ids_that_lead_nowhere_are_no_work_and_not_everything(plane: Reconciling) -> None:
    nowhere = ResourceId(account_id=plane.world.account_id, id="nowhere")
    scope = messages.CaptureScope(table_ids=[nowhere])
    plane.start(mode=messages.CAPTURE_ONLY, scope=scope)
    request = wire.GetLeasedPlanConnectorInputRequest(lease=plane.lease().lease)
    with pytest.raises(NotFoundError):
        plane.world.call("ReconcileExecutorControl/GetLeasedPlanConnectorInput", request)


def test_what_a_cancelled_job_found_isnt_applied(plane: Reconciling) -> None:
    plane.mirror("sales.orders", full=True)
    job = plane.start(mode=messages.METADATA_ONLY, full_rescan=True)
    leased = plane.lease()
    cancel = messages.CancelReconcileJobRequest(job_id=job)
    plane.world.call("ReconcileControl/CancelReconcileJob", cancel)
    asked = wire.GetReconcileJobCancellationRequest(lease=leased.lease)
    answer = plane.world.call("ReconcileExecutorControl/GetReconcileJobCancellation", asked)
    assert answer.cancel_requested
    plane.plan_connector(leased.lease, [])
    assert plane.job(job).state == messages.RJS_CANCELLED
    assert resolve(plane, "lake.sales.orders").id


def test_nobody_joins_what_is_being_stopped(plane: Reconciling) -> None:
    job = plane.start(mode=messages.METADATA_ONLY)
    plane.lease()
    cancel = messages.CancelReconcileJobRequest(job_id=job)
    assert plane.world.call("ReconcileControl/CancelReconcileJob", cancel).job.state == (
        messages.RJS_CANCELLING
    )
    assert plane.start(mode=messages.METADATA_ONLY) != job


def test_accounts_that_wait_dont_make_others_wait(clock: FakeClock) -> None:
    store = queue(clock)
    for number in range(60):
        store.enqueue(a_root(f"a{number:03}"))
    while (leased := store.lease(PLANNER)) is not None:
        later = RetryableFailure("429", timedelta(hours=1))
        store.settle(leased.lease, "r", b"", later)
    for account in ("a035", "zzz"):
        store.enqueue(a_root(account))
    found = [store.lease(PLANNER) for _ in range(2)]
    assert {leased.job.account_id for leased in found if leased} == {"a035", "zzz"}
    assert store.lease(PLANNER) is None


def test_a_plan_that_is_lost_is_no_others_loss(clock: FakeClock) -> None:
    store = queue(clock)
    children = [PlannedJob(kind=messages.PLAN_TABLE)]
    roots = {}
    for number in range(12):
        account = f"a{number}"
        roots[account] = store.enqueue(a_root(account)).job_id
        leased = store.lease(PLANNER)
        assert leased is not None
        plan, total = store.plans.write(f"plans/{leased.job.account_id}", children)
        if leased.job.account_id == "a5":
            plan.uri += "-lost"
        if leased.job.account_id == "a6":
            total += 1  # it says more than it has
        store.settle(leased.lease, "r", b"", Planned(plan, total))
    for _ in range(5):
        store.expand(100)
    tables = []
    while (leased := store.lease(TABLES)) is not None:
        tables.append(leased.job.account_id)
        store.settle(leased.lease, "t", b"", Succeeded())
    assert set(tables) == set(roots) - {"a5", "a6"}
    for account in ("a5", "a6"):
        job = store.get(account, roots[account])
        assert job.state == FAILED
        assert "plan" in job.message


def test_a_tree_isnt_forgotten_while_somebody_works_on_it(clock: FakeClock) -> None:
    store = queue(clock, finished_retention=lambda _account: timedelta(minutes=1))
    root = store.enqueue(a_root("a")).job_id
    leased = store.lease(PLANNER)
    assert leased is not None
    children = [PlannedJob(kind=messages.PLAN_TABLE, lane="orders")]
    store.settle(leased.lease, "r", b"", Planned(*store.plans.write("plans/1", children)))
    store.expand(10)
    working = store.lease(TABLES)
    assert working is not None
    store.cancel("a", root, "enough")
    store.spread_cancellations(10)
    for _ in range(8):
        clock.advance(seconds=20)
        store.renew(working.lease)
        store.expire(10)
    assert store.settle(working.lease, "t", b"", Succeeded()).state == CANCELLED
    clock.advance(hours=1)
    while store.expire(10):
        pass
    with pytest.raises(NotFoundError):
        store.get("a", root)


def test_a_queue_in_memory_publishes_nothing_of_what_was_cancelled(clock: FakeClock) -> None:
    catalog = MemoryKeyValueStore(clock=clock)
    store = InMemoryReconcileJobStore(catalog, MemoryBlobStore(clock=clock), clock=clock)
    job = store.enqueue(a_root("a")).job_id
    leased = store.lease(PLANNER)
    assert leased is not None
    store.cancel("a", job, "enough")
    published = Report(records={Key("final/a/t", "1"): b"x"})
    assert store.settle(leased.lease, "r", b"", Succeeded(), published).state == CANCELLED
    assert list(catalog.dump()) == []


class Counted(DelegatingKeyValueStore):
    """Counts what is asked of a store."""

    asked = 0

    @override
    def get(self, key: Key) -> Record | None:
        self.asked += 1
        return super().get(key)

    @override
    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        self.asked += 1
        return super().get_many(keys)

    @override
    def commit(self, operations: Sequence[Operation]) -> None:
        self.asked += 1
        super().commit(operations)


def planned(store: DurableReconcileJobStore, kind: "messages.ReconcileJobKind.ValueType") -> None:
    """Lease the next job, and let many of a kind be its children."""
    leased = store.lease(LeaseSelector(executor_id="w", kinds=(kind,)))
    assert leased is not None
    below = messages.PLAN_TABLE if kind == messages.PLAN_CONNECTOR else messages.PLAN_SNAPSHOT
    name = f"plans/{leased.lease.job_id}"
    plan, total = store.plans.write(name, [PlannedJob(kind=below)] * 2000)
    store.settle(leased.lease, "planned", b"", Planned(plan, total))


@pytest.mark.parametrize("pages", [3, 100])
def test_a_large_tree_is_forgotten_whole_and_in_pages(clock: FakeClock, pages: int) -> None:
    kv = Counted(MemoryKeyValueStore(clock=clock))
    store = DurableReconcileJobStore(kv, MemoryBlobStore(clock=clock), clock=clock)
    root = store.enqueue(a_root("a")).job_id
    planned(store, messages.PLAN_CONNECTOR)
    store.expand(1)
    planned(store, messages.PLAN_TABLE)
    for _ in range(pages):
        store.expand(10)
    store.cancel("a", root, "enough")
    while store.spread_cancellations(10):
        pass
    clock.advance(hours=25)
    kv.asked = 0
    while store.expire(10):
        pass
    kv.sweep(10_000)
    left = {record.key.partition.split("/")[0] for record in kv.dump()}
    assert left <= {"turn"}
    assert kv.asked < 800, "a few per page of children"
