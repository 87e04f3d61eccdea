"""DurableReconcileJobStore: the queue on the key-value port, whichever backend that has."""

from datetime import datetime, timedelta
from random import Random, SystemRandom
from typing import Final, assert_never
from uuid import UUID

from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileCounters
from ai.floedb.floecat.reconciler.stored_pb2 import (
    StoredExpansion,
    StoredJob,
    StoredResult,
)
from floecat.clock import Clock, utc_now
from floecat.errors import AbortedError
from floecat.reconciler import keys
from floecat.reconciler.jobs import (
    CancelRequestedError,
    Enqueued,
    HandedBack,
    JobLease,
    LeasedJob,
    LeaseSelector,
    NewJob,
    Obsolete,
    Outcome,
    Planned,
    QueueLimits,
    Renewal,
    Report,
    RequestKey,
    RetryableFailure,
    Settled,
    Stopped,
    Succeeded,
    TerminalFailure,
)
from floecat.reconciler.states import (
    CANCELLED,
    CANCELLING,
    FAILED,
    QUEUED,
    SUCCEEDED,
    WAITING,
)
from floecat.reconciler.store.background import Background
from floecat.reconciler.store.canonical import get_job, move, put_job
from floecat.reconciler.store.leasing import Leasing
from floecat.reconciler.store.plans import Plans
from floecat.reconciler.store.queue import ReadyQueue
from floecat.reconciler.store.reading import Reading
from floecat.reconciler.store.requests import find_answer, remember, root_job
from floecat.reconciler.store.settling import Settlement
from floecat.reconciler.transactions import Transaction, transact
from floecat.storage.blobs.port import BlobStore
from floecat.storage.kv.port import KeyValueStore, Operation

_SHORT_LANES = frozenset({messages.PLAN_TABLE, messages.PLAN_VIEW})
"""Kinds that need their lane only while they run; others until everything below has ended."""
_NOTHING_TO_REPORT: Final = Report()
_MAX_FAILURES: Final = 100


