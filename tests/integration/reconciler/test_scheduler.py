"""Runs that nobody asks for: when, how many, and by whom."""

from collections.abc import Iterable
from datetime import timedelta
from random import Random

import pytest
from google.protobuf.duration_pb2 import Duration
from tests.support.catalog import World, outside
from tests.support.clock import FakeClock
from tests.support.reconciling import Reconciling

from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.connector import connector_pb2
from ai.floedb.floecat.reconciler import executor_control_pb2 as wire
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from floecat.bootstrap import services
from floecat.catalog.connectors import ConnectorRepository
from floecat.catalog.tables import TableRepository
from floecat.catalog.views import ViewRepository
from floecat.reconciler.executors import EXECUTORS
from floecat.reconciler.jobs import LeaseSelector, NewJob, Succeeded
from floecat.reconciler.keys import SCHEDULER
from floecat.reconciler.ownership import Ownership
from floecat.reconciler.runs import CaptureRuns
from floecat.reconciler.scheduler import Scheduler
from floecat.reconciler.schedules import Schedules
from floecat.reconciler.settings import ReconcilerSettingsRepository
from floecat.reconciler.store.durable import DurableReconcileJobStore

MINUTE = Duration(seconds=60)


class Timetable:
    """A scheduler, and the runs that it started."""

    def __init__(self, world: World) -> None:
        self.world = world
        stores = world.stores
        self.jobs = DurableReconcileJobStore(stores.kv, stores.blobs, clock=stores.clock)
        self.scheduler = self.new_scheduler()

    def new_scheduler(self) -> Scheduler:
        """Another process."""
        stores = self.world.stores
        beyond = outside(stores)
        settings = ReconcilerSettingsRepository(stores)
        runs = CaptureRuns(
            self.jobs,
            ConnectorRepository(stores, beyond.secrets, beyond.opener),
            TableRepository(stores),
            ViewRepository(stores),
            settings,
            frozenset(EXECUTORS.values()),
        )
        ownership = Ownership(stores.kv, SCHEDULER, timedelta(seconds=15), stores.clock)
        return Scheduler(stores, self.jobs, runs, settings, ownership, Random(1))

    def connector(self, name: str, **policy: object) -> ResourceId:
        wanted = connector_pb2.ReconcilePolicy(**policy)  # type: ignore[arg-type]
        return self.world.connector(name, policy=wanted)

    def started(self, connector: ResourceId) -> int:
        return len(self.jobs.reading.roots(self.world.account_id, connector.id, None, 1000))

    def run(self, clock: FakeClock, seconds: float, schedulers: Iterable[Scheduler] = ()) -> None:
        """Let time pass, and runs end at once."""
        for _ in range(int(seconds / 2)):
            clock.advance(seconds=2)
            for scheduler in schedulers or [self.scheduler]:
                scheduler.run_due()
            self.finish()

    def finish(self) -> None:
        selector = LeaseSelector(executor_id="w", kinds=(messages.PLAN_CONNECTOR,))
        while (leased := self.jobs.lease(selector)) is not None:
            self.jobs.settle(leased.lease, f"{leased.lease.epoch}", b"", Succeeded())


@pytest.fixture
def timetable(world: World) -> Timetable:
    return Timetable(world)


def settings(world: World, **fields: object) -> None:
    wanted = messages.ReconcilerSettings(**fields)  # type: ignore[arg-type]
    request = messages.UpdateReconcilerSettingsRequest(settings=wanted)
    world.call("ReconcileControl/UpdateReconcilerSettings", request)


def test_a_connector_runs_as_often_as_its_policy_says(
    timetable: Timetable, clock: FakeClock
) -> None:
    lake = timetable.connector("lake", enabled=True, interval=MINUTE)
    quiet = timetable.connector("quiet")
    timetable.run(clock, 660)
    assert 9 <= timetable.started(lake) <= 12
    assert timetable.started(quiet) == 0


def test_the_accounts_settings_hold_for_whoever_says_nothing(
    timetable: Timetable, clock: FakeClock, world: World
) -> None:
    lake = timetable.connector("lake")
    never = timetable.connector("never", enabled=False)
    settings(world, auto_enabled=True, interval=MINUTE)
    timetable.run(clock, 300)
    assert 3 <= timetable.started(lake) <= 6
    assert timetable.started(never) == 0


def test_a_run_that_takes_long_isnt_overtaken(timetable: Timetable, clock: FakeClock) -> None:
    lake = timetable.connector("lake", enabled=True, interval=MINUTE)
    for _ in range(300):
        clock.advance(seconds=2)
        timetable.scheduler.run_due()
    assert timetable.started(lake) == 1


def test_a_long_run_isnt_overtaken_however_many_came_after_it(
    timetable: Timetable, clock: FakeClock, world: World
) -> None:
    lake = timetable.connector("lake", enabled=True, interval=MINUTE)
    for number in range(8):
        new = NewJob(
            account_id=world.account_id,
            kind=messages.PLAN_CONNECTOR,
            task=b"",
            connector_id=lake.id,
            lane="" if number else "kept",
        )
        timetable.jobs.enqueue(new)
        clock.advance(seconds=1)
    selector = LeaseSelector(executor_id="w", kinds=(messages.PLAN_CONNECTOR,))
    leased = [timetable.jobs.lease(selector) for _ in range(8)]
    for one in leased:
        if one is not None and not one.job.lane:
            timetable.jobs.settle(one.lease, "done", b"", Succeeded())
    for _ in range(100):
        clock.advance(seconds=2)
        timetable.scheduler.run_due()
    assert timetable.started(lake) == 8


