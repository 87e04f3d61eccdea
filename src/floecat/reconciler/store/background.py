"""What the queue does on its own: lapsed leases, children of plans, cancellations, old trees.

Each step is one commit that moves a cursor or removes a row; stopped anywhere, the rows that are
left say what is left to do. Any number of processes may do it at once.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final, Protocol

from ai.floedb.floecat.reconciler.stored_pb2 import StoredExpansion, StoredJob, StoredLease
from floecat.errors import AbortedError, DataLossError, NotFoundError
from floecat.reconciler import keys
from floecat.reconciler.jobs import child_id
from floecat.reconciler.states import WAITING
from floecat.reconciler.store.canonical import find_job, put_job
from floecat.reconciler.store.leasing import is_leased
from floecat.reconciler.store.plans import Plans
from floecat.reconciler.store.queue import ReadyQueue
from floecat.reconciler.transactions import Transaction, transact
from floecat.storage.kv.port import Key, KeyValueStore, Record

_CHILDREN: Final = 40
"""Children per commit. Each is a record and a row of the queue, and a commit has a hundred."""
_CHILDREN_IN_LANES: Final = 20
"""The same if they have lanes, which are two rows more."""
_STOPPED: Final = 6
"""Children told per commit that they are cancelled; one that has children itself counts twice."""

_FORGOTTEN: Final = 60
"""Children forgotten per commit, beside what their parent keeps about them."""

_LATER_MS: Final = 600_000


class _StillRunning(Exception):  # noqa: N818 - it tells, and nothing is wrong
    """Somebody works on a part of a tree that has ended."""


class Jobs(Protocol):
    """What the background work asks of the store."""

    def plan_lost(self, tx: Transaction, job: StoredJob, reason: str) -> None: ...
    def cancel_in(self, tx: Transaction, job: StoredJob, reason: str) -> None: ...
    def lease_expired(self, tx: Transaction, job: StoredJob) -> None: ...
    def new_child(self, tx: Transaction, parent: StoredJob, child: StoredJob) -> None: ...


class Background:
    """The queue's housekeeping."""

    def __init__(
        self,
        kv: KeyValueStore,
        queue: ReadyQueue,
        plans: Plans,
        now_ms: Callable[[], int],
        jobs: Jobs,
    ) -> None:
        self._kv = kv
        self._queue = queue
        self._plans = plans
        self._now_ms = now_ms
        self._jobs = jobs

    def reclaim(self, limit: int) -> int:
        """Take jobs back whose leases have expired; how many rows were looked at."""
        looked = 0
        for record in self._due("expiry", limit):
            _, account, job_id = record.key.sort.split("/")
            with suppress(AbortedError):
                transact(self._kv, lambda tx: self._reclaim(tx, record.key, account, job_id))  # noqa: B023
            looked += 1
        return looked

    def expand(self, limit: int) -> int:
        """Make some children of each accepted plan; how many plans aren't done."""
        left = 0
        for record in self._rows("expand", limit):
            account, job_id = record.key.sort.split("/")
            left += not self._expand_one(record.key, account, job_id)
        return left

    def spread_cancellations(self, limit: int) -> int:
        """Tell some children of each stopped job; how many jobs aren't done."""
        left = 0
        for record in self._rows("cancel", limit):
            account, job_id = record.key.sort.split("/")
            done = transact(self._kv, lambda tx: self._spread(tx, record.key, account, job_id))  # noqa: B023
            left += not done
        return left

    def expire(self, limit: int) -> int:
        """Forget some of each old tree; how many trees aren't gone."""
        left = 0
        for record in self._due("finished", limit):
            _, account, job_id = record.key.sort.split("/")
            try:
                left += not self._forget_tree(record.key, account, job_id)
            except _StillRunning:
                self._postpone(record.key, account, job_id)
        return left

    def _reclaim(self, tx: Transaction, row: Key, account: str, job_id: str) -> None:
        tx.get_many([row, keys.lease(account, job_id), keys.job(account, job_id)])
        if tx.get(row) is None:
            return
        value = tx.get(keys.lease(account, job_id))
        held = StoredLease.FromString(value) if value is not None else None
        tx.delete(row)
        if held is None or keys.expiry(held.filed_ms, account, job_id) != row:
            return
        if held.expires_ms > self._now_ms():
            # It was renewed since: look again when that is over.
            held.filed_ms = held.expires_ms
            tx.put(keys.lease(account, job_id), held.SerializeToString())
            tx.put(keys.expiry(held.expires_ms, account, job_id), b"")
            return
        job = find_job(tx, account, job_id)
        if job is not None and is_leased(job):
            self._jobs.lease_expired(tx, job)

    def _expand_one(self, row: Key, account: str, job_id: str) -> bool:
        """Some children of one plan; whether it is done. A plan that is lost is no other's loss."""
        try:
            return transact(self._kv, lambda tx: self._expand(tx, row, account, job_id))
        except (NotFoundError, DataLossError) as error:
            reason = f"its plan can't be read any more: {error.message}"

        def give_up(tx: Transaction) -> None:
            tx.delete(row)
            parent = find_job(tx, account, job_id)
            if parent is not None and parent.state == WAITING:
                self._jobs.plan_lost(tx, parent, reason)

        transact(self._kv, give_up)
        return True

    def _postpone(self, row: Key, account: str, job_id: str) -> None:
        """Somebody still works below it, and has to find it: look again later."""

        def work(tx: Transaction) -> None:
            tx.delete(row)
            tx.put(keys.finished(self._now_ms() + _LATER_MS, account, job_id), b"")

        transact(self._kv, work)

    def _expand(self, tx: Transaction, row: Key, account: str, job_id: str) -> bool:
        tx.get_many([row, keys.job(account, job_id)])
        value = tx.get(row)
        parent = find_job(tx, account, job_id)
        if value is None:
            return True
        if parent is None or parent.state != WAITING:
            tx.delete(row)
            return True
        cursor = StoredExpansion.FromString(value)
        page = self._plans.read(parent.plan, cursor.offset, _CHILDREN)
        for made, (planned, offset) in enumerate(page):
            if planned.lane and made >= _CHILDREN_IN_LANES:
                break
            child = StoredJob(
                job_id=child_id(job_id, cursor.next_ordinal),
                account_id=account,
                kind=planned.kind,
                ancestors=[job_id, *parent.ancestors],
                ordinal=cursor.next_ordinal,
                execution_policy=parent.execution_policy,
                lane=planned.lane,
                task=planned.task,
                connector_id=parent.connector_id,
            )
            self._jobs.new_child(tx, parent, child)
            cursor.next_ordinal += 1
            cursor.offset = offset
        if cursor.next_ordinal >= parent.children_total:
            tx.delete(row)
            return True
        if cursor == StoredExpansion.FromString(value):
            raise DataLossError(f"the plan {parent.plan.uri} has fewer children than it said")
        tx.put(row, cursor.SerializeToString())
        return False

    def _spread(self, tx: Transaction, row: Key, account: str, job_id: str) -> bool:
        tx.get_many([row, keys.job(account, job_id)])
        value = tx.get(row)
        parent = find_job(tx, account, job_id)
        if value is None or parent is None:
            tx.delete(row)
            return True
        end, room = int(value), _STOPPED
        while end < parent.children_total and room > 0:
            child = find_job(tx, account, child_id(job_id, end))
            if child is None:
                end = parent.children_total  # they are made in order, and no more are made
                break
            self._jobs.cancel_in(tx, child, "what it belongs to has ended")
            room -= 2 if child.children_total else 1
            end += 1
        if end < parent.children_total:
            tx.put(row, str(end).encode())
            return False
        tx.delete(row)
        for slot in range(keys.OPEN_SLICES):
            tx.delete(keys.open_slice(account, job_id, slot))
        return True

    def _forget_tree(self, row: Key, account: str, job_id: str) -> bool:
        """Deepest first and last first, so that a tree that is half gone is found from its root."""
        root = find_job(Transaction(self._kv), account, job_id)
        if root is not None and root.children_total:
            self._forget_page(self._lowest(root))
            return False

        def work(tx: Transaction) -> None:
            found = find_job(tx, account, job_id)
            if found is not None:
                tx.delete(keys.job(account, job_id))
                tx.delete(keys.root(account, found.created_ms, job_id))
                tx.delete(keys.run(found))
            tx.delete(row)

        transact(self._kv, work)
        return True

    def _lowest(self, job: StoredJob) -> StoredJob:
        """The last job at or below this one whose last children have no children themselves."""
        while True:
            job.children_total = self._made(job)
            children = self._last_children(Transaction(self._kv), job)
            parents = [child for child in children if child.children_total]
            if not parents:
                return job
            job = parents[-1]

    def _last_children(self, tx: Transaction, job: StoredJob) -> list[StoredJob]:
        total = job.children_total
        rows = [
            keys.job(job.account_id, child_id(job.job_id, ordinal))
            for ordinal in range(max(total - _FORGOTTEN, 0), total)
        ]
        children = [StoredJob.FromString(value) for value in tx.get_many(rows) if value is not None]
        if any(is_leased(child) for child in children):
            raise _StillRunning
        return children

    def _forget_page(self, job: StoredJob) -> None:
        """Forget the last children of a job, which then has fewer of them."""

        def work(tx: Transaction) -> None:
            found = find_job(tx, job.account_id, job.job_id)
            if found is None:
                return
            for child in self._last_children(tx, job):
                tx.delete(keys.job(child.account_id, child.job_id))
            found.children_total = max(job.children_total - _FORGOTTEN, 0)
            put_job(tx, found)
            if not found.children_total:
                self._forget_parenthood(tx, found)

        transact(self._kv, work)

    def _forget_parenthood(self, tx: Transaction, job: StoredJob) -> None:
        """Everything that only jobs with children have."""
        tx.delete(keys.gate(job.account_id, job.job_id))
        tx.delete(keys.cancellation(job.account_id, job.job_id))
        for row in keys.all_sums(job.account_id, job.job_id):
            tx.delete(row)

    def _made(self, job: StoredJob) -> int:
        """How many children were made: they are made in order, and a plan may have ended early."""

        def is_missing(ordinal: int) -> bool:
            child = keys.job(job.account_id, child_id(job.job_id, ordinal))
            return self._kv.get(child) is None

        total = job.children_total
        return bisect_left(range(total), True, key=is_missing) if is_missing(total - 1) else total

    def _due(self, area: str, limit: int) -> Iterator[Record]:
        """Rows whose time has come, sorted by it."""
        now = self._now_ms()
        for record in self._rows(area, limit):
            if int(record.key.sort.partition("/")[0]) <= now:
                yield record

    def _rows(self, area: str, limit: int) -> Iterator[Record]:
        for partition in keys.work_partitions(area):
            yield from self._kv.scan(partition, limit=limit)
