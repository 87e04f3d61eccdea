"""A control plane that does as a test says: real gRPC, no queue, every fault there is."""

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NoReturn

import grpc
from google.protobuf.message import Message
from tests.support.waiting import PATIENCE_SECONDS

import floecat
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.reconciler import executor_control_pb2 as messages
from ai.floedb.floecat.reconciler import reconciler_pb2
from ai.floedb.floecat.reconciler.executor_control_pb2 import JobLease, LeasedReconcileJob
from ai.floedb.floecat.reconciler.executor_control_pb2_grpc import (
    ReconcileExecutorControlServicer,
    add_ReconcileExecutorControlServicer_to_server,
)
from floecat.errors import FloecatError
from floecat.service.status import status_of
from floecat.worker.control import ControlPlane
from floecat.worker.errors import ControlPlaneAwayError, LeaseLostError
from floecat.worker.work import Kind

SUBMITTED = {
    "SubmitLeasedPlanConnectorResult": messages.SubmitLeasedPlanConnectorResultResponse,
    "SubmitLeasedPlanTableResult": messages.SubmitLeasedPlanTableResultResponse,
    "SubmitLeasedPlanViewResult": messages.SubmitLeasedPlanViewResultResponse,
    "SubmitLeasedPlanSnapshotResult": messages.SubmitLeasedPlanSnapshotResultResponse,
    "SubmitLeasedFileGroupExecutionResult": messages.SubmitLeasedFileGroupExecutionResultResponse,
}


@dataclass
class Received:
    """A result that came in."""

    method: str
    requests: list[Any]

    @property
    def closing(self) -> Any:
        return self.requests[-1]

    @property
    def chunks(self) -> list[Any]:
        return [request.chunk for request in self.requests[:-1]]


@dataclass
class Script:
    """What happens, and what happened."""

    jobs: deque[LeasedReconcileJob] = field(default_factory=deque)
    inputs: dict[str, Message] = field(default_factory=dict)
    lease: timedelta = timedelta(seconds=30)
    calls: Counter[str] = field(default_factory=Counter)
    asked: list[messages.LeaseReconcileJobRequest] = field(default_factory=list)
    results: list[Received] = field(default_factory=list)
    completed: list[messages.CompleteLeasedReconcileJobRequest] = field(default_factory=list)
    reports: list[messages.ReportReconcileJobProgressRequest] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    lost: set[str] = field(default_factory=set)
    cancelled: set[str] = field(default_factory=set)
    away: Counter[str] = field(default_factory=Counter)
    """How many calls of a method nobody answers; `*` means any."""
    unheard: Counter[str] = field(default_factory=Counter)
    """How many answers of a method are lost on their way."""
    poll_after: timedelta | None = None
    changed: threading.Condition = field(default_factory=threading.Condition)

    def add(self, kind: Kind, answer: Message, **more: Any) -> str:
        """A job, and what its worker gets to know; its id."""
        identifier = f"job{len(self.inputs)}"
        job_id = ResourceId(account_id="a", id=identifier, kind=common_pb2.RK_RECONCILE_JOB)
        job = LeasedReconcileJob(
            lease=JobLease(job_id=job_id, epoch=7), kind=kind, attempt=1, **more
        )
        with self.changed:
            self.inputs[identifier] = answer
            self.jobs.append(job)
        return identifier

    def wait_for(self, condition: Callable[[], Any], what: str) -> None:
        """Until something has happened; `what` says what."""
        with self.changed:
            happened = self.changed.wait_for(condition, PATIENCE_SECONDS)
            assert happened, f"waited {PATIENCE_SECONDS} s for {what}; there were {self.calls}"


