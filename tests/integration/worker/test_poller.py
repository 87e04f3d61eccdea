"""The poller: how much it takes on, how it waits, and how it stops."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs
from tests.support.connectors import opener
from tests.support.control_plane import Script
from tests.support.waiting import PATIENCE_SECONDS

from ai.floedb.floecat.reconciler import executor_control_pb2 as messages
from ai.floedb.floecat.reconciler import reconciler_pb2 as jobs
from floecat.worker.connections import OpenConnectors
from floecat.worker.control import ControlPlane
from floecat.worker.executors import Executors
from floecat.worker.heartbeats import Heartbeats
from floecat.worker.poller import PollerSettings, RemoteReconcileExecutorPoller
from floecat.worker.runner import JobRunner
from floecat.worker.submissions import Submission
from floecat.worker.work import Kind, LeasedWork

_Request = messages.SubmitLeasedFileGroupExecutionResultRequest
NOTHING = messages.GetLeasedFileGroupExecutionResponse()
GRACE = timedelta(seconds=20)


class GatedExecutor:
    """Works until a test lets it go on."""

    executor_id = "remote-file-group"
    kinds: frozenset[Kind] = frozenset({jobs.EXEC_FILE_GROUP, jobs.PLAN_TABLE})

    def __init__(self, control: ControlPlane) -> None:
        self._control = control
        self.gate = threading.Event()
        self.looks = True
        self.running = 0
        self.most = 0
        self.changed = threading.Condition()

    def execute(self, work: LeasedWork) -> Submission[Any]:
        with self.changed:
            self.running += 1
            self.most = max(self.most, self.running)
            self.changed.notify_all()
        try:
            while not self.gate.wait(0.01):
                if self.looks:
                    work.require_live()
        finally:
            with self.changed:
                self.running -= 1
                self.changed.notify_all()
        success = _Request.Success(result_id=work.result_id("success"))
        method = self._control.stub.SubmitLeasedFileGroupExecutionResult
        return Submission(method, (), _Request(lease=work.lease, success=success))

    def wait_for_running(self, number: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: self.running == number, PATIENCE_SECONDS), (
                f"waited {PATIENCE_SECONDS} s for {number} jobs to run, and {self.running} do"
            )


@pytest.fixture
def executor(control: ControlPlane) -> GatedExecutor:
    return GatedExecutor(control)


@contextmanager
def polling(
    control: ControlPlane, executor: GatedExecutor, **settings: Any
) -> Iterator[RemoteReconcileExecutorPoller]:
    heartbeats = Heartbeats(control, timedelta(seconds=30))
    connectors = OpenConnectors(opener())
    executors = Executors([executor])
    chosen = {"max_parallelism": 2, "poll_every": timedelta(milliseconds=20), **settings}
    poller = RemoteReconcileExecutorPoller(
        PollerSettings(worker_id="w1", **chosen),
        control,
        executors,
        JobRunner(control, executors, heartbeats),
        connectors,
    )
    thread = threading.Thread(target=poller.run)
    thread.start()
    try:
        yield poller
    finally:
        executor.gate.set()
        poller.stop(GRACE)
        thread.join(PATIENCE_SECONDS)
        heartbeats.stop()
    assert not thread.is_alive()


def test_no_more_is_leased_than_there_is_room_for(
    script: Script, control: ControlPlane, executor: GatedExecutor
) -> None:
    for _ in range(5):
        script.add(jobs.EXEC_FILE_GROUP, NOTHING)
    with polling(control, executor):
        executor.wait_for_running(2)
        script.wait_for(lambda: len(script.asked) >= 6, "six requests for work")
        assert len(script.jobs) == 3, "the others stay where another worker finds them"
        assert set(script.asked[-1].job_kinds) == {jobs.PLAN_TABLE}
        script.add(jobs.PLAN_TABLE, NOTHING)
        executor.wait_for_running(3)
        asked = len(script.asked)
        time.sleep(0.1)
        assert len(script.asked) == asked, "with every slot taken nobody is asked"
        executor.gate.set()
        script.wait_for(lambda: len(script.results) == 6, "six results")
    assert executor.most == 3


def test_work_is_asked_for_at_once_while_there_is_some(
    script: Script, control: ControlPlane, executor: GatedExecutor
) -> None:
    executor.gate.set()
    for _ in range(30):
        script.add(jobs.EXEC_FILE_GROUP, NOTHING)
    with polling(control, executor, poll_every=timedelta(hours=1)):
        script.wait_for(lambda: len(script.results) == 30, "thirty results")


def test_it_says_who_it_is_and_what_it_runs(
    script: Script, control: ControlPlane, executor: GatedExecutor
) -> None:
    with polling(control, executor):
        script.wait_for(lambda: script.asked, "a request for work")
    asked = script.asked[0]
    assert asked.executor_id == "w1"
    assert list(asked.executor_ids) == ["remote-file-group"]
    assert set(asked.job_kinds) == {jobs.EXEC_FILE_GROUP, jobs.PLAN_TABLE}


def test_the_service_says_when_to_ask_again(
    script: Script, control: ControlPlane, executor: GatedExecutor
) -> None:
    script.poll_after = timedelta(seconds=50)
    with polling(control, executor):
        script.wait_for(lambda: script.asked, "a request for work")
        time.sleep(0.2)
        assert len(script.asked) == 1


def test_a_service_that_is_away_is_mentioned_once(
    script: Script, control: ControlPlane, executor: GatedExecutor
) -> None:
    executor.gate.set()
    script.away["LeaseReconcileJob"] = 4
    script.add(jobs.EXEC_FILE_GROUP, NOTHING)
    with capture_logs() as logs, polling(control, executor):
        script.wait_for(lambda: script.results, "a result")
    events = [line["event"] for line in logs if line["event"].startswith("control plane")]
    assert events == ["control plane away", "control plane back"]


def test_a_stop_lets_jobs_finish(
    script: Script, control: ControlPlane, executor: GatedExecutor
) -> None:
    for _ in range(3):
        script.add(jobs.EXEC_FILE_GROUP, NOTHING)
    with polling(control, executor) as poller:
        executor.wait_for_running(2)
        threading.Timer(0.2, executor.gate.set).start()
        poller.stop(GRACE)
        assert len(script.results) == 2
        assert not script.completed
        assert len(script.jobs) == 1, "nothing new was begun"


@pytest.mark.parametrize("looks", [True, False])
def test_what_doesnt_finish_in_time_is_handed_back(
    script: Script, control: ControlPlane, executor: GatedExecutor, looks: bool
) -> None:
    executor.looks = looks
    script.add(jobs.EXEC_FILE_GROUP, NOTHING)
    with polling(control, executor) as poller:
        executor.wait_for_running(1)
        began = time.monotonic()
        poller.stop(timedelta(milliseconds=50))
        assert time.monotonic() - began < 10
        (done,) = script.completed
        assert done.WhichOneof("outcome") == "handed_back"
        script.lost.add(done.lease.job_id.id)  # as a control plane would have it
    assert len(script.completed) == 1
    assert not script.results


def test_a_job_that_nobody_here_can_run_fails(
    script: Script, control: ControlPlane, executor: GatedExecutor
) -> None:
    script.add(jobs.PLAN_TABLE, NOTHING, executor="remote-default")
    with polling(control, executor):
        script.wait_for(lambda: script.completed, "a job that is given up")
    assert "no executor" in script.completed[0].failure.message
