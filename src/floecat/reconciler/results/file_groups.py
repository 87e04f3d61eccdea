"""Accepting what became of a group of files: every planned file once, and nothing else."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ai.floedb.floecat.catalog.index_pb2 import IndexArtifactRecord
from ai.floedb.floecat.catalog.stats_pb2 import FileIdentity, TargetStatsRecord
from ai.floedb.floecat.execution.capture_pb2 import (
    FES_FAILED,
    FES_FAILED_ALLOWED,
    FES_SUCCEEDED,
    FileExecutionResult,
    FileGroup,
    FileGroupResultChunk,
    PlannedFile,
    SegmentReference,
)
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileCounters
from floecat.artifacts.coverage import CoverageHash
from floecat.errors import FloecatError, InvalidArgumentError
from floecat.reconciler.assignments import Assignment, Assignments
from floecat.reconciler.group_results import capture_prefix
from floecat.reconciler.jobs import Outcome, Report, Succeeded
from floecat.reconciler.results.receiving import Received
from floecat.reconciler.results.segments import SegmentChecks
from floecat.reconciler.snapshot_plans import SnapshotPlans
from floecat.reconciler.store.port import ReconcileJobStore
from floecat.reconciler.store.sums import add
from floecat.storage.blobs.port import BlobStore


class FileGroupResults:
    """Accepts results of file groups. They stay invisible until the snapshot is finalized."""

    def __init__(
        self, assignments: Assignments, store: ReconcileJobStore, blobs: BlobStore
    ) -> None:
        self._assignments = assignments
        self._store = store
        self._plans = SnapshotPlans(blobs)
        self._segments = SegmentChecks(blobs)

    def accept(self, received: Received) -> tuple[Outcome, Report]:
        """Keep the results with the job, if they are of exactly its files."""
        assignment = self._assignments.get(received.lease, messages.EXEC_FILE_GROUP)
        checked = _Checked(assignment)
        for frame in received.pieces.frames():
            checked.take(FileGroupResultChunk.FromString(frame.content))
        self._require_coverage(assignment, checked, received.closing.files_total)
        if checked.segments:
            self._segments.check(
                assignment, checked.segments, checked.learnt_elsewhere, checked.deletes.values()
            )
        counters = checked.counters
        counters.file_groups_completed = 1
        return Succeeded(), Report(counters=counters, payload=received.pieces.as_blob())

    def losses(self, received: Received) -> Report:
        """How many files failed the group; those that were read for nothing are none of them."""
        try:
            assignment = self._assignments.get(received.lease, messages.EXEC_FILE_GROUP)
            group = self._group(assignment)
        except FloecatError:
            return Report()  # counts are for people, and don't keep a failure from being told
        planned = {file.identity.file_path for file in group.files}
        failed = {result.identity.file_path for result in received.closing.files} & planned
        counters = ReconcileCounters(files_failed=len(failed), file_groups_failed=1)
        return Report(counters=counters)

    def _group(self, assignment: Assignment) -> FileGroup:
        parent = self._store.get(assignment.job.account_id, assignment.job.ancestors[0])
        return self._plans.group(parent.payload, assignment.task).group

    def _require_coverage(
        self, assignment: Assignment, checked: "_Checked", files_total: int
    ) -> None:
        group = self._group(assignment)
        planned = _coverage(group.files)
        same = planned.hexdigest() == checked.coverage.hexdigest()
        if not same or files_total != len(planned):
            raise InvalidArgumentError(
                f"the group has {len(planned)} files, but results of {len(checked.coverage)} were "
                "sent, or of others: every planned file has one result"
            )
        deletes = _coverage(group.delete_files)
        if deletes.hexdigest() != checked.delete_coverage.hexdigest():
            raise InvalidArgumentError(
                f"the group has {len(deletes)} delete files, but results of "
                f"{len(checked.delete_coverage)} were sent, or of others: each has one result"
            )


def _coverage(files: Iterable[PlannedFile]) -> CoverageHash:
    planned = CoverageHash()
    for file in files:
        planned.add(file.identity)
    return planned


@dataclass
class _Checked:
    """Results while they are looked through."""

    assignment: Assignment
    counters: ReconcileCounters = field(default_factory=ReconcileCounters)
    coverage: CoverageHash = field(default_factory=CoverageHash)
    delete_coverage: CoverageHash = field(default_factory=CoverageHash)
    succeeded: dict[str, FileIdentity] = field(default_factory=dict)
    deletes: dict[str, FileIdentity] = field(default_factory=dict)
    """The delete files that went well."""
    told: set[str] = field(default_factory=set)
    segments: list[SegmentReference] = field(default_factory=list)

    @property
    def learnt_elsewhere(self) -> list[FileIdentity]:
        """The files that went well, and that no record tells of: segments have to."""
        return [found for path, found in self.succeeded.items() if path not in self.told]

    def take(self, chunk: FileGroupResultChunk) -> None:
        """Look at a piece."""
        for result in chunk.files:
            self._file(result)
        for result in chunk.delete_files:
            self._delete_file(result)
        for record in chunk.stats:
            self._require_file_target(record)
            self.told.add(record.file.identity.file_path)
        self.segments.extend(chunk.segments)
        for artifact in chunk.artifacts:
            self._require_own_artifact(artifact)
        self.counters.index_artifacts_written += len(chunk.artifacts)

    def _file(self, result: FileExecutionResult) -> None:
        if self._went_well(result):
            self.counters.files_completed += 1
            self.succeeded[result.identity.file_path] = result.identity
        else:
            self.counters.files_failed += 1
        self.coverage.add(result.identity)
        read = ReconcileCounters(rows_processed=result.row_count, bytes_read=result.bytes_read)
        add(self.counters, read)

    def _delete_file(self, result: FileExecutionResult) -> None:
        if self._went_well(result):
            self.deletes[result.identity.file_path] = result.identity
        self.delete_coverage.add(result.identity)
        # Counted are the files of the table; people compare them with what the table has.
        add(self.counters, ReconcileCounters(bytes_read=result.bytes_read))

    def _went_well(self, result: FileExecutionResult) -> bool:
        """Whether a file went well; if not, the policy allows it."""
        allowed = self.assignment.run.capture_policy.allow_failed_files
        match result.state:
            case state if state == FES_SUCCEEDED:
                return True
            case state if state == FES_FAILED_ALLOWED and allowed:
                return False
            case state if state in {FES_FAILED, FES_FAILED_ALLOWED}:
                raise InvalidArgumentError(
                    f"{result.identity.file_path} failed: a group with failed files is a failure"
                )
            case _:
                raise InvalidArgumentError("a file's result has no state")

    def _require_own_artifact(self, record: IndexArtifactRecord) -> None:
        lease = self.assignment.lease
        prefix = capture_prefix(lease.account_id, lease.job_id, lease.epoch)
        if record.artifact.uri and f"{prefix}/" not in record.artifact.uri:
            raise InvalidArgumentError(
                f"the index artifact of {record.target_file.file_path} doesn't lie below {prefix}, "
                "where this lease writes"
            )

    def _require_file_target(self, record: TargetStatsRecord) -> None:
        if not record.target.HasField("file"):
            raise InvalidArgumentError(
                "a file group has statistics of files only: those of tables and columns are made "
                "when the snapshot is finalized"
            )
        target = self.assignment.task.target
        same_table = record.table_id.id == target.table_id.id
        if not same_table or record.snapshot_id != target.snapshot_id:
            raise InvalidArgumentError("statistics of another table or snapshot were sent")
