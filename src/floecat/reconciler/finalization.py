"""SnapshotFinalizeReconcileExecutor: the last job of a snapshot, run by the service itself.

It checks that exactly the planned files are covered, puts together what was learnt of them, and
publishes all of it with one small record.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from typing import Final

import structlog
from google.protobuf.message import DecodeError

from ai.floedb.floecat.execution.scan_pb2 import ScanFile
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileCounters
from ai.floedb.floecat.reconciler.stored_pb2 import FinalSnapshot, StoredJob
from floecat.artifacts.coverage import CoverageHash
from floecat.artifacts.opened import OpenedSegments
from floecat.catalog import keys
from floecat.catalog.records import CatalogStores
from floecat.clock import Clock
from floecat.errors import AbortedError, FloecatError, UnavailableError
from floecat.reconciler.executors import SNAPSHOT_FINALIZE
from floecat.reconciler.group_results import GroupResults, capture_prefix
from floecat.reconciler.jobs import (
    CancelRequestedError,
    JobLease,
    LeasedJob,
    LeaseLostError,
    LeaseSelector,
    Obsolete,
    Outcome,
    Renewal,
    Report,
    RetryableFailure,
    Stopped,
    Succeeded,
    TerminalFailure,
)
from floecat.reconciler.snapshot_captures import SnapshotCapture
from floecat.reconciler.snapshot_plans import SnapshotPlans
from floecat.reconciler.store.port import ReconcileJobStore
from floecat.reconciler.tasks import target_of
from floecat.statistics.captured import CapturedStatistics
from floecat.statistics.records import CaptureOrigin
from floecat.statistics.repository import StatsRepository
from floecat.statistics.store import SnapshotPlace, StatsStore

_LOG: Final = structlog.get_logger(log="floecat.finalization")
_PAGE: Final = 200
_RENEW_EVERY: Final = timedelta(seconds=5)


class SnapshotFinalizeReconcileExecutor:
    """Finalizes snapshots, one at a time."""

    def __init__(
        self,
        store: ReconcileJobStore,
        stores: CatalogStores,
        executor_id: str,
        stats: StatsStore | None = None,
    ) -> None:
        self._store = store
        self._stores = stores
        self._stats = stats or StatsRepository(stores)
        self._plans = SnapshotPlans(stores.blobs)
        self._results = GroupResults(stores.blobs, OpenedSegments(stores.blobs))
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
        except CancelRequestedError:
            outcome, report = Stopped(), Report()
        except (AbortedError, UnavailableError) as error:
            outcome, report = RetryableFailure(error.message), Report()
        except FloecatError as error:
            outcome, report = TerminalFailure(error.message), Report()
        except (DecodeError, ValueError, LookupError, TypeError) as error:
            # What protobuf and Arrow say of bytes that aren't what they should be.
            _LOG.exception("unreadable", job=leased.lease.job_id)
            what = f"what the groups left behind can't be read: {type(error).__name__}: {error}"
            outcome, report = TerminalFailure(what), Report()
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
        working = Renewing(partial(self._told, leased.lease), self._stores.clock)
        covered, deletes = self._covered(parent, working)
        if covered.hexdigest() != header.coverage_sha256 or len(covered) != header.files_total:
            return TerminalFailure(
                f"{len(covered)} of {header.files_total} planned files are covered, or others: "
                "nothing is published"
            ), Report()
        row = keys.final(account, table_id, target.snapshot_id)
        final, unread = self._captured(leased, parent, deletes, working)
        if self._stores.kv.get(keys.snapshot(account, table_id, target.snapshot_id)) is None:
            return Obsolete("the snapshot was deleted meanwhile"), Report()
        report = Report(
            counters=ReconcileCounters(stats_processed=1),
            records={row: final.SerializeToString()},
        )
        return Succeeded(_said(header.files_total, unread)), report

    def _told(self, lease: JobLease, message: str) -> Renewal:
        return self._store.report_progress(lease, message, ReconcileCounters())

    def _captured(
        self,
        leased: LeasedJob,
        parent: StoredJob,
        deletes: Sequence[ScanFile],
        working: "Renewing",
    ) -> tuple[FinalSnapshot, int]:
        """The record that publishes the snapshot, all that it names being written; and how many
        delete files nothing is known of.
        """
        job, header = leased.job, self._plans.header(parent.payload)
        origin = self._origin(job)
        prefix = capture_prefix(job.account_id, job.job_id, leased.lease.epoch)
        capture = SnapshotCapture(self._stores.blobs, header, deletes, prefix, working)
        groups = self._groups(parent)
        for chunk in self._plans.chunks(parent.payload):
            working()
            capture.reuse(chunk.reused_files)
            for group in chunk.groups:
                capture.execute(group, next(groups, None))
            working.said = f"{capture.files} of {header.files_total} files put together"
        working.said = "merging what is known of columns"
        written = capture.finish(origin)
        final = FinalSnapshot(
            stats=written.stats,
            index=written.index,
            segments=written.segments,
            generation=origin.generation,
            plan=parent.payload,
            finalizer_job_id=job.job_id,
            finalized_at=origin.captured_at,
            files_total=header.files_total,
            coverage_sha256=header.coverage_sha256,
        )
        if not self._stats.reads_captures:
            self._put(origin, final, working)
        return final, written.unread_deletes

    def _origin(self, job: StoredJob) -> CaptureOrigin:
        target = target_of(job)
        key = keys.final(job.account_id, target.table_id.id, target.snapshot_id)
        before = self._stores.kv.get(key)
        return CaptureOrigin(
            table_id=target.table_id,
            snapshot_id=target.snapshot_id,
            generation=1 + (FinalSnapshot.FromString(before.value).generation if before else 0),
            job_id=job.job_id,
            captured_at=self._stores.now(),
        )

    def _put(self, origin: CaptureOrigin, final: FinalSnapshot, working: "Renewing") -> None:
        """Give every record to a store that lives elsewhere, before anybody is told of it."""
        account, table_id = origin.table_id.account_id, origin.table_id.id
        place = SnapshotPlace(account, table_id, origin.snapshot_id)
        opened = OpenedSegments(self._stores.blobs, working)
        captured = CapturedStatistics(place, final, self._stores.blobs, opened)
        self._stats.put(place, captured.records(sketches=True))

    def _covered(
        self, parent: StoredJob, working: "Renewing"
    ) -> tuple[CoverageHash, list[ScanFile]]:
        """Files that persisted results speak of or that were used again; and the delete files."""
        covered = CoverageHash()
        deletes: list[ScanFile] = []
        for chunk in self._plans.chunks(parent.payload):
            working()
            deletes.extend(chunk.delete_files)
            for file in chunk.reused_files:
                covered.add(file.identity)
        for group in self._groups(parent):
            working()
            for result in self._results.results(group):
                covered.add(result.identity)
        return covered, deletes

    def _groups(self, parent: StoredJob) -> Iterator[StoredJob]:
        count = parent.children_total - 1
        for start in range(0, count, _PAGE):
            yield from self._store.reading.children(parent, start, min(_PAGE, count - start))


def _said(files: int, unread_deletes: int) -> str:
    unread = f"; the positions of {unread_deletes} delete files aren't known: live rows are an"
    return f"{files} files are covered" + (f"{unread} estimate" if unread_deletes else "")


class Renewing:
    """Called now and then by whoever works for long: keeps the lease, or says that it is lost."""

    def __init__(self, renew: Callable[[str], Renewal], clock: Clock) -> None:
        self._renew = renew
        self._clock = clock
        self._renewed = clock()
        self.said = ""
        """How far it is."""

    def __call__(self) -> None:
        now = self._clock()
        if now - self._renewed > _RENEW_EVERY:
            if self._renew(self.said).cancel_requested:
                raise CancelRequestedError("the job is to stop")
            self._renewed = now