def test_a_policy_that_captures_only_is_about_every_mirrored_table(
    timetable: Timetable, clock: FakeClock, world: World
) -> None:
    lake = timetable.connector("lake", enabled=True, interval=MINUTE, mode=messages.CAPTURE_ONLY)
    plane = Reconciling(world, lake)
    plane.mirror("sales.orders", "sales.items", snapshots=[1])
    for _ in range(60):
        clock.advance(seconds=2)
        timetable.scheduler.run_due()
    leased = plane.lease()
    assert leased.mode == messages.CAPTURE_ONLY
    asked = wire.GetLeasedPlanConnectorInputRequest(lease=leased.lease)
    given = world.call("ReconcileExecutorControl/GetLeasedPlanConnectorInput", asked)
    assert not given.scope.tables, "it is looked through"
    plane.plan_connector(leased.lease, ["sales.orders", "sales.items", "sales.new"])
    planned = {plane.lease().target.source.name for _ in range(2)}
    assert planned == {"orders", "items"}
    assert not plane.has_work(), "capture never makes a table"


def test_only_so_many_run_at_the_same_time(
    timetable: Timetable, clock: FakeClock, world: World
) -> None:
    settings(world, max_parallel=3)
    lakes = [
        timetable.connector(f"lake{number}", enabled=True, interval=MINUTE) for number in range(10)
    ]
    for _ in range(100):
        clock.advance(seconds=2)
        timetable.scheduler.run_due()
    assert sum(timetable.started(lake) for lake in lakes) == 3


def test_who_waits_longest_goes_first(timetable: Timetable, clock: FakeClock, world: World) -> None:
    settings(world, max_parallel=1)
    lakes = [timetable.connector(f"lake{n}", enabled=True, interval=MINUTE) for n in range(4)]
    for step in range(300):
        clock.advance(seconds=10)  # a run takes longer than all of them have time for
        timetable.scheduler.run_due()
        if step % 3 == 2:
            timetable.finish()
    counts = [timetable.started(lake) for lake in lakes]
    assert min(counts) > 0
    assert max(counts) - min(counts) <= 2


def test_a_restart_after_long_isnt_a_storm(timetable: Timetable, clock: FakeClock) -> None:
    lakes = [
        timetable.connector(f"lake{number}", enabled=True, interval=Duration(seconds=600))
        for number in range(20)
    ]
    timetable.run(clock, 120)
    before = sum(timetable.started(lake) for lake in lakes)
    clock.advance(days=2)
    later = timetable.new_scheduler()
    later.run_due()
    assert sum(timetable.started(lake) for lake in lakes) == before
    timetable.run(clock, 120, [later])
    assert sum(timetable.started(lake) for lake in lakes) == before + 20


def test_times_outlive_a_restart(timetable: Timetable, clock: FakeClock, world: World) -> None:
    lake = timetable.connector("lake", enabled=True, interval=MINUTE)
    timetable.run(clock, 90)
    account = world.account_id
    planned = Schedules(world.stores.kv).get(account, lake.id)
    timetable.new_scheduler().run_due()
    assert Schedules(world.stores.kv).get(account, lake.id) == planned


def test_one_of_several_schedules_and_another_takes_over(
    timetable: Timetable, clock: FakeClock
) -> None:
    lake = timetable.connector("lake", enabled=True, interval=MINUTE)
    first, second = timetable.scheduler, timetable.new_scheduler()
    assert first.ownership.hold()
    assert not second.ownership.hold()
    timetable.run(clock, 130, [first, second])
    assert timetable.started(lake) in {2, 3}
    clock.advance(seconds=16)
    assert second.ownership.hold()
    assert not first.ownership.hold()


def test_a_start_that_wasnt_written_down_isnt_made_twice(
    timetable: Timetable, clock: FakeClock, world: World
) -> None:
    lake = timetable.connector("lake", enabled=True, interval=MINUTE)
    timetable.scheduler.run_due()
    schedules = Schedules(world.stores.kv)
    before = schedules.get(world.account_id, lake.id)
    assert before.next_run_at is not None
    clock.advance(seconds=61)
    timetable.scheduler.run_due()
    assert timetable.started(lake) == 1
    timetable.finish()
    after = schedules.get(world.account_id, lake.id)
    schedules.put(world.account_id, lake.id, after, before.next_run_at, "")
    timetable.scheduler.run_due()
    assert timetable.started(lake) == 1, "as if the process had died before it wrote that down"


def test_a_paused_connector_waits(timetable: Timetable, clock: FakeClock, world: World) -> None:
    lake = timetable.connector("lake", enabled=True, interval=MINUTE)
    spec = connector_pb2.ConnectorSpec(state=connector_pb2.CS_PAUSED)
    request = connector_pb2.UpdateConnectorRequest(connector_id=lake, spec=spec)
    world.call("Connectors/UpdateConnector", request)
    timetable.run(clock, 200)
    assert timetable.started(lake) == 0


def test_the_service_has_a_scheduler(world: World) -> None:
    names = [thread.name for thread in services(world.stores, outside(world.stores)).upkeep.threads]
    assert "floecat-schedule" in names
