"""Looking at jobs: lists, children, and what is known of their progress. Writes nothing."""

from collections.abc import Sequence
from typing import NamedTuple

from ai.floedb.floecat.reconciler.stored_pb2 import JobSums, OpenSlice, StoredJob, StoredLease
from floecat.reconciler import keys
from floecat.reconciler.jobs import child_id
from floecat.reconciler.keys import OPEN_SLICES
from floecat.reconciler.store.sums import below
from floecat.reconciler.transactions import Transaction
from floecat.storage.kv.port import Key, KeyValueStore


class ListedJob(NamedTuple):
    """A job in a list, and where to go on behind it."""

    job: StoredJob
    cursor: str


class Reading:
    """Reads the queue's records for people."""

    def __init__(self, kv: KeyValueStore) -> None:
        self._kv = kv

    def roots(
        self, account: str, connector_id: str, after: str | None, limit: int
    ) -> list[ListedJob]:
        """Root jobs, newest first; of one connector if it is named."""
        partition = keys.runs(account, connector_id) if connector_id else keys.roots(account)
        rows = self._kv.scan(partition, after=after, limit=limit)
        cursors = [row.key.sort for row in rows]
        found = self._jobs(account, [cursor.partition("/")[2] for cursor in cursors])
        return [
            ListedJob(job, cursor)
            for job, cursor in zip(found, cursors, strict=True)
            if job is not None
        ]

    def is_active(self, account: str, connector_id: str) -> bool:
        """Whether a connector has a run that hasn't ended."""
        return bool(self._kv.scan(keys.active_runs(account, connector_id), limit=1))

    def children(self, job: StoredJob, start: int, limit: int) -> list[StoredJob]:
        """Children that exist, from an ordinal on, in order."""
        ordinals = range(start, min(start + limit, job.children_total))
        ids = [child_id(job.job_id, ordinal) for ordinal in ordinals]
        return [child for child in self._jobs(job.account_id, ids) if child is not None]

    def sums(self, job: StoredJob) -> JobSums:
        """What ended children did."""
        return below(Transaction(self._kv), job)

    def open_children(self, job: StoredJob) -> int:
        """How many children haven't ended, made or not."""
        rows = self._kv.scan(keys.open_partition(job.account_id, job.job_id), limit=OPEN_SLICES)
        return sum(OpenSlice.FromString(row.value).open for row in rows)

    def leases(self, jobs: Sequence[StoredJob]) -> list[StoredLease | None]:
        """Who has each job, if anybody."""
        rows: list[Key] = [keys.lease(job.account_id, job.job_id) for job in jobs]
        return [
            None if record is None else StoredLease.FromString(record.value)
            for record in self._kv.get_many(rows)
        ]

    def _jobs(self, account: str, ids: Sequence[str]) -> list[StoredJob | None]:
        records = self._kv.get_many([keys.job(account, job_id) for job_id in ids])
        return [
            None if record is None else StoredJob.FromString(record.value) for record in records
        ]
