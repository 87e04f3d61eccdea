"""What jobs did, added up on the way to the root: for people, never for the queue.

A child that ends adds what it and everything below it did to its parent's row of that slice, in the
commit that ends it; so the sums are exact, and nobody waits for anybody but the same slice.
"""

from collections.abc import Iterable
from typing import Final

from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.reconciler_pb2 import JobFailure, ReconcileCounters
from ai.floedb.floecat.reconciler.stored_pb2 import JobSums, Sighting, StoredJob
from floecat.reconciler import keys, sightings
from floecat.reconciler.states import CANCELLED, FAILED, SUCCEEDED
from floecat.reconciler.tasks import job_resource, target_of
from floecat.reconciler.transactions import Transaction

_FAILURES: Final = 10
"""Reasons kept per slice: with sixteen of them, enough for the hundred that are shown."""
_MOST: Final = 2**63 - 1
_ENDS: Final = {SUCCEEDED: "succeeded", FAILED: "failed", CANCELLED: "cancelled"}


def add_to_sums(tx: Transaction, child: StoredJob) -> JobSums:
    """Tell the parent what an ended child did, and everything below it; what that is."""
    if _may_change(child):
        # What is added meanwhile must not be missed, so the rows are expected as they are here.
        tx.get_many(keys.all_sums(child.account_id, child.job_id))
    done = ended(child, below(tx, child))
    add_to_row(tx, child, done)
    return done


def _may_change(job: StoredJob) -> bool:
    """Whether something below an ended job may still be at it.

    That is so if children are, or if one didn't simply succeed: it may have left others behind.
    """
    tally = job.tally
    return bool(
        job.open_slices or tally.failed or tally.cancelled or tally.skipped or tally.degraded
    )


def add_to_row(tx: Transaction, child: StoredJob, done: JobSums) -> None:
    """Add something to what the parent knows of a child."""
    row = keys.sums(child.account_id, child.ancestors[0], child.ordinal)
    value = tx.get(row)
    sums = JobSums.FromString(value) if value is not None else JobSums()
    merge(sums, done)
    tx.put(row, sums.SerializeToString())


def below(tx: Transaction, job: StoredJob) -> JobSums:
    """What ended children of a job did."""
    if not job.children_total:
        return JobSums()
    values = tx.peek(keys.all_sums(job.account_id, job.job_id))
    return added(JobSums.FromString(value) for value in values if value is not None)


def ended(job: StoredJob, children: JobSums) -> JobSums:
    """What an ended job did, with everything below it."""
    sums = JobSums(
        counters=job.counters,
        failures=[*job.failures, *children.failures],
        sightings=job.sightings,
    )
    _merge_sightings(sums, children)
    add(sums.counters, children.counters)
    add(sums.counters, _itself(job))
    if job.state == FAILED and not sums.failures:
        sums.failures.append(failure_of(job))
    return sums


def failure_of(job: StoredJob) -> JobFailure:
    """Why a job failed."""
    return JobFailure(
        job_id=job_resource(job.account_id, job.job_id),
        kind=job.kind,
        message=job.message,
        target=target_of(job),
    )


def added(parts: Iterable[JobSums]) -> JobSums:
    """All of them together."""
    total = JobSums()
    for part in parts:
        merge(total, part)
    return total


def merge(sums: JobSums, more: JobSums) -> None:
    """Add counters; keep the first failures."""
    add(sums.counters, more.counters)
    room = max(_FAILURES * keys.OPEN_SLICES - len(sums.failures), 0)
    sums.failures.extend(more.failures[: min(room, _FAILURES)])
    _merge_sightings(sums, more)


def add(counters: ReconcileCounters, more: ReconcileCounters) -> None:
    """Add counters to others. Workers count, and may miscount: a sum ends where its field does."""
    for field, value in more.ListFields():
        total = getattr(counters, field.name) + value
        setattr(counters, field.name, max(min(total, _MOST), -_MOST))


def _merge_sightings(sums: JobSums, more: JobSums) -> None:
    if not more.sightings:
        return
    merged: dict[str, Sighting] = {}
    sightings.merge(merged, [*sums.sightings, *more.sightings])
    del sums.sightings[:]
    sums.sightings.extend(merged.values())


def _itself(job: StoredJob) -> ReconcileCounters:
    counters = ReconcileCounters(jobs_total=1)
    if job.outcome_reason == messages.JOR_OBSOLETE:
        counters.jobs_skipped = 1
    else:
        setattr(counters, f"jobs_{_ENDS[job.state]}", 1)
    counters.errors = int(job.state == FAILED)
    return counters
