"""ControlPlane: the calls of a worker, and what their failures mean to it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol, TypeVar

from google.protobuf.timestamp_pb2 import Timestamp

from ai.floedb.floecat.reconciler import executor_control_pb2 as messages
from ai.floedb.floecat.reconciler.executor_control_pb2_grpc import ReconcileExecutorControlStub
from floecat.clock import Clock, utc_now
from floecat.errors import ErrorCode, FloecatError
from floecat.worker.errors import ControlPlaneAwayError, LeaseLostError
from floecat.worker.work import Kind, LeasedWork, News

Response = TypeVar("Response")

_LEASE_LOST: Final = "LEASE_LOST"
_AWAY: Final = frozenset(
    {
        ErrorCode.UNAVAILABLE,
        ErrorCode.DEADLINE_EXCEEDED,
        ErrorCode.RESOURCE_EXHAUSTED,
        ErrorCode.ABORTED,
        ErrorCode.CANCELLED,
        ErrorCode.INTERNAL,
    }
)
_SHORT: Final = timedelta(seconds=5)
"""For calls whose answer is worth nothing when it comes late."""
_LONG: Final = timedelta(minutes=10)


class _Leased(Protocol):
    @property
    def lease_expires_at(self) -> Timestamp: ...

    @property
    def cancel_requested(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Beat:
    """What the control plane says when it is told that a worker lives."""

    lasts: timedelta
    cancel_requested: bool


class ControlPlane:
    """One control plane. Safe to share between threads.

    Raises `LeaseLostError`, `ControlPlaneAwayError`, and for anything else the service's own error.
    """

    def __init__(self, stub: ReconcileExecutorControlStub, clock: Clock = utc_now) -> None:
        self.stub = stub
        self._clock = clock

    def lease(
        self, worker_id: str, executor_ids: Sequence[str], kinds: Sequence[Kind]
    ) -> messages.LeaseReconcileJobResponse:
        """The next job, or when to ask again."""
        request = messages.LeaseReconcileJobRequest(
            executor_id=worker_id, executor_ids=executor_ids, job_kinds=kinds
        )
        with _answered():
            return self.stub.LeaseReconcileJob(request, timeout=_SHORT.total_seconds())

    def start(self, work: LeasedWork) -> Beat:
        """Say that work begins."""
        request = messages.StartLeasedReconcileJobRequest(lease=work.lease)
        return self._beat(self.ask(work, self.stub.StartLeasedReconcileJob, request))

    def renew(self, work: LeasedWork) -> Beat:
        """Extend the lease."""
        request = messages.RenewReconcileJobLeaseRequest(lease=work.lease)
        return self._beat(self.ask(work, self.stub.RenewReconcileJobLease, request))

    def report(self, work: LeasedWork, news: News) -> Beat:
        """Extend the lease, and tell people how the job goes."""
        request = messages.ReportReconcileJobProgressRequest(
            lease=work.lease, message=news.message, counters=news.counters
        )
        return self._beat(self.ask(work, self.stub.ReportReconcileJobProgress, request))

    def complete(
        self, work: LeasedWork, request: messages.CompleteLeasedReconcileJobRequest
    ) -> messages.CompleteLeasedReconcileJobResponse:
        """End the lease without a result."""
        return self.ask(work, self.stub.CompleteLeasedReconcileJob, request)

    def ask(self, work: LeasedWork, method: Callable[..., Response], request: object) -> Response:
        """A call about a job, found again in the service's log by the job's correlation id."""
        with _answered():
            return method(request, timeout=_SHORT.total_seconds(), metadata=_metadata(work))

    def fetch(self, work: LeasedWork, method: Callable[..., Response], request: object) -> Response:
        """A job's input: the service may have to exchange credentials for it."""
        with _answered():
            return method(request, metadata=_metadata(work))

    def send(
        self, work: LeasedWork, method: Callable[..., Response], requests: Iterator[Any]
    ) -> Response:
        """A stream about a job."""
        with _answered():
            return method(requests, timeout=_LONG.total_seconds(), metadata=_metadata(work))

    def _beat(self, answer: _Leased) -> Beat:
        return Beat(self.lasts(answer.lease_expires_at), answer.cancel_requested)

    def lasts(self, expires_at: Timestamp) -> timedelta:
        """How long a lease lasts from now on, as far as two clocks agree."""
        now: datetime = self._clock()
        return expires_at.ToDatetime(UTC) - now


def _metadata(work: LeasedWork) -> tuple[tuple[str, str], ...]:
    return (("x-correlation-id", work.correlation_id),)


@contextmanager
def _answered() -> Iterator[None]:
    try:
        yield
    except FloecatError as error:
        if error.reason == _LEASE_LOST:
            raise LeaseLostError(error.message) from error
        if error.code in _AWAY:
            raise ControlPlaneAwayError(error.message, metadata=error.metadata) from error
        raise
