"""LeasedWork: one job while this worker has it, and whether it still has."""

import threading
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, TypeAlias
from uuid import uuid4

import structlog

from ai.floedb.floecat.reconciler.executor_control_pb2 import JobLease, LeasedReconcileJob
from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileCounters, ReconcileJobKind
from floecat.worker.errors import (
    LeaseLostError,
    WorkCancelledError,
    WorkEndedError,
    WorkHandedBackError,
)

Kind: TypeAlias = ReconcileJobKind.ValueType

_LOG: Final = structlog.get_logger(log="floecat.worker")


class _End(Enum):
    """Why work has to end; what comes first counts."""

    LOST = "the lease is over"
    CANCELLED = "the job was cancelled"
    HANDED_BACK = "the worker is stopping"


_ERRORS: Final[dict[_End, type[WorkEndedError]]] = {
    _End.LOST: LeaseLostError,
    _End.CANCELLED: WorkCancelledError,
    _End.HANDED_BACK: WorkHandedBackError,
}


@dataclass(frozen=True, slots=True)
class News:
    """What a job is doing, for people."""

    message: str
    counters: ReconcileCounters


class LeasedWork:
    """Executors look at it between steps; heartbeats, and whoever stops the worker, write to it."""

    def __init__(self, job: LeasedReconcileJob) -> None:
        self.job = job
        self.correlation_id = uuid4().hex
        self.log = _LOG.bind(
            job=job.lease.job_id.id,
            kind=ReconcileJobKind.Name(job.kind),
            epoch=job.lease.epoch,
            correlation_id=self.correlation_id,
        )
        self._lock = threading.Lock()
        self._end: _End | None = None
        self._news: News | None = None

    @property
    def lease(self) -> JobLease:
        """What every call about the job carries."""
        return self.job.lease

    def result_id(self, outcome: str, *, plan: str = "", group: str = "") -> str:
        """The same for the same result, so that sending it twice does nothing twice."""
        job = self.lease.job_id.id
        return f"{job}:{plan}:{group}:{self.lease.epoch}:{outcome}"

    def lose(self) -> None:
        """The lease is over."""
        self._end_with(_End.LOST)

    def cancel(self) -> None:
        """The job isn't wanted any more."""
        self._end_with(_End.CANCELLED)

    def hand_back(self) -> None:
        """The worker is stopping."""
        self._end_with(_End.HANDED_BACK)

    @property
    def is_live(self) -> bool:
        """Whether to go on."""
        return self._end is None

    def require_live(self) -> None:
        """Raise a `WorkEndedError` if the work has to end."""
        end = self._end
        if end is not None:
            raise _ERRORS[end](end.value)

    def step(self, event: str, **facts: Any) -> None:
        """A step is done: write it down, and see whether to take the next."""
        self.log.debug(event, **facts)
        self.require_live()

    def tell(self, message: str, counters: ReconcileCounters | None = None) -> None:
        """Say what the job is doing. Sent along with the next heartbeat; the newest word counts."""
        self._news = News(message, counters or ReconcileCounters())

    def take_news(self) -> News | None:
        """What wasn't sent yet."""
        with self._lock:
            news, self._news = self._news, None
        return news

    @property
    def has_news(self) -> bool:
        """Whether there is something to send."""
        return self._news is not None

    def _end_with(self, end: _End) -> None:
        with self._lock:
            # A lost lease outweighs everything: after it, nothing may be said about the job.
            if self._end is None or end is _End.LOST:
                self._end = end