class ScriptedControlPlane:
    """Serves a script."""

    def __init__(self, script: Script) -> None:
        self._script = script
        for name in SUBMITTED:
            setattr(self, name, self._submitting(name))
        for name in dir(ReconcileExecutorControlServicer):
            if name.startswith("GetLeased"):
                setattr(self, name, self._giving(name))
        for name in ("StartLeasedReconcileJob", "RenewReconcileJobLease"):
            setattr(self, name, self._beating(name))
        self.LeaseReconcileJob = self._lease
        self.ReportReconcileJobProgress = self._report
        self.CompleteLeasedReconcileJob = self._complete
        self.GetReconcileJobCancellation = None

    def _lease(self, request: Any, context: Any) -> Any:
        with self._call("LeaseReconcileJob", context) as script:
            script.asked.append(request)
            kinds = set(request.job_kinds)
            job = next((job for job in script.jobs if job.kind in kinds), None)
            if job is None:
                response = messages.LeaseReconcileJobResponse()
                if script.poll_after is not None:
                    response.poll_after.FromTimedelta(script.poll_after)
                return response
            script.jobs.remove(job)
            response = messages.LeaseReconcileJobResponse(job=job)
            self._put_expiry(response.job)
            return response

    def _beating(self, name: str) -> Callable[[Any, Any], Any]:
        return lambda request, context: self._beat(name, request, context)

    def _report(self, request: Any, context: Any) -> Any:
        self._script.reports.append(request)
        return self._beat("ReportReconcileJobProgress", request, context)

    def _complete(self, request: Any, context: Any) -> Any:
        with self._call("CompleteLeasedReconcileJob", context, request.lease) as script:
            script.completed.append(request)
            return messages.CompleteLeasedReconcileJobResponse(state=reconciler_pb2.RJS_FAILED)

    def _giving(self, name: str) -> Callable[[Any, Any], Any]:
        def give(request: Any, context: Any) -> Any:
            with self._call(name, context, request.lease) as script:
                return script.inputs[request.lease.job_id.id]

        return give

    def _submitting(self, name: str) -> Callable[[Any, Any], Any]:
        def submit(requests: Any, context: Any) -> Any:
            received = Received(name, list(requests))
            with self._call(name, context, received.requests[0].lease) as script:
                script.results.append(received)
                return SUBMITTED[name](state=reconciler_pb2.RJS_SUCCEEDED)

        return submit

    def _beat(self, name: str, request: Any, context: Any) -> Any:
        with self._call(name, context, request.lease) as script:
            response = getattr(messages, f"{name}Response")()
            self._put_expiry(response)
            response.cancel_requested = request.lease.job_id.id in script.cancelled
            return response

    def _put_expiry(self, message: Any) -> None:
        message.lease_expires_at.GetCurrentTime()
        seconds = self._script.lease.total_seconds()
        message.lease_expires_at.FromNanoseconds(
            message.lease_expires_at.ToNanoseconds() + int(seconds * 1e9)
        )

    @contextmanager
    def _call(self, name: str, context: Any, lease: JobLease | None = None) -> Iterator[Script]:
        script = self._script
        with script.changed:
            script.calls[name] += 1
            script.order.append(name)
            script.changed.notify_all()
            if _taken(script.away, name) or _taken(script.away, "*"):
                _abort(context, ControlPlaneAwayError("nobody is there"))
            if lease is not None and lease.job_id.id in script.lost:
                _abort(context, LeaseLostError("the lease is over"))
            yield script
            script.changed.notify_all()
            if _taken(script.unheard, name):
                _abort(context, ControlPlaneAwayError("the answer was lost"))


def _taken(counter: Counter[str], name: str) -> bool:
    if counter[name] <= 0:
        return False
    counter[name] -= 1
    return True


def _abort(context: Any, error: FloecatError) -> NoReturn:
    context.abort_with_status(status_of(error, "test"))
    raise AssertionError("abort raises")


@contextmanager
def serving_script(script: Script) -> Iterator[ControlPlane]:
    """A running control plane, as a worker sees it."""
    with serving_at(script) as address, floecat.connect(address) as clients:
        yield ControlPlane(clients.executor)


@contextmanager
def serving_at(script: Script, port: int = 0) -> Iterator[str]:
    """A running control plane; where it listens."""
    server = grpc.server(ThreadPoolExecutor(8))
    servicer: Any = ScriptedControlPlane(script)
    add_ReconcileExecutorControlServicer_to_server(servicer, server)
    found = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    try:
        yield f"127.0.0.1:{found}"
    finally:
        server.stop(0).wait()
