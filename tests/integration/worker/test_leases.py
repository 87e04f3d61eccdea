"""What a worker does with its lease: keeps it, loses it, gives it back; and what it never does."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs
from tests.support.control_plane import Script, serving_at
from tests.support.waiting import PATIENCE_SECONDS

import floecat
from ai.floedb.floecat.reconciler import executor_control_pb2 as messages
from ai.floedb.floecat.reconciler import reconciler_pb2 as jobs
from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileCounters
from floecat.connectors.spi.errors import TransientUpstreamError
from floecat.worker.control import ControlPlane
from floecat.worker.executors import Executors
from floecat.worker.heartbeats import Heartbeats
from floecat.worker.runner import JobRunner
from floecat.worker.submissions import Submission
from floecat.worker.work import Kind, LeasedWork

_Request = messages.SubmitLeasedPlanViewResultRequest
NOTHING = messages.GetLeasedPlanViewInputResponse()
SHORT = timedelta(seconds=1)
Step = Callable[[LeasedWork], object]


class SteppingExecutor:
    """Takes the test's steps, then submits."""

    executor_id = "remote-default"
    kinds: frozenset[Kind] = frozenset({jobs.PLAN_VIEW})

    def __init__(self, control: ControlPlane, step: Step) -> None:
        self._control = control
        self._step = step

    def execute(self, work: LeasedWork) -> Submission[Any]:
        self._step(work)
        chunk = messages.PlanViewChunk()
        success = messages.PlanResultSummary(result_id=work.result_id("success"))
        return Submission(
            self._control.stub.SubmitLeasedPlanViewResult,
            (_Request(lease=work.lease, chunk=chunk),),
            _Request(lease=work.lease, success=success),
        )


@contextmanager
def running(control: ControlPlane, script: Script, step: Step) -> Iterator[LeasedWork]:
    """A job in a thread of its own."""
    heartbeats = Heartbeats(control, script.lease)
    runner = JobRunner(control, Executors([SteppingExecutor(control, step)]), heartbeats)
    script.add(jobs.PLAN_VIEW, NOTHING)
    work = LeasedWork(script.jobs.popleft())
    thread = threading.Thread(target=runner.run, args=(work,))
    thread.start()
    try:
        yield work
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()
    finally:
        heartbeats.stop()


