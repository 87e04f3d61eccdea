"""How a job ends, and what that means for those above and below it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.stored_pb2 import JobSums, JobTally, OpenSlice, StoredJob
from floecat.reconciler import keys
from floecat.reconciler.jobs import child_id
from floecat.reconciler.states import (
    CANCELLED,
    FAILED,
    QUEUED,
    SUCCEEDED,
    TERMINAL,
    WAITING,
    State,
)
from floecat.reconciler.store.canonical import find_job, move, put_job
from floecat.reconciler.store.queue import ReadyQueue
from floecat.reconciler.store.sums import add_to_row, add_to_sums
from floecat.reconciler.transactions import Transaction

_COUNTED: Final = {SUCCEEDED: "succeeded", FAILED: "failed", CANCELLED: "cancelled"}
_STRICT: Final = frozenset({messages.PLAN_SNAPSHOT})
"""Kinds whose children all have to succeed."""
_PARTS: Final = {
    messages.PLAN_CONNECTOR: "tables and views",
    messages.PLAN_TABLE: "snapshots",
}
"""What the children of a job are to people."""
_MAX_MESSAGE: Final = 2000


class Settlement:
    """Ends jobs. Everything that follows from an end is in the same commit, up to the root."""

    def __init__(
        self,
        queue: ReadyQueue,
        now_ms: Callable[[], int],
        finished_retention: Callable[[str], timedelta],
    ) -> None:
        self._queue = queue
        self._now_ms = now_ms
        self._retention = finished_retention

    def end(
        self,
        tx: Transaction,
        job: StoredJob,
        state: State,
        reason: "messages.JobOutcomeReason.ValueType",
        message: str = "",
    ) -> None:
        """A job is over for good."""
        move(job, state, message[:_MAX_MESSAGE])
        job.outcome_reason = reason
        job.finished_ms = self._now_ms()
        self._queue.release(tx, job)
        put_job(tx, job)
        if job.children_total and (state != SUCCEEDED or reason == messages.JOR_OBSOLETE):
            self._stop_children(tx, job)
        if job.ancestors:
            self._tell_parent(tx, job)
        else:
            self._end_tree(tx, job)

    def succeed(self, tx: Transaction, job: StoredJob, message: str) -> None:
        """A job is done, maybe not all of it."""
        reason = messages.JOR_DEGRADED if job.failures else messages.JOR_DONE
        self.end(tx, job, SUCCEEDED, reason, message)

    def plan_accepted(self, tx: Transaction, job: StoredJob) -> None:
        """A job waits for its children; without any it goes on at once."""
        counted = job.children_total - (1 if job.has_barrier else 0)
        for slot in range(min(counted, keys.OPEN_SLICES)):
            share = len(range(slot, counted, keys.OPEN_SLICES))
            row = keys.open_slice(job.account_id, job.job_id, slot)
            tx.put(row, OpenSlice(open=share).SerializeToString())
        job.open_slices = min(counted, keys.OPEN_SLICES)
        put_job(tx, job)
        if not job.children_total:
            self._children_done(tx, job)

    def may_run(self, parent: StoredJob, ordinal: int) -> bool:
        """Whether a child may run as soon as it exists: the last one may have to wait."""
        waits = parent.has_barrier and ordinal == parent.children_total - 1
        return not waits or parent.open_slices == 0

    def _stop_children(self, tx: Transaction, job: StoredJob) -> None:
        tx.put(keys.gate(job.account_id, job.job_id), b"")
        tx.put(keys.cancellation(job.account_id, job.job_id), b"0")
        tx.delete(keys.expansion(job.account_id, job.job_id))

    def _end_tree(self, tx: Transaction, job: StoredJob) -> None:
        self.forget_request(tx, job)
        tx.delete(keys.active(job))
        retention = self._retention(job.account_id)
        due = job.finished_ms + int(retention.total_seconds() * 1000)
        tx.put(keys.finished(due, job.account_id, job.job_id), b"")

    def forget_request(self, tx: Transaction, job: StoredJob) -> None:
        """Identical requests aren't joined to this job any more."""
        if not job.fingerprint:
            return
        row = keys.dedupe(job.account_id, job.fingerprint)
        if tx.get(row) == job.job_id.encode():
            tx.delete(row)

    def _tell_parent(self, tx: Transaction, child: StoredJob) -> None:
        account, parent_id = child.account_id, child.ancestors[0]
        tx.get_many([keys.job(account, parent_id), keys.sums(account, parent_id, child.ordinal)])
        parent = find_job(tx, account, parent_id)
        if parent is None:
            return
        done = add_to_sums(tx, child)
        if parent.state != WAITING:
            # It has ended before us, and decides nothing any more; but people still count.
            self._add_late(tx, parent, done)
            return
        if parent.kind in _STRICT and child.outcome_reason == messages.JOR_OBSOLETE:
            # Not all of it can be had any more, and nobody is to blame for that.
            self.end(tx, parent, SUCCEEDED, messages.JOR_OBSOLETE, child.message)
        elif parent.has_barrier and child.ordinal == parent.children_total - 1:
            self._barrier_ended(tx, parent, child)
        elif parent.kind in _STRICT and child.state != SUCCEEDED:
            reason = messages.JOR_TERMINAL_ERROR
            self.end(tx, parent, FAILED, reason, f"a part of it failed: {child.message}")
        else:
            self._count(tx, parent, child)

    def _add_late(self, tx: Transaction, ended: StoredJob, done: JobSums) -> None:
        """What is done below an ended job belongs to all those that it was added to already."""
        while ended.state in TERMINAL and ended.ancestors:
            parent = find_job(tx, ended.account_id, ended.ancestors[0])
            if parent is None:
                return
            add_to_row(tx, ended, done)
            ended = parent

    def _barrier_ended(self, tx: Transaction, parent: StoredJob, child: StoredJob) -> None:
        if child.state == SUCCEEDED:
            self.end(tx, parent, SUCCEEDED, messages.JOR_DONE, child.message)
        else:
            self.end(tx, parent, FAILED, messages.JOR_TERMINAL_ERROR, child.message)

    def _count(self, tx: Transaction, parent: StoredJob, child: StoredJob) -> None:
        row = keys.open_slice(parent.account_id, parent.job_id, child.ordinal)
        value = tx.get(row)
        if value is None:
            return
        part = OpenSlice.FromString(value)
        part.open -= 1
        _add_one(part.tally, child)
        if part.open:
            tx.put(row, part.SerializeToString())
            return
        tx.delete(row)
        _add(parent.tally, part.tally)
        parent.open_slices -= 1
        put_job(tx, parent)
        if parent.open_slices == 0:
            self._children_done(tx, parent)

    def _children_done(self, tx: Transaction, parent: StoredJob) -> None:
        if parent.has_barrier:
            self._open_barrier(tx, parent)
            return
        tally = parent.tally
        lost = tally.failed + tally.cancelled
        if lost and not tally.succeeded and not tally.skipped:
            self.end(tx, parent, FAILED, messages.JOR_TERMINAL_ERROR, "everything below it failed")
        elif lost or tally.degraded:
            self.end(tx, parent, SUCCEEDED, messages.JOR_DEGRADED, _shortfall(parent))
        else:
            self.succeed(tx, parent, parent.message)

    def _open_barrier(self, tx: Transaction, parent: StoredJob) -> None:
        """The last child may run now; if it isn't made yet, it will be made so that it can."""
        last = child_id(parent.job_id, parent.children_total - 1)
        barrier = find_job(tx, parent.account_id, last)
        if barrier is not None and barrier.state == WAITING:
            move(barrier, QUEUED)
            barrier.due_ms = self._now_ms()
            put_job(tx, barrier)
            self._queue.admit(tx, barrier)


def _shortfall(parent: StoredJob) -> str:
    """What went wrong below a job. What was left alone, being as it was, isn't among the parts."""
    tally = parent.tally
    parts = {"failed": tally.failed, "cancelled": tally.cancelled, "degraded": tally.degraded}
    wrong = ", ".join(f"{count} {word}" for word, count in parts.items() if count)
    whole = f"{parent.children_total} {_PARTS.get(parent.kind, 'parts')}"
    return f"{wrong} of the {whole} that were worked on"


def _add_one(tally: JobTally, child: StoredJob) -> None:
    if child.outcome_reason == messages.JOR_OBSOLETE:
        tally.skipped += 1
        return
    tally.degraded += child.outcome_reason == messages.JOR_DEGRADED
    name = _COUNTED[child.state]
    setattr(tally, name, getattr(tally, name) + 1)


def _add(tally: JobTally, more: JobTally) -> None:
    tally.succeeded += more.succeeded
    tally.failed += more.failed
    tally.cancelled += more.cancelled
    tally.skipped += more.skipped
    tally.degraded += more.degraded
