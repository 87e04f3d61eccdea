"""Watching a run until it ends: asked now and then, shown by whatever view fits the output."""

import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from ai.floedb.floecat.common.common_pb2 import PageRequest, ResourceId
from ai.floedb.floecat.reconciler import reconciler_pb2
from ai.floedb.floecat.reconciler.reconciler_pb2 import (
    GetReconcileJobRequest,
    ListReconcileJobsRequest,
    ReconcileCounters,
    ReconcileJob,
)
from floecat.cli.run_texts import ENDED

if TYPE_CHECKING:
    from floecat.client.clients import GrpcClients

_ACTIVE: Final = (
    reconciler_pb2.RJS_RUNNING,
    reconciler_pb2.RJS_WAITING,
    reconciler_pb2.RJS_CANCELLING,
)
_SHOWN: Final = 12
"""Parts of a run that are shown at once."""
_WINDOW_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class Progress:
    """A run at one moment."""

    job: ReconcileJob
    active: list[ReconcileJob]
    """Parts that are being worked on."""
    done: int
    total: int
    files_done: int
    files_total: int
    per_second: float | None
    """Jobs that end in a second, lately; None as long as nobody knows."""

    @property
    def seconds_left(self) -> float | None:
        """A guess from what happened lately. Parts that aren't planned yet aren't in it."""
        if not self.per_second or self.done >= self.total:
            return None
        return (self.total - self.done) / self.per_second


class View(Protocol):
    """Shows progress."""

    def show(self, progress: Progress) -> None: ...
    def close(self) -> None: ...


@dataclass
class Pace:
    """How fast things went lately."""

    seen: deque[tuple[float, int]] = field(default_factory=deque)

    def per_second(self, done: int) -> float | None:
        """Take note of how many are done; how many that is in a second."""
        now = time.monotonic()
        self.seen.append((now, done))
        while now - self.seen[0][0] > _WINDOW_SECONDS:
            self.seen.popleft()
        then, before = self.seen[0]
        return (done - before) / (now - then) if now > then and done > before else None


def watch(
    clients: "GrpcClients", job_id: ResourceId, view: View, every: float = 0.5
) -> ReconcileJob:
    """Show a run until it has ended; how it ended."""
    pace = Pace()
    try:
        while True:
            request = GetReconcileJobRequest(job_id=job_id)
            job = clients.reconcile.GetReconcileJob(request).job
            view.show(_progress(clients, job, pace))
            if job.state in ENDED:
                return job
            time.sleep(every)
    finally:
        view.close()


def _progress(clients: "GrpcClients", job: ReconcileJob, pace: Pace) -> Progress:
    counters: ReconcileCounters = job.counters
    ended = counters.jobs_failed + counters.jobs_cancelled
    done = counters.jobs_succeeded + counters.jobs_skipped + ended
    return Progress(
        job=job,
        active=[] if job.state in ENDED else _active(clients, job.job_id),
        done=done,
        total=counters.jobs_total,
        files_done=counters.files_completed + counters.files_reused,
        files_total=counters.files_total,
        per_second=pace.per_second(done),
    )


def _active(clients: "GrpcClients", job_id: ResourceId) -> list[ReconcileJob]:
    request = ListReconcileJobsRequest(
        parent_job_id=job_id, states=_ACTIVE, page=PageRequest(page_size=_SHOWN)
    )
    return list(clients.reconcile.ListReconcileJobs(request).jobs)
