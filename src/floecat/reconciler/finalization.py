"""SnapshotFinalizeReconcileExecutor: the last job of a snapshot, run by the service itself.

It checks that exactly the planned files are covered, and publishes with one small record.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

import structlog

from ai.floedb.floecat.catalog.stats_pb2 import FileIdentity
from ai.floedb.floecat.execution.capture_pb2 import FileGroupResultChunk
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileCounters
from ai.floedb.floecat.reconciler.stored_pb2 import FinalSnapshot, StoredJob
from floecat.artifacts.coverage import CoverageHash
from floecat.artifacts.payloads import blob_ref
from floecat.catalog import keys
from floecat.catalog.records import CatalogStores
from floecat.errors import AbortedError, FloecatError, UnavailableError
from floecat.reconciler.executors import SNAPSHOT_FINALIZE
from floecat.reconciler.jobs import (
    JobLease,
    LeasedJob,
    LeaseLostError,
    LeaseSelector,
    Obsolete,
    Outcome,
    Report,
    RetryableFailure,
    Succeeded,
    TerminalFailure,
)
from floecat.reconciler.snapshot_plans import SnapshotPlans
from floecat.reconciler.states import SUCCEEDED
from floecat.reconciler.store.port import ReconcileJobStore
from floecat.reconciler.tasks import target_of
from floecat.storage.blobs.frames import read_frames

_LOG: Final = structlog.get_logger(log="floecat.finalization")
_PAGE: Final = 200
_RENEW_EVERY: Final = timedelta(seconds=5)


class SnapshotFinalizeReconcileExecutor:
    """Finalizes snapshots, one at a time."""

    def __init__(self, store: ReconcileJobStore, stores: CatalogStores, executor_id: str) -> None:
        self._store = store
        self._stores = stores
        self._plans = SnapshotPlans(stores.blobs)
        self._selector = LeaseSelector(
            executor_id=f"{SNAPSHOT_FINALIZE}:{executor_id}",
            kinds=(messages.FINALIZE_SNAPSHOT_CAPTURE,),
        )

    def run_next(self) -> bool:
        """Finalize the next snapshot that is due; whether there was one."""
        leased = self._store.lease(self._selector)
        if leased is None:
            return False
        try:
            outcome, report = self._finalize(leased)
        except (AbortedError, UnavailableError) as error:
            outcome, report = RetryableFailure(error.message), Report()
        except FloecatError as error:
            outcome, report = TerminalFailure(error.message), Report()
        self._settle(leased, outcome, report)
        return True

    def _settle(self, leased: LeasedJob, outcome: Outcome, report: Report) -> None:
        lease = leased.lease
        result_id = f"{lease.job_id}:finalize:{lease.epoch}"
        try:
            self._store.settle(lease, result_id, b"", outcome, report)
        except LeaseLostError:
            _LOG.warning("lease lost", job=lease.job_id)

    def _finalize(self, leased: LeasedJob) -> tuple[Outcome, Report]:
        job = leased.job
        target = target_of(job)
        account, table_id = job.account_id, target.table_id.id
        parent = self._store.get(account, job.ancestors[0])
        if self._stores.kv.get(keys.snapshot(account, table_id, target.snapshot_id)) is None:
            return Obsolete("the snapshot isn't there any more"), Report()
        header = self._plans.header(parent.payload)
        covered = self._covered(parent, leased.lease)
        if covered.hexdigest() != header.coverage_sha256 or len(covered) != header.files_total:
            return TerminalFailure(
                f"{len(covered)} of {header.files_total} planned files are covered, or others: "
                "nothing is published"
            ), Report()
        row = keys.final(account, table_id, target.snapshot_id)
        final = self._final(job, parent, header.files_total)
        final.coverage_sha256 = header.coverage_sha256
        before = self._stores.kv.get(row)
        generation = FinalSnapshot.FromString(before.value).generation if before else 0
        final.generation = generation + 1
        report = Report(
            counters=ReconcileCounters(stats_processed=1),
            records={row: final.SerializeToString()},
        )
        return Succeeded(f"{header.files_total} files are covered"), report

    def _final(self, job: StoredJob, parent: StoredJob, files_total: int) -> FinalSnapshot:
        return FinalSnapshot(
            plan=parent.payload,
            finalizer_job_id=job.job_id,
            finalized_at=self._stores.now(),
            files_total=files_total,
        )

    def _covered(self, parent: StoredJob, lease: JobLease) -> CoverageHash:
        """The files that persisted results speak of, and those that were used again."""
        covered = CoverageHash()
        stay_alive = self._renewals(lease)
        for chunk in self._plans.chunks(parent.payload):
            next(stay_alive)
            for file in chunk.reused_files:
                covered.add(file.identity)
        for group in self._groups(parent):
            next(stay_alive)
            for identity in self._results(group):
                covered.add(identity)
        return covered

    def _renewals(self, lease: JobLease) -> Iterator[None]:
        """Renews the lease now and then, as often as it is asked."""
        renewed = self._stores.clock()
        while True:
            if self._stores.clock() - renewed > _RENEW_EVERY:
                self._store.renew(lease)
                renewed = self._stores.clock()
            yield

    def _groups(self, parent: StoredJob) -> Iterator[StoredJob]:
        count = parent.children_total - 1
        for start in range(0, count, _PAGE):
            yield from self._store.reading.children(parent, start, min(_PAGE, count - start))

    def _results(self, group: StoredJob) -> Iterator[FileIdentity]:
        if group.state != SUCCEEDED or not group.payload.uri:
            return
        for frame in read_frames(self._stores.blobs, blob_ref(group.payload)):
            chunk = FileGroupResultChunk.FromString(frame.content)
            yield from (result.identity for result in chunk.files)
