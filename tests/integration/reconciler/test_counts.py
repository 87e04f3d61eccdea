"""What a tree says that was done, however it ended."""

from collections.abc import Callable, Sequence

import pytest
from tests.support.clock import FakeClock
from tests.support.reconciling import Reconciling, identity, table_chunk
from typing_extensions import override

from ai.floedb.floecat.execution.capture_pb2 import FileExecutionResult
from ai.floedb.floecat.reconciler import executor_control_pb2 as wire
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileCounters
from ai.floedb.floecat.reconciler.stored_pb2 import PlannedJob
from floecat.errors import UnavailableError
from floecat.reconciler.jobs import LeasedJob, LeaseSelector, NewJob, Planned, Report, Succeeded
from floecat.reconciler.states import SUCCEEDED
from floecat.reconciler.store.durable import DurableReconcileJobStore
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.kv.delegating import DelegatingKeyValueStore
from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.port import Operation


def test_a_cancelled_tree_counts_all_of_it(plane: Reconciling) -> None:
    root = plane.start(mode=messages.METADATA_ONLY)
    plane.plan_connector(plane.lease().lease, [f"sales.t{number}" for number in range(30)])
    plane.plan_table(plane.lease().lease, table_chunk("t", [1, 2]))
    running = plane.lease()
    request = messages.CancelReconcileJobRequest(job_id=root)
    plane.world.call("ReconcileControl/CancelReconcileJob", request)
    plane.spread()
    plane.plan_table(running.lease, table_chunk("t"))
    counters = plane.job(root).counters
    assert (counters.jobs_total, counters.jobs_succeeded, counters.jobs_cancelled) == (31, 1, 30)
    assert (counters.tables_changed, counters.snapshots_processed) == (1, 2)


def test_files_that_failed_a_group_count(plane: Reconciling) -> None:
    """Those of position deletes don't, and what was read beside them is left to do."""
    root = plane.start()
    plane.plan_connector(plane.lease().lease, ["sales.orders"])
    chunk = table_chunk("orders", [1], capture_snapshot_ids=[1])
    plane.plan_table(plane.lease().lease, chunk)
    plane.plan_snapshot(plane.lease(messages.PLAN_SNAPSHOT), [["a", "b", "c"]])
    lease = plane.lease(messages.EXEC_FILE_GROUP).lease
    request = wire.SubmitLeasedFileGroupExecutionResultRequest
    closing = request.Failure(
        result_id="broken",
        failure=wire.LeasedJobFailure(failure_class=wire.FCL_TERMINAL, message="broken"),
        files=[FileExecutionResult(identity=identity(path)) for path in ("a", "b", "a-delete")],
    )
    plane.submit("FileGroupExecution", [request(lease=lease, failure=closing)])
    counters = plane.job(root).counters
    assert (counters.files_total, counters.files_completed, counters.files_failed) == (3, 0, 2)
    assert counters.file_groups_failed == 1


def test_a_run_says_of_how_many_some_went_wrong(plane: Reconciling) -> None:
    root = plane.start(mode=messages.METADATA_ONLY)
    plane.plan_connector(plane.lease().lease, ["sales.a", "sales.b", "sales.c", "sales.d"])
    first, second, third, fourth = (plane.lease() for _ in range(4))
    request = wire.SubmitLeasedPlanTableResultRequest
    failure = wire.LeasedJobFailure(failure_class=wire.FCL_TERMINAL, message="no metadata")
    closing = wire.PlanResultFailure(result_id="x", failure=failure)
    plane.submit("PlanTable", [request(lease=first.lease, failure=closing)])
    cancelled = messages.CancelReconcileJobRequest(job_id=second.lease.job_id)
    plane.world.call("ReconcileControl/CancelReconcileJob", cancelled)
    for leased in (second, third, fourth):
        plane.plan_table(leased.lease, table_chunk(leased.target.source.name))
    ended = plane.job(root)
    assert ended.message == "1 failed, 1 cancelled of the 4 tables and views that were worked on"


def test_what_has_ended_counts_however_much_goes_on_beside_it(plane: Reconciling) -> None:
    """More groups of one table are worked on than anybody looks at; the other's are done."""
    root = plane.start()
    plane.plan_connector(plane.lease().lease, ["sales.many", "sales.few"])
    for _ in range(2):
        leased = plane.lease(messages.PLAN_TABLE)
        name = leased.target.source.name
        chunk = table_chunk(name, [1], capture_snapshot_ids=[1])
        plane.plan_table(leased.lease, chunk)
    for _ in range(2):
        leased = plane.lease(messages.PLAN_SNAPSHOT)
        groups = 130 if leased.target.source.name == "many" else 3
        plane.plan_snapshot(leased, [[f"f{number}"] for number in range(groups)])
    for _ in range(133):
        leased = plane.lease(messages.EXEC_FILE_GROUP)
        if leased.target.source.name == "few":
            plane.execute(leased, [leased.target.file_group_id.replace("g", "f")])
    counters = plane.job(root).counters
    assert (counters.files_completed, counters.files_total) == (3, 133)
    assert (counters.jobs_succeeded, counters.jobs_total) == (3, 1 + 2 + 2 + 133)


