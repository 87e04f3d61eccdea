"""Jobs as people see them: derived when somebody looks, never written, never trusted by the queue.

Sums of what has ended below a job are exact. What goes on is looked at level by level, as long as
that isn't much.
"""

from collections.abc import Sequence
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileJob, ReconcileJobNode
from ai.floedb.floecat.reconciler.stored_pb2 import JobSums, JobTask, StoredJob, StoredLease
from floecat.errors import NotFoundError
from floecat.reconciler.sightings import unseen
from floecat.reconciler.states import LEASED, SUCCEEDED, TERMINAL, WAITING
from floecat.reconciler.store.port import ReconcileJobStore
from floecat.reconciler.store.reading import Reading
from floecat.reconciler.store.sums import add, ended, merge
from floecat.reconciler.tasks import job_resource, root_id, task_of

MAX_FAILURES: Final = 100
_LOOKED_AT: Final = 1000
"""Jobs below one beyond these aren't asked how far they are."""
_ALIVE: Final = 100
"""Nor these, when so many go on."""
DEFAULT_WIDTH: Final = 100
MAX_NODES: Final = 1000
_NODE_MESSAGE: Final = 500


class Projections:
    """Shows jobs."""

    def __init__(self, store: ReconcileJobStore, max_attempts: int) -> None:
        self._store = store
        self._reading = store.reading
        self._max_attempts = max_attempts

    def job(self, stored: StoredJob) -> ReconcileJob:
        """One job, with everything below it added up."""
        [shown] = self.jobs([stored])
        return shown

    def jobs(self, stored: Sequence[StoredJob]) -> list[ReconcileJob]:
        """Several jobs."""
        runs: dict[tuple[str, str], JobTask] = {}
        leases = self._reading.leases(stored)
        return [
            self._shown(job, lease, self._run(job, runs))
            for job, lease in zip(stored, leases, strict=True)
        ]

    def tree(self, stored: StoredJob, depth: int, width: int) -> ReconcileJobNode:
        """A job with its descendants, as many as were asked for and fit an answer."""
        return _Tree(self, self._store, width or DEFAULT_WIDTH).node(stored, depth or _LOOKED_AT)

    def _run(self, job: StoredJob, runs: dict[tuple[str, str], JobTask]) -> JobTask:
        """What the tree's root was asked for; nothing, if that is forgotten already."""
        key = (job.account_id, root_id(job))
        if key not in runs:
            try:
                root = job if not job.ancestors else self._store.get(*key)
                runs[key] = task_of(root)
            except NotFoundError:
                runs[key] = JobTask()
        return runs[key]

    def _shown(self, job: StoredJob, lease: StoredLease | None, run: JobTask) -> ReconcileJob:
        sums, doing = self._sums(job, lease)
        shown = ReconcileJob(
            job_id=job_resource(job.account_id, job.job_id),
            root_job_id=job_resource(job.account_id, root_id(job)),
            kind=job.kind,
            state=job.state,
            mode=run.mode,
            full_rescan=run.full_rescan,
            execution_policy=job.execution_policy,
            target=task_of(job).target,
            message=doing or job.message,
            outcome_reason=job.outcome_reason,
            degraded=job.outcome_reason == messages.JOR_DEGRADED,
            attempt=job.attempt,
            max_attempts=self._max_attempts,
            executor_id=job.executor_id if job.state in LEASED else "",
            created_at=_moment(job.created_ms),
            counters=sums.counters,
            failures=sums.failures[:MAX_FAILURES],
        )
        if job.ancestors:
            shown.parent_job_id.CopyFrom(job_resource(job.account_id, job.ancestors[0]))
        else:
            shown.scope.CopyFrom(run.scope)
            shown.capture_policy.CopyFrom(run.capture_policy)
            _add_unseen(shown, sums)
        _add_times(shown, job)
        return shown

    def _sums(self, job: StoredJob, lease: StoredLease | None) -> tuple[JobSums, str]:
        """What was done, and what is being done, by the job or somewhere below it."""
        below = self._reading.sums(job)
        if job.state in TERMINAL:
            return ended(job, below), ""
        below.counters.jobs_total += 1
        add(below.counters, lease.counters if lease else job.counters)
        merge(below, JobSums(failures=job.failures))
        if job.state == WAITING and job.children_total:
            below.counters.jobs_total += self._reading.open_children(job)
            living = _Living(self._reading, below)
            living.add([job])
            return below, living.doing
        return below, lease.message if lease else ""


