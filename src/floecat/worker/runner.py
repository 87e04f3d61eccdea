"""JobRunner: one leased job from its lease to its end."""

import time
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any, Final

from ai.floedb.floecat.reconciler.executor_control_pb2 import (
    CompleteLeasedReconcileJobRequest,
)
from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileJobState
from floecat.errors import FloecatError
from floecat.worker.backoff import Backoff
from floecat.worker.control import Beat, ControlPlane
from floecat.worker.errors import (
    ControlPlaneAwayError,
    LeaseLostError,
    WorkCancelledError,
    WorkHandedBackError,
)
from floecat.worker.executors import Executors
from floecat.worker.failures import failure_of, is_expected
from floecat.worker.heartbeats import Heartbeats
from floecat.worker.submissions import Accepted, Submission
from floecat.worker.work import LeasedWork

_PATIENCE: Final = timedelta(minutes=2)
"""How long a result is offered to a control plane that doesn't answer: it may be restarting."""


_START_PATIENCE: Final = timedelta(seconds=10)
"""How long to try to begin: the lease was given just now, and doesn't last much longer."""


class JobRunner:
    """Runs jobs. Whatever becomes of one, nothing is raised: the job's end says it."""

    def __init__(
        self,
        control: ControlPlane,
        executors: Executors,
        heartbeats: Heartbeats,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._control = control
        self._executors = executors
        self._heartbeats = heartbeats
        self._sleep = sleep

    def run(self, work: LeasedWork) -> None:
        """Do a job and settle it."""
        began = time.monotonic()
        try:
            ended = self._worked(work)
        except LeaseLostError as error:
            work.log.warning("lease lost", problem=error.message)
        except WorkCancelledError:
            self._complete(work, CompleteLeasedReconcileJobRequest(cancelled=True), "cancelled")
        except WorkHandedBackError:
            self.hand_back(work)
        except Exception as error:  # noqa: BLE001 - a job may fail in any way, the worker in none
            self._fail(work, error)
        else:
            seconds = round(time.monotonic() - began, 3)
            work.log.info("settled", state=ended, seconds=seconds)

    def hand_back(self, work: LeasedWork, patience: timedelta = _PATIENCE) -> None:
        """Give a job back, for another worker to begin anew."""
        request = CompleteLeasedReconcileJobRequest(handed_back=True)
        self._complete(work, request, "handed-back", patience)

    def _worked(self, work: LeasedWork) -> str:
        beat: Beat = self._patiently(work, lambda: self._control.start(work), _START_PATIENCE)
        if beat.cancel_requested:
            work.cancel()
        work.step("started", attempt=work.job.attempt)
        with (
            self._heartbeats.keeping(work, beat.lasts),
            self._executors.of(work.job).execute(work) as submission,
        ):
            work.step("submitting")
            accepted = self._submitted(work, submission)
        work.log.debug("submitted")
        return ReconcileJobState.Name(accepted.state)

    def _submitted(self, work: LeasedWork, submission: Submission[Any]) -> Accepted:
        """Send a result until it is answered. Sent twice, it still counts once."""

        def send() -> Accepted:
            requests = submission.requests(lambda: self._heartbeats.let_go(work))
            return self._control.send(work, submission.method, requests)

        accepted: Accepted = self._patiently(work, send, _PATIENCE)
        return accepted

    def _fail(self, work: LeasedWork, error: Exception) -> None:
        failure = failure_of(error, work.correlation_id)
        if is_expected(error):
            work.log.warning("failed", problem=failure.message)
        else:
            work.log.exception("failed", problem=failure.message, exc_info=error)
        self._complete(work, CompleteLeasedReconcileJobRequest(failure=failure), "failure")

    def _complete(
        self,
        work: LeasedWork,
        request: CompleteLeasedReconcileJobRequest,
        outcome: str,
        patience: timedelta = _PATIENCE,
    ) -> None:
        """Say how it ended. If that can't be said, the lease runs out, which says it too."""
        request.lease.CopyFrom(work.lease)
        request.result_id = work.result_id(outcome)
        try:
            answer = self._patiently(work, lambda: self._control.complete(work, request), patience)
        except LeaseLostError:
            work.log.warning("lease lost", outcome=outcome)
        except FloecatError as error:
            work.log.warning("not settled", outcome=outcome, problem=error.message)
        else:
            state = ReconcileJobState.Name(answer.state)
            work.log.info("settled", outcome=outcome, state=state)

    def _patiently(self, work: LeasedWork, call: Callable[[], Any], patience: timedelta) -> Any:
        until = time.monotonic() + patience.total_seconds()
        backoff = Backoff()
        for attempt in count(1):
            try:
                return call()
            except ControlPlaneAwayError as error:
                wait = backoff.next_wait().total_seconds()
                if time.monotonic() + wait > until:
                    raise
                work.log.debug("unanswered", attempt=attempt, problem=error.message)
                self._sleep(wait)
        raise AssertionError("the last attempt returns or raises")
