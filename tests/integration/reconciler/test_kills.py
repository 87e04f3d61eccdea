"""Services that are killed in the middle of a run: it completes, nothing is lost or doubled."""

import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

import pytest
from tests.support.aftermath import aftermath, check_exact, inconsistencies
from tests.support.dying_service import Point
from tests.support.lake import Lake, create_connector
from tests.support.runs import ended_run, start_run
from tests.support.service_process import ServicePlace
from tests.support.waiting import eventually
from tests.support.worker_process import worker_environment, worker_process

import floecat
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from floecat.errors import FloecatError

SOAK = bool(os.environ.get("SOAK"))
KILLS = 100
FINALIZATION = "ready/FINALIZE_SNAPSHOT_CAPTURE."
POINTS = {
    "before a run's answer": Point("after", "put", "roots/"),
    "before the worker hears of its lease": Point("after", "put", "lease/"),
    "while a result comes in": Point("before", "put", "blob/results/"),
    "before a plan's answer": Point("after", "put", "expand/"),
    "after children are made": Point("after", "delete", "expand/"),
    "between a table and its history": Point("after", "put", "mirrors/"),
    "in the middle of a history": Point("after", "put", "snapshot/"),
    "between a table and its result": Point("before", "put", "result/", 2),
    "before a snapshot's finalization": Point("after", "put", FINALIZATION),
    "before a snapshot is published": Point("before", "put", "final/"),
    "after a snapshot is published": Point("after", "put", "final/"),
    "after a run has ended": Point("after", "put", "finished/"),
}
TWINS = {
    "before a run exists": Point("before", "put", "roots/"),
    "before a job is handed out": Point("before", "put", "lease/"),
    "before a plan is written": Point("before", "put", "blob/plans/"),
    "before a plan is accepted": Point("before", "put", "expand/"),
    "before children are made": Point("before", "delete", "expand/"),
    "before a table is made": Point("before", "put", "mirrors/"),
    "before a table's answer": Point("after", "put", "result/", 2),
    "before a snapshot is captured": Point("before", "put", FINALIZATION),
    "before a run ends": Point("before", "put", "finished/"),
}
"""The other side of commits above: mostly as if nothing had been begun."""
if SOAK:
    POINTS |= TWINS


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake(tmp_path)
    for name in ("sales.orders", "sales.items", "ops.jobs"):
        lake.add(name, snapshots=2)
    return lake


@pytest.fixture
def place(lake: Lake, tmp_path: Path, unused_port: int) -> ServicePlace:
    return ServicePlace(tmp_path, unused_port, lake, tmp_path / "service.log")


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS.values(), ids=POINTS)
def test_a_service_killed_at_any_point_goes_on_from_there(
    point: Point, place: ServicePlace, lake: Lake, tmp_path: Path
) -> None:
    environment = worker_environment(lake, tmp_path, reconciler_job_store_lease_ms="2000")
    with place.running(dies_at=point) as doomed:
        with place.connected() as clients:
            connector = create_connector(clients, lake).resource_id
            with suppress(FloecatError):  # it may die of this very call
                start_run(clients, connector, key="run")
        with worker_process(place, environment, tmp_path / "worker.log"):
            eventually(lambda: doomed.poll() is not None, f"it dies {point}")
            assert doomed.returncode == -signal.SIGKILL
            with place.running(), place.connected() as clients:
                ended = ended_run(clients, start_run(clients, connector, key="run"))
    check_complete(ended)
    assert ended.counters.stats_processed == 6, "each snapshot was published once"
    assert ended.counters.files_completed == 9, "nothing was counted twice"
    found = check_exact(tmp_path, lake)
    assert found.generations == {1}
    assert found.runs == 1


def check_complete(ended: messages.ReconcileJob) -> None:
    assert ended.state == messages.RJS_SUCCEEDED, ended
    assert not ended.degraded, ended.failures


CANCELLATIONS = {"between some parts and others": Point("after", "put", "cancel/", 2)}
if SOAK:
    CANCELLATIONS |= {
        "before a run is cancelled": Point("before", "put", "cancel/"),
        "before the parts of a run are told": Point("after", "put", "cancel/"),
        "before the last part is told": Point("before", "delete", "cancel/"),
    }