class DurableReconcileJobStore:
    """A queue that any number of processes share. See `keys` for what lies where."""

    def __init__(
        self,
        kv: KeyValueStore,
        blobs: BlobStore,
        *,
        limits: QueueLimits | None = None,
        incarnation: int = 1,
        clock: Clock = utc_now,
        chance: Random | None = None,
    ) -> None:
        self._kv = kv
        self._chance = chance or SystemRandom()
        self._limits = limits or QueueLimits()
        self._clock = clock
        self._queue = ReadyQueue(kv)
        self._settlement = Settlement(self._queue, self._now_ms, self._limits.finished_retention)
        self._leasing = Leasing(
            kv,
            self._now_ms,
            _milliseconds(self._limits.lease),
            incarnation,
            self._limits.ready_scan_limit,
        )
        self.plans = Plans(blobs)
        self.reading = Reading(kv)
        self._background = Background(kv, self._queue, self.plans, self._now_ms, self)

    def enqueue(self, new: NewJob) -> Enqueued:
        job_id = str(UUID(bytes=self._chance.randbytes(16), version=4))

        def work(tx: Transaction) -> Enqueued:
            answered = find_answer(tx, new.request) if new.request else None
            if answered is not None:
                return answered
            row = keys.dedupe(new.account_id, new.fingerprint) if new.fingerprint else None
            active = tx.get(row) if row else None
            if active is not None:
                done = Enqueued(active.decode(), deduplicated=True)
            else:
                done = Enqueued(job_id)
                self._add_root(tx, root_job(new, job_id, self._now_ms()))
            if new.request:
                until = self._clock() + self._limits.result_retention
                remember(tx, new.request, done, until)
            return done

        return transact(self._kv, work)

    def find_enqueued(self, request: RequestKey) -> Enqueued | None:
        return find_answer(Transaction(self._kv), request)

    def get(self, account: str, job_id: str) -> StoredJob:
        return get_job(Transaction(self._kv), account, job_id)

    def lease(self, selector: LeaseSelector) -> LeasedJob | None:
        while True:
            leased = self._leasing.lease(selector)
            if leased is None or not self._is_gated(leased.job):
                return leased
            self.cancel(leased.job.account_id, leased.job.job_id, "what it belongs to has ended")
            self._settle(leased.lease, Stopped())

    def renew(self, lease: JobLease) -> Renewal:
        return self._leasing.renew(lease)

    def report_progress(
        self, lease: JobLease, message: str, counters: ReconcileCounters
    ) -> Renewal:
        return self._leasing.progress(lease, message, counters)

    def fence(self, lease: JobLease) -> tuple[Operation, ...]:
        tx = Transaction(self._kv)
        self._leasing.require(tx, lease)
        if get_job(tx, lease.account_id, lease.job_id).state == CANCELLING:
            raise CancelRequestedError(f"job {lease.job_id} is cancelled: stop working on it")
        return tx.expectations()

    def find_settled(self, lease: JobLease, result_id: str, fingerprint: bytes) -> Settled | None:
        record = self._kv.get(keys.result(lease.account_id, lease.job_id, result_id))
        if record is None:
            return None
        return _replayed(StoredResult.FromString(record.value), fingerprint)

    def settle(
        self,
        lease: JobLease,
        result_id: str,
        fingerprint: bytes,
        outcome: Outcome,
        report: Report = _NOTHING_TO_REPORT,
    ) -> Settled:
        row = keys.result(lease.account_id, lease.job_id, result_id)

        def work(tx: Transaction) -> Settled:
            account, job_id = lease.account_id, lease.job_id
            tx.get_many([row, keys.lease(account, job_id), keys.job(account, job_id)])
            answered = tx.get(row)
            if answered is not None:
                return _replayed(StoredResult.FromString(answered), fingerprint)
            settled = self._apply(tx, lease, outcome, report)
            stored = StoredResult(fingerprint=fingerprint, state=settled.state)
            until = self._clock() + self._limits.result_retention
            tx.put(row, stored.SerializeToString(), until)
            return settled

        return transact(self._kv, work)

    def cancel(self, account: str, job_id: str, reason: str) -> StoredJob:
        def work(tx: Transaction) -> StoredJob:
            job = get_job(tx, account, job_id)
            self.cancel_in(tx, job, reason)
            return job

        return transact(self._kv, work)

    def reclaim(self, limit: int) -> int:
        return self._background.reclaim(limit)

    def expand(self, limit: int) -> int:
        return self._background.expand(limit)

    def spread_cancellations(self, limit: int) -> int:
        return self._background.spread_cancellations(limit)

    def expire(self, limit: int) -> int:
        return self._background.expire(limit)

    def cancel_in(self, tx: Transaction, job: StoredJob, reason: str) -> None:
        """Cancel a job as part of a transaction."""
        match job.state:
            case messages.RJS_RUNNING:
                move(job, CANCELLING, reason)
                put_job(tx, job)
                self._settlement.forget_request(tx, job)  # nobody joins what is being stopped
            case messages.RJS_QUEUED | messages.RJS_WAITING:
                self._queue.withdraw(tx, job)
                self._settlement.end(tx, job, CANCELLED, messages.JOR_CANCELLED, reason)
            case _:
                pass  # it has ended, or is being told already

    def lease_expired(self, tx: Transaction, job: StoredJob) -> None:
        """A worker is gone: the job is tried again, unless it was tried often enough."""
        self._leasing.drop(tx, job)
        if job.state == CANCELLING:
            self._settlement.end(tx, job, CANCELLED, messages.JOR_CANCELLED, job.message)
        else:
            self._retry(tx, job, "its worker stopped answering", None)

    def plan_lost(self, tx: Transaction, job: StoredJob, reason: str) -> None:
        """A plan's children can't be made."""
        self._settlement.end(tx, job, FAILED, messages.JOR_TERMINAL_ERROR, reason)

    def new_child(self, tx: Transaction, parent: StoredJob, child: StoredJob) -> None:
        """Put a child that a plan names into the queue, or let it wait for its siblings."""
        child.due_ms = child.created_ms = self._now_ms()
        ready = self._settlement.may_run(parent, child.ordinal)
        child.state = QUEUED if ready else WAITING
        put_job(tx, child)
        if ready:
            self._queue.admit(tx, child)

    def _add_root(self, tx: Transaction, job: StoredJob) -> None:
        put_job(tx, job)
        tx.put(keys.root(job.account_id, job.created_ms, job.job_id), b"")
        tx.put(keys.run(job), b"")
        tx.put(keys.active(job), b"")
        if job.fingerprint:
            tx.put(keys.dedupe(job.account_id, job.fingerprint), job.job_id.encode())
        self._queue.admit(tx, job)

    def _settle(self, lease: JobLease, outcome: Outcome) -> Settled:
        return transact(self._kv, lambda tx: self._apply(tx, lease, outcome, _NOTHING_TO_REPORT))

    def _apply(self, tx: Transaction, lease: JobLease, outcome: Outcome, report: Report) -> Settled:
        """What an outcome does to a job. The lease is read, and so fences all of it."""
        self._leasing.require(tx, lease)
        job = get_job(tx, lease.account_id, lease.job_id)
        self._leasing.drop(tx, job)
        if job.state == CANCELLING:
            self._settlement.end(tx, job, CANCELLED, messages.JOR_CANCELLED, job.message)
            return Settled(CANCELLED)
        _take_report(tx, job, report)
        match outcome:
            case Succeeded(message):
                self._settlement.succeed(tx, job, message)
            case Planned():
                self._accept(tx, job, outcome)
            case RetryableFailure(message, retry_after):
                self._retry(tx, job, message, retry_after)
            case TerminalFailure(message):
                self._settlement.end(tx, job, FAILED, messages.JOR_TERMINAL_ERROR, message)
            case Obsolete(message):
                self._settlement.end(tx, job, SUCCEEDED, messages.JOR_OBSOLETE, message)
            case HandedBack(message, delay):
                job.attempt -= 1
                self._requeue(tx, job, message, delay)
            case Stopped():
                job.attempt -= 1  # nobody asked for that: it is as if it had been handed back
                self._requeue(tx, job, "its worker stopped", timedelta(0))
            case _:
                assert_never(outcome)
        return Settled(job.state)

    def _accept(self, tx: Transaction, job: StoredJob, planned: Planned) -> None:
        """One commit, however many children: from now on the plan is the children."""
        move(job, WAITING, planned.message)
        job.plan.CopyFrom(planned.plan)
        job.children_total = planned.children_total
        job.has_barrier = planned.has_barrier
        job.tally.skipped = planned.left_alone
        if job.kind in _SHORT_LANES:
            self._queue.release(tx, job)
        if job.children_total:
            row = keys.expansion(job.account_id, job.job_id)
            tx.put(row, StoredExpansion().SerializeToString())
        self._settlement.plan_accepted(tx, job)

    def _retry(
        self, tx: Transaction, job: StoredJob, message: str, retry_after: timedelta | None
    ) -> None:
        if job.attempt >= self._limits.max_attempts:
            told = f"given up after {job.attempt} attempts: {message}"
            self._settlement.end(tx, job, FAILED, messages.JOR_ATTEMPTS_EXHAUSTED, told)
            return
        self._requeue(tx, job, message, retry_after or self._backoff(job.attempt))

    def _requeue(self, tx: Transaction, job: StoredJob, message: str, delay: timedelta) -> None:
        move(job, QUEUED, message)
        job.due_ms = self._now_ms() + _milliseconds(delay)
        put_job(tx, job)
        self._queue.admit(tx, job)

    def _backoff(self, attempt: int) -> timedelta:
        """Twice as long each time, up to a limit, and anything below that: full jitter."""
        doubled: timedelta = self._limits.base_backoff * 2 ** min(attempt - 1, 32)
        return min(doubled, self._limits.max_backoff) * self._chance.random()

    def _is_gated(self, job: StoredJob) -> bool:
        above = [keys.gate(job.account_id, ancestor) for ancestor in job.ancestors]
        return any(record is not None for record in self._kv.get_many(above)) if above else False

    def _now_ms(self) -> int:
        return _epoch_ms(self._clock())


def _take_report(tx: Transaction, job: StoredJob, report: Report) -> None:
    job.counters.CopyFrom(report.counters)
    if report.payload is not None:
        job.payload.CopyFrom(report.payload)
    job.failures.extend(report.failures[:_MAX_FAILURES])
    job.sightings.extend(report.sightings)
    for key, value in report.records.items():
        tx.put(key, value)


def _replayed(stored: StoredResult, fingerprint: bytes) -> Settled:
    if stored.fingerprint != fingerprint:
        raise AbortedError(
            "another result was submitted under this result_id: it is used once",
            reason="RESULT_MISMATCH",
        )
    return Settled(stored.state)


def _milliseconds(span: timedelta) -> int:
    return int(span.total_seconds() * 1000)


def _epoch_ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