def test_what_was_recorded_counts_though_the_service_died_before_it_said_so(
    plane: Reconciling, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = plane.start(mode=messages.METADATA_ONLY)
    plane.plan_connector(plane.lease().lease, ["sales.orders"])
    many = list(range(1, 61))

    def die(*_: object) -> None:
        raise UnavailableError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(DurableReconcileJobStore, "settle", die)
        with pytest.raises(UnavailableError):
            plane.plan_table(plane.lease().lease, table_chunk("orders", many))
    clock.advance(seconds=31)
    plane.store.reclaim(10)
    clock.advance(seconds=60)
    plane.plan_table(plane.lease().lease, table_chunk("orders", [*many, 61]))
    counters = plane.job(root).counters
    assert (counters.snapshots_processed, counters.tables_changed) == (61, 1)
    assert not plane.problems()
    again = plane.mirror("sales.orders", snapshots=[*many, 61], full=True)
    assert plane.job(again).counters.snapshots_processed == 0


class _Before(DelegatingKeyValueStore):
    """A store where something happens right before a commit, once."""

    happening: Callable[[], object] | None = None

    @override
    def commit(self, operations: Sequence[Operation]) -> None:
        happening, self.happening = self.happening, None
        if happening is not None:
            happening()
        self._kv.commit(operations)


@pytest.fixture
def kv(clock: FakeClock) -> _Before:
    return _Before(MemoryKeyValueStore(clock=clock))


@pytest.fixture
def store(kv: _Before, clock: FakeClock) -> DurableReconcileJobStore:
    return DurableReconcileJobStore(kv, MemoryBlobStore(clock=clock), clock=clock)


def leased(store: DurableReconcileJobStore) -> LeasedJob:
    """The next job, whatever it is."""
    kinds = tuple(messages.ReconcileJobKind.values()[1:])
    found = store.lease(LeaseSelector(executor_id="w", kinds=kinds))
    assert found is not None
    return found


def plan(
    store: DurableReconcileJobStore, kind: "messages.ReconcileJobKind.ValueType", count: int
) -> str:
    """Let the next job have children of a kind; which job that is."""
    parent = leased(store)
    children, total = store.plans.write(str(kind), [PlannedJob(kind=kind)] * count)
    store.settle(parent.lease, "planned", b"", Planned(children, total))
    while store.expand(10):
        pass
    return parent.lease.job_id


def test_what_ends_late_counts_though_its_tree_ends_at_the_same_moment(
    kv: _Before, store: DurableReconcileJobStore
) -> None:
    store.enqueue(NewJob(account_id="a", kind=messages.PLAN_CONNECTOR, task=b""))
    root = plan(store, messages.PLAN_TABLE, 1)
    plan(store, messages.PLAN_SNAPSHOT, 2)
    snapshot = plan(store, messages.EXEC_FILE_GROUP, 1)
    last, group = leased(store), leased(store)
    store.cancel("a", snapshot, "somebody wanted it")
    while store.spread_cancellations(10):
        pass
    kv.happening = lambda: store.settle(group.lease, "done", b"", Succeeded())
    store.settle(last.lease, "done", b"", Succeeded())
    ended = store.get("a", root)
    assert ended.state == SUCCEEDED
    counters = store.reading.sums(ended).counters
    assert (counters.jobs_succeeded, counters.jobs_cancelled) == (2, 2)


def test_what_a_child_did_while_its_parent_was_cancelled_isnt_lost(
    kv: _Before, store: DurableReconcileJobStore
) -> None:
    store.enqueue(NewJob(account_id="a", kind=messages.PLAN_CONNECTOR, task=b""))
    plan(store, messages.PLAN_TABLE, 1)
    plan(store, messages.PLAN_SNAPSHOT, 40)
    child = leased(store)
    done = Report(counters=ReconcileCounters(rows_processed=7))
    kv.happening = lambda: store.settle(child.lease, "done", b"", Succeeded(), done)
    table, root = child.job.ancestors
    store.cancel("a", table, "somebody wanted it")
    while store.spread_cancellations(10):
        pass
    ended = store.get("a", root)
    counters = store.reading.sums(ended).counters
    assert counters.rows_processed == 7
    assert (counters.jobs_succeeded, counters.jobs_cancelled) == (1, 40)