@pytest.mark.slow
@pytest.mark.parametrize("point", CANCELLATIONS.values(), ids=CANCELLATIONS)
def test_a_service_killed_while_it_cancels_goes_on_cancelling(
    point: Point, place: ServicePlace, lake: Lake, tmp_path: Path
) -> None:
    lake.copy("sales.orders", [f"copies.t{number}" for number in range(12)])
    nobody_captures = {"reconciler_executor_remote_file_group_enabled": "false"}
    environment = worker_environment(lake, tmp_path, **nobody_captures)
    with place.running(dies_at=point) as doomed, place.connected() as clients:
        run = start_run(clients, create_connector(clients, lake).resource_id)
        with worker_process(place, environment, tmp_path / "worker.log"):
            planned = {messages.RJS_WAITING: 15}
            eventually(lambda: states_below(clients, run) == planned, "all tables are planned")
        request = messages.CancelReconcileJobRequest(job_id=run)
        with suppress(FloecatError):  # it may die of this very call
            clients.reconcile.CancelReconcileJob(request)
        eventually(lambda: doomed.poll() is not None, f"it dies {point}")
    with place.running(), place.connected() as clients:
        clients.reconcile.CancelReconcileJob(request)
        cancelled = {messages.RJS_CANCELLED: 15}
        eventually(lambda: states_below(clients, run) == cancelled, "all parts are told")
        eventually(lambda: not left_behind(tmp_path), "nothing is left to do")
    assert not inconsistencies(tmp_path)


def states_below(clients: floecat.GrpcClients, run: ResourceId) -> dict[int, int]:
    request = messages.ListReconcileJobsRequest(parent_job_id=run)
    return Counter(job.state for job in clients.reconcile.ListReconcileJobs(request).jobs)


def left_behind(folder: Path) -> list[str]:
    """What is still to do; that nothing may run any more is remembered as long as the run."""
    return [row for row in aftermath(folder).left_behind if not row.startswith("gate/")]


@pytest.mark.slow
@pytest.mark.skipif(not SOAK, reason="takes minutes: make soak")
def test_services_and_workers_killed_at_random(
    place: ServicePlace, lake: Lake, tmp_path: Path
) -> None:
    lake.copy("sales.orders", [f"copies.t{number:03}" for number in range(297)])
    environment = worker_environment(lake, tmp_path, reconciler_job_store_lease_ms="2000")
    chance = Random(int(os.environ.get("SEED", "1")))
    runs = 0
    with ExitStack() as stack:
        victims = [
            Victim(stack.enter_context(ExitStack()), place.running),
            *(
                Victim(
                    stack.enter_context(ExitStack()),
                    partial(worker_process, place, environment, tmp_path / f"{name}.log"),
                )
                for name in ("one", "two")
            ),
        ]
        for victim in victims:
            victim.start()
        with place.connected() as clients:
            connector = create_connector(clients, lake).resource_id
        while sum(victim.deaths for victim in victims) < KILLS:
            runs += 1
            _run_under_fire(place, connector, f"run {runs}", victims, chance)
    deaths = [victim.deaths for victim in victims]
    print(f"{sum(deaths)} kills ({deaths[0]} of the service) in {runs} runs")
    assert check_exact(tmp_path, lake).runs == runs


@dataclass
class Victim:
    """A process that is replaced whenever it is killed."""

    held: ExitStack
    make: Callable[[], AbstractContextManager[subprocess.Popen[bytes]]]
    deaths: int = 0

    def start(self) -> None:
        self.held.enter_context(self.make())

    def kill(self) -> None:
        self.held.close()
        self.deaths += 1
        self.start()


def _run_under_fire(
    place: ServicePlace, connector: ResourceId, key: str, victims: list[Victim], chance: Random
) -> None:
    """A whole run; whenever somebody looks at it, somebody is killed."""

    def shoot() -> None:
        time.sleep(chance.uniform(0, 2))
        if sum(victim.deaths for victim in victims) < KILLS:
            chance.choice(victims).kill()

    with place.connected() as clients:
        job_id = start_run(clients, connector, key=key)
        check_complete(ended_run(clients, job_id, seconds=1800, meanwhile=shoot))