def until_ended(work: LeasedWork) -> None:
    """Work that goes on until it is told not to."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        work.require_live()
        time.sleep(0.01)
    raise AssertionError("nobody told it to end")


def test_a_lease_is_renewed_while_the_work_goes_on(script: Script, control: ControlPlane) -> None:
    script.lease = SHORT

    def step(work: LeasedWork) -> None:
        script.wait_for(lambda: script.calls["RenewReconcileJobLease"] >= 4, "renewals")
        work.require_live()

    with running(control, script, step):
        pass
    assert len(script.results) == 1
    after = script.order[script.order.index("SubmitLeasedPlanViewResult") :]
    assert after == ["SubmitLeasedPlanViewResult"], "nothing is confirmed after the result"


def test_short_work_needs_no_heartbeat(script: Script, control: ControlPlane) -> None:
    with running(control, script, lambda work: None):
        pass
    assert script.order == ["StartLeasedReconcileJob", "SubmitLeasedPlanViewResult"]


def test_who_has_lost_the_lease_says_no_more(script: Script, control: ControlPlane) -> None:
    script.lease = SHORT
    with running(control, script, until_ended) as work:
        script.wait_for(lambda: script.calls["StartLeasedReconcileJob"], "the job's start")
        script.lost.add(work.lease.job_id.id)
    assert not script.results
    assert not script.completed
    assert not work.is_live


def test_a_heartbeat_that_isnt_answered_is_repeated(script: Script, control: ControlPlane) -> None:
    script.lease = SHORT
    script.away["RenewReconcileJobLease"] = 2

    def step(work: LeasedWork) -> None:
        script.wait_for(lambda: script.calls["RenewReconcileJobLease"] >= 4, "renewals")

    with running(control, script, step):
        pass
    assert len(script.results) == 1


def test_without_an_answer_for_a_whole_lease_it_is_lost(
    script: Script, control: ControlPlane
) -> None:
    script.lease = SHORT
    script.away["RenewReconcileJobLease"] = 10**6
    began = time.monotonic()
    with running(control, script, until_ended):
        pass
    assert time.monotonic() - began < 10
    assert not script.results


def test_a_cancelled_job_ends_and_says_so(script: Script, control: ControlPlane) -> None:
    script.lease = SHORT
    with running(control, script, until_ended) as work:
        script.wait_for(lambda: script.calls["StartLeasedReconcileJob"], "the job's start")
        script.cancelled.add(work.lease.job_id.id)
    assert [done.WhichOneof("outcome") for done in script.completed] == ["cancelled"]
    assert script.completed[0].result_id == "job0:::7:cancelled"


def test_progress_is_reported_with_the_newest_word(script: Script, control: ControlPlane) -> None:
    def step(work: LeasedWork) -> None:
        for files in range(100):
            work.tell(f"{files} files", ReconcileCounters(files_completed=files))
        script.wait_for(lambda: script.reports, "a report")

    with running(control, script, step):
        pass
    assert [report.message for report in script.reports] == ["99 files"]
    assert script.reports[0].counters.files_completed == 99


@pytest.mark.parametrize("fault", ["away", "unheard"])
def test_a_result_is_sent_until_it_is_answered(
    script: Script, control: ControlPlane, fault: str
) -> None:
    getattr(script, fault)["SubmitLeasedPlanViewResult"] = 3
    with running(control, script, lambda work: None):
        pass
    sent = [received.requests for received in script.results]
    assert len(sent) == (1 if fault == "away" else 4)
    assert all(requests == sent[0] for requests in sent), "the same each time"


def test_a_result_that_comes_too_late_is_dropped(script: Script, control: ControlPlane) -> None:
    def step(work: LeasedWork) -> None:
        script.lost.add(work.lease.job_id.id)

    with capture_logs() as logs, running(control, script, step):
        pass
    assert not script.completed
    assert [line["event"] for line in logs][-1] == "lease lost"


def test_a_failure_is_said_even_if_nobody_listens_at_first(
    script: Script, control: ControlPlane
) -> None:
    def step(work: LeasedWork) -> None:
        raise TransientUpstreamError("busy", retry_after=timedelta(seconds=9))

    script.away["CompleteLeasedReconcileJob"] = 2
    with running(control, script, step):
        pass
    (done,) = script.completed
    assert done.failure.failure_class == messages.FCL_RETRYABLE
    assert done.failure.retry_after.seconds == 9


def test_what_nobody_expected_is_in_the_log_only(script: Script, control: ControlPlane) -> None:
    def step(work: LeasedWork) -> None:
        raise ZeroDivisionError("password=hunter2")

    with capture_logs() as logs, running(control, script, step) as work:
        pass
    (done,) = script.completed
    assert "hunter2" not in done.failure.message
    assert work.correlation_id in done.failure.message
    (line,) = [line for line in logs if line["event"] == "failed"]
    assert isinstance(line["exc_info"], ZeroDivisionError)
    assert line["correlation_id"] == work.correlation_id


def test_steps_are_written_down(script: Script, control: ControlPlane) -> None:
    with capture_logs() as logs, running(control, script, lambda work: work.step("described")):
        pass
    events = [line["event"] for line in logs]
    assert events == ["started", "described", "submitting", "submitted", "settled"]
    assert {line["job"] for line in logs} == {"job0"}


def test_a_result_waits_for_a_service_that_restarts(script: Script, unused_port: int) -> None:
    restarted = threading.Event()

    def step(work: LeasedWork) -> None:
        restarted.wait(PATIENCE_SECONDS)

    with floecat.connect(f"127.0.0.1:{unused_port}") as clients:
        control = ControlPlane(clients.executor)
        with serving_at(script, unused_port):
            context = running(control, script, step)
            context.__enter__()
            script.wait_for(lambda: script.calls["StartLeasedReconcileJob"], "the job's start")
        restarted.set()
        time.sleep(0.3)  # the first attempts find nobody
        with serving_at(script, unused_port):
            context.__exit__(None, None, None)
    assert len(script.results) == 1
