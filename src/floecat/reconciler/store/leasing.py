"""Handing jobs out: whose turn it is, and one live lease per job."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileCounters
from ai.floedb.floecat.reconciler.stored_pb2 import StoredJob, StoredLease
from floecat.errors import ConflictError
from floecat.reconciler import keys
from floecat.reconciler.jobs import (
    JobLease,
    Kind,
    LeasedJob,
    LeaseLostError,
    LeaseSelector,
    Renewal,
)
from floecat.reconciler.states import CANCELLING, LEASED, QUEUED, RUNNING
from floecat.reconciler.store.canonical import find_job, get_job, move, put_job
from floecat.reconciler.transactions import Transaction, transact
from floecat.storage.kv.port import Delete, Key, KeyValueStore, Record

_ORDER: Final[tuple[tuple[Kind, ...], ...]] = (
    (
        messages.FINALIZE_SNAPSHOT_CAPTURE,
        messages.PLAN_SNAPSHOT,
        messages.PLAN_VIEW,
        messages.PLAN_TABLE,
        messages.PLAN_CONNECTOR,
    ),
    (messages.EXEC_FILE_GROUP,),
)
"""Bands: control first, then the work itself; in a band the deepest first, so that trees finish."""
_CLASSES: Final = (messages.EXC_INTERACTIVE, messages.EXC_DEFAULT, messages.EXC_BATCH)
_PAGES: Final = 32
"""How many pages of turns one call looks at; the next one goes on behind them."""
_TURNS_REVERSED: Final = 8
"""Every so many leases start from the other end, so that nothing starves."""


class Leasing:
    """Leases jobs from the ready queue, accounts in turn."""

    def __init__(
        self,
        kv: KeyValueStore,
        now_ms: Callable[[], int],
        lease_ms: int,
        incarnation: int,
        scan_limit: int,
    ) -> None:
        self._kv = kv
        self._now_ms = now_ms
        self._lease_ms = lease_ms
        self._incarnation = incarnation
        self._scan_limit = scan_limit
        self._cursors: dict[str, str] = {}
        self._crowded: set[str] = set()
        """Queues with more turns than are looked at in one go."""
        self._leases = 0

    def lease(self, selector: LeaseSelector) -> LeasedJob | None:
        """The next due job that fits; None if there is none."""
        self._leases += 1
        for queue in self._queues(selector):
            leased = self._from_queue(queue, selector.executor_id)
            if leased is not None:
                return leased
        return None

    def renew(self, lease: JobLease) -> Renewal:
        """Extend a live lease. An expired one is lost, whoever noticed first."""

        def work(tx: Transaction) -> Renewal:
            return self._extend(tx, lease, self.require(tx, lease))

        return transact(self._kv, work)

    def progress(self, lease: JobLease, message: str, counters: ReconcileCounters) -> Renewal:
        """Extend a live lease, and remember how far its holder says to be."""

        def work(tx: Transaction) -> Renewal:
            held = self.require(tx, lease)
            held.message = message
            held.counters.CopyFrom(counters)
            return self._extend(tx, lease, held)

        return transact(self._kv, work)

    def require(self, tx: Transaction, lease: JobLease) -> StoredLease:
        """The lease, if it is the live one. Reading it here fences the whole transaction."""
        account, job_id = lease.account_id, lease.job_id
        tx.get_many([keys.lease(account, job_id), keys.job(account, job_id)])
        held = find_lease(tx, account, job_id)
        if held is None or held.epoch != lease.epoch or held.expires_ms <= self._now_ms():
            raise LeaseLostError(f"the lease of job {lease.job_id} is over: stop working on it")
        return held

    def drop(self, tx: Transaction, job: StoredJob) -> None:
        """The lease of a job is over."""
        held = find_lease(tx, job.account_id, job.job_id)
        if held is not None:
            tx.delete(keys.lease(job.account_id, job.job_id))
            tx.delete(keys.expiry(held.filed_ms, job.account_id, job.job_id))

    def _extend(self, tx: Transaction, lease: JobLease, held: StoredLease) -> Renewal:
        held.expires_ms = self._now_ms() + self._lease_ms
        tx.put(keys.lease(lease.account_id, lease.job_id), held.SerializeToString())
        job = get_job(tx, lease.account_id, lease.job_id)
        return Renewal(_moment(held.expires_ms), job.state == CANCELLING)

    def _queues(self, selector: LeaseSelector) -> Iterator[str]:
        wanted = set(selector.kinds)
        classes = [c for c in _CLASSES if not selector.classes or c in selector.classes]
        ordered = [
            keys.queue(kind, execution_class, lane)
            for band in _ORDER
            for execution_class in classes
            for kind in band
            if kind in wanted
            for lane in dict.fromkeys(("", *selector.lanes))
        ]
        yield from reversed(ordered) if self._leases % _TURNS_REVERSED == 0 else ordered

    def _from_queue(self, queue: str, executor_id: str) -> LeasedJob | None:
        seen: set[str] = set()
        for _ in range(_PAGES):
            turns = [turn for turn in self._turns(queue) if turn.key.sort not in seen]
            leased = self._from_turns(queue, turns, executor_id)
            if leased is not None or not turns:
                return leased
            # All of these wait for their time; others may be due.
            seen.update(turn.key.sort for turn in turns)
            self._cursors[queue] = turns[-1].key.sort
        return None

    def _from_turns(self, queue: str, turns: list[Record], executor_id: str) -> LeasedJob | None:
        for turn in turns:
            partition = keys.ready_partition(queue, turn.key.sort)
            heads = self._kv.scan(partition, limit=1)
            if not heads:
                self._forget(turn)
                continue
            leased = self._try(heads[0].key, turn.key.sort.split("/")[0], executor_id)
            if leased is not None:
                self._cursors[queue] = turn.key.sort
                return leased
        return None

    def _turns(self, queue: str) -> list[Record]:
        """Whose turn it may be, from behind the last one on, around."""
        cursor = self._cursors.get(queue, "")
        if queue not in self._crowded:
            turns = self._kv.scan(keys.turns(queue), limit=self._scan_limit)
            if len(turns) < self._scan_limit:
                return sorted(turns, key=lambda turn: (turn.key.sort <= cursor, turn.key.sort))
            self._crowded.add(queue)
        return self._some_turns(queue, cursor)

    def _some_turns(self, queue: str, cursor: str) -> list[Record]:
        """As many as may be looked at, of more than that."""
        partition, limit = keys.turns(queue), self._scan_limit
        behind = list(self._kv.scan(partition, after=cursor or None, limit=limit))
        if not cursor or len(behind) >= limit:
            return behind
        before = self._kv.scan(partition, limit=limit - len(behind))
        if len(before) + len(behind) < limit:
            self._crowded.discard(queue)
        return behind + [record for record in before if record.key.sort <= cursor]

    def _forget(self, turn: Record) -> None:
        """The partition was empty after this row was read; if it was written since, it stays."""
        with suppress(ConflictError):
            self._kv.commit([Delete(turn.key, turn.version)])

    def _try(self, ready: Key, account: str, executor_id: str) -> LeasedJob | None:
        due_ms, job_id = keys.due_of(ready.sort)
        if due_ms > self._now_ms():
            return None

        def work(tx: Transaction) -> LeasedJob | None:
            tx.get_many([ready, keys.job(account, job_id)])
            if tx.get(ready) is None:
                return None
            job = find_job(tx, account, job_id)
            tx.delete(ready)
            if job is None or job.state != QUEUED:
                return None
            return self._hand_out(tx, job, executor_id)

        try:
            return transact(self._kv, work)
        except ConflictError:
            return None

    def _hand_out(self, tx: Transaction, job: StoredJob, executor_id: str) -> LeasedJob:
        now = self._now_ms()
        move(job, RUNNING)
        job.epoch = max(job.epoch + 1, self._incarnation << 40)
        job.attempt += 1
        job.executor_id = executor_id
        job.started_ms = job.started_ms or now
        put_job(tx, job)
        expires = now + self._lease_ms
        held = StoredLease(
            epoch=job.epoch, expires_ms=expires, executor_id=executor_id, filed_ms=expires
        )
        tx.put(keys.lease(job.account_id, job.job_id), held.SerializeToString())
        tx.put(keys.expiry(expires, job.account_id, job.job_id), b"")
        proof = JobLease(job.account_id, job.job_id, job.epoch)
        return LeasedJob(proof, job, _moment(expires))


def find_lease(tx: Transaction, account: str, job_id: str) -> StoredLease | None:
    """Who has a job, expired or not."""
    value = tx.get(keys.lease(account, job_id))
    return None if value is None else StoredLease.FromString(value)


def is_leased(job: StoredJob) -> bool:
    """Whether a worker has it."""
    return job.state in LEASED


def _moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
