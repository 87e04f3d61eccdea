"""Watching a run until it ends: asked now and then, shown by whatever view fits the output."""

import time
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
from floecat.cli.counter_texts import files_done
from floecat.cli.pace import Pace
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
    seconds_left: float | None
    """A guess from what happened lately; None as long as nobody knows."""


class View(Protocol):
    """Shows progress."""

    def show(self, progress: Progress) -> None: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class _Paces:
    """How fast a run goes. Most of its time goes into files, if it reads some."""

    jobs: Pace = field(default_factory=Pace)
    files: Pace = field(default_factory=Pace)


def watch(
    clients: "GrpcClients", job_id: ResourceId, view: View, every: float = 0.5
) -> ReconcileJob:
    """Show a run until it has ended; how it ended."""
    paces = _Paces()
    try:
        while True:
            request = GetReconcileJobRequest(job_id=job_id)
            job = clients.reconcile.GetReconcileJob(request).job
            view.show(_progress(clients, job, paces))
            if job.state in ENDED:
                return job
            time.sleep(every)
    finally:
        view.close()


def _progress(clients: "GrpcClients", job: ReconcileJob, paces: _Paces) -> Progress:
    counters: ReconcileCounters = job.counters
    ended = counters.jobs_failed + counters.jobs_cancelled
    done = counters.jobs_succeeded + counters.jobs_skipped + ended
    files_left = counters.files_total - files_done(counters)
    paces.jobs.see(done, counters.jobs_total - done)
    paces.files.see(counters.files_completed + counters.files_failed, files_left)
    return Progress(
        job=job,
        active=[] if job.state in ENDED else _active(clients, job.job_id),
        done=done,
        total=counters.jobs_total,
        files_done=files_done(counters),
        files_total=counters.files_total,
        per_second=paces.jobs.per_second(),
        seconds_left=(paces.files if files_left > 0 else paces.jobs).seconds_left(),
    )


def _active(clients: "GrpcClients", job_id: ResourceId) -> list[ReconcileJob]:
    request = ListReconcileJobsRequest(
        parent_job_id=job_id, states=_ACTIVE, page=PageRequest(page_size=_SHOWN)
    )
    return list(clients.reconcile.ListReconcileJobs(request).jobs)
