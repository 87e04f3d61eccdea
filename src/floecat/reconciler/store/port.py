"""ReconcileJobStore: the queue, whatever it is kept in."""

from collections.abc import Sequence
from typing import Protocol

from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileCounters
from ai.floedb.floecat.reconciler.stored_pb2 import StoredJob
from floecat.reconciler.jobs import (
    Enqueued,
    JobLease,
    LeasedJob,
    LeaseSelector,
    NewJob,
    Outcome,
    Renewal,
    Report,
    RequestKey,
    Settled,
)
from floecat.reconciler.store.plans import Plans
from floecat.reconciler.store.reading import Reading
from floecat.storage.kv.port import Operation


class ReconcileJobStore(Protocol):
    """A durable queue of trees of jobs. Every method is atomic, and safe from any process.

    Ids are stable for ever. What is acknowledged survives any crash.
    """

    def enqueue(self, new: NewJob) -> Enqueued:
        """Add a root job, or join the active one of an identical request."""

    def find_enqueued(self, request: RequestKey) -> Enqueued | None:
        """What a request was answered with; None if its key is new. Another one is refused."""

    def get(self, account: str, job_id: str) -> StoredJob:
        """A job. NotFoundError if there is none."""

    def lease(self, selector: LeaseSelector) -> LeasedJob | None:
        """The next due job that fits, under a higher epoch than any before; None if none is due."""

    def renew(self, lease: JobLease) -> Renewal:
        """Extend a live lease; `LeaseLostError` for any other."""

    def report_progress(
        self, lease: JobLease, message: str, counters: ReconcileCounters
    ) -> Renewal:
        """Extend a live lease and remember how far its holder is."""

    def fence(self, lease: JobLease) -> Sequence[Operation]:
        """What a commit to the key-value store must expect so that the lease is live at that time.

        `LeaseLostError` if it isn't, `CancelRequestedError` if the job is to stop. A queue that
        lives elsewhere can't promise this and answers with nothing to expect, once it has looked.
        """

    def find_settled(self, lease: JobLease, result_id: str, fingerprint: bytes) -> Settled | None:
        """What a result was answered with, live lease or not; None if it wasn't given yet."""

    def settle(
        self,
        lease: JobLease,
        result_id: str,
        fingerprint: bytes,
        outcome: Outcome,
        report: Report = ...,
    ) -> Settled:
        """End a lease with a result, once: the same result id answers as the first time.

        The same id with another fingerprint is refused. A stale lease gets `LeaseLostError`, and
        nothing changes. What is reported is kept with it, or nothing is.
        """

    def cancel(self, account: str, job_id: str, reason: str) -> StoredJob:
        """Stop a job and everything below it. One that has ended stays as it is."""

    @property
    def plans(self) -> Plans:
        """Where accepted plans are kept."""

    @property
    def reading(self) -> Reading:
        """Lists and progress, for people."""

    def reclaim(self, limit: int) -> int:
        """Take jobs back whose leases have expired; how many rows were looked at."""

    def expand(self, limit: int) -> int:
        """Make children of accepted plans, some per plan; how many plans aren't done."""

    def spread_cancellations(self, limit: int) -> int:
        """Tell children that they are cancelled, some per parent; how many parents aren't done."""

    def expire(self, limit: int) -> int:
        """Forget trees that ended long ago, some rows at a time; how many trees aren't gone."""