class _Living:
    """Adds up what goes on below a job: a run of one large table is as deep as one of many."""

    def __init__(self, reading: Reading, sums: JobSums) -> None:
        self._reading = reading
        self._sums = sums
        self._looks = _LOOKED_AT
        self._alive = _ALIVE
        self.doing = ""
        """What one of them says that it does."""

    def add(self, jobs: Sequence[StoredJob]) -> None:
        """Add what their children do, and then, a level deeper, what those of them do that wait."""
        children = [child for job in jobs for child in self._children(job)]
        # First those that wait: they have sums of what has ended below them.
        waiting = [child for child in children if child.state == WAITING][: self._alive]
        self._alive -= len(waiting)
        leased = [child for child in children if child.state in LEASED][: self._alive]
        self._alive -= len(leased)
        alive = [*waiting, *leased]
        for child, lease in zip(alive, self._reading.leases(alive), strict=True):
            add(self._sums.counters, lease.counters if lease else child.counters)
            merge(self._sums, self._reading.sums(child))
            self.doing = (lease.message if lease else "") or self.doing
        parents = [child for child in waiting if child.children_total]
        for parent in parents:
            self._sums.counters.jobs_total += self._reading.open_children(parent)
        if parents:
            self.add(parents)

    def _children(self, job: StoredJob) -> list[StoredJob]:
        children = self._reading.children(job, 0, self._looks)
        self._looks -= len(children)
        if len(children) < job.children_total:
            # What comes when all others have ended is the last of them.
            children += self._reading.children(job, job.children_total - 1, 1)
        return children


class _Tree:
    """Walks down, until the answer is full."""

    def __init__(self, projections: Projections, store: ReconcileJobStore, width: int) -> None:
        self._projections = projections
        self._reading = store.reading
        self._width = width
        self._left = MAX_NODES

    def node(self, job: StoredJob, depth: int) -> ReconcileJobNode:
        self._left -= 1
        node = ReconcileJobNode(job=self._projections.job(job))
        if self._left < MAX_NODES - 1:
            # Reasons are told once, at the top: an answer has only so much room.
            node.job.ClearField("failures")
            node.job.message = node.job.message[:_NODE_MESSAGE]
        if depth <= 0 or not job.children_total:
            node.children_truncated = bool(job.children_total)
            return node
        children = self._reading.children(job, 0, min(self._width, max(self._left, 0)))
        node.children.extend(self.node(child, depth - 1) for child in children)
        node.children_truncated = len(children) < job.children_total
        return node


def _add_unseen(shown: ReconcileJob, sums: JobSums) -> None:
    """A run that was asked for what no table has didn't do all that it was asked for."""
    if shown.state != SUCCEEDED:
        return
    for message in unseen(sums.sightings):
        shown.failures.add(
            job_id=shown.job_id, kind=shown.kind, target=shown.target, message=message
        )
        shown.counters.errors += 1
        shown.degraded = True
        shown.outcome_reason = messages.JOR_DEGRADED


def _moment(milliseconds: int) -> Timestamp:
    moment = Timestamp()
    moment.FromMilliseconds(milliseconds)
    return moment


def _add_times(shown: ReconcileJob, job: StoredJob) -> None:
    if job.started_ms:
        shown.started_at.CopyFrom(_moment(job.started_ms))
    if job.finished_ms:
        shown.finished_at.CopyFrom(_moment(job.finished_ms))
    if job.state == messages.RJS_QUEUED:
        shown.due_at.CopyFrom(_moment(job.due_ms))
