"""Captures by hand: plans, groups and segments as a planner and a worker would send them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from tests.support.reconciling import Reconciling, summary, table_chunk
from tests.support.segments import Content, Deletes, SegmentMaker, row_of

from ai.floedb.floecat.catalog.stats_pb2 import FileColumnStats, TargetStatsRecord
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.execution.capture_pb2 import (
    FES_FAILED_ALLOWED,
    FES_SUCCEEDED,
    CapturePolicy,
    FileExecutionResult,
    FileGroup,
    FileGroupResultChunk,
    PlannedFile,
    SnapshotPlan,
)
from ai.floedb.floecat.execution.scan_pb2 import ScanFile
from ai.floedb.floecat.execution.stored_pb2 import ColumnCoverage
from ai.floedb.floecat.reconciler import executor_control_pb2 as wire
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.stored_pb2 import FinalSnapshot
from ai.floedb.floecat.statistics.statistics_pb2 import FileStatsTarget, StatsTarget
from floecat.artifacts.columns import to_scalar
from floecat.artifacts.coverage import CoverageHash
from floecat.artifacts.index.covered import CoveredDeletes, CoveredFiles, identity_of
from floecat.artifacts.index.reading import ScanIndexFile
from floecat.catalog import keys
from floecat.types.messages import to_message

_Group = wire.SubmitLeasedFileGroupExecutionResultRequest


@dataclass
class Captured:
    """What a capture came to."""

    table_id: ResourceId
    root_job_id: ResourceId
    read: list[str] = field(default_factory=list)
    """Files that a group read something of."""


@dataclass
class Capturing:
    """Snapshots of the table `orders`, captured one after another."""

    plane: Reconciling
    files_per_group: int = 3
    inline: bool = False
    sidecars: bool = False
    sketches_per_file: bool = True
    delete_files: Sequence[ScanFile] = ()
    deletes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    positions: Mapping[str, Deletes] = field(default_factory=dict)
    """Delete files that are read, by path; `delete_files` has them too."""
    failing: Sequence[str] = ()
    reuse: bool = True
    snapshots: list[int] = field(default_factory=list)
    tampered: Callable[[FileGroupResultChunk], None] = lambda _: None

    def capture(self, snapshot_id: int, files: Sequence[Content]) -> Captured:
        """Capture a snapshot that has these files; finalized if all goes well."""
        leased = self.begin(snapshot_id)
        captured = self.plan(leased, files)
        contents = {file.path: file for file in files}
        while self.plane.store.expand(100):
            pass
        for _ in range(self.groups):
            self.execute(self.plane.lease(messages.EXEC_FILE_GROUP), contents)
        self.plane.finalize()
        return captured

    def begin(self, snapshot_id: int) -> wire.LeasedReconcileJob:
        """Mirror the table; the lease of what plans the snapshot."""
        if snapshot_id not in self.snapshots:
            self.snapshots.append(snapshot_id)
        policy = CapturePolicy(allow_failed_files=bool(self.failing))
        self.plane.start(capture_policy=policy, full_rescan=True)
        self.plane.plan_connector(self.plane.lease().lease, ["sales.orders"])
        chunk = table_chunk("orders", self.snapshots, capture_snapshot_ids=[snapshot_id])
        self.plane.plan_table(self.plane.lease().lease, chunk)
        return self.plane.lease(messages.PLAN_SNAPSHOT)

    def plan(self, leased: wire.LeasedReconcileJob, files: Sequence[Content]) -> Captured:
        """Plan a snapshot as its covered index allows."""
        given = self.plane.world.call(
            "ReconcileExecutorControl/GetLeasedPlanSnapshotInput",
            wire.GetLeasedPlanSnapshotInputRequest(lease=leased.lease),
        )
        covered = known = None
        if given.covered_index.uri and self.reuse:
            index = ScanIndexFile.open(self.plane.world.stores.blobs, given.covered_index)
            covered, known = CoveredFiles(index), CoveredDeletes(index)
        planned = [self._planned(file, covered) for file in files]
        fresh = [file for file in planned if file.column_ids or not file.reused_from]
        reused = [file for file in planned if not file.column_ids and file.reused_from]
        groups = [
            FileGroup(group_id=f"g{start}", files=fresh[start : start + self.files_per_group])
            for start in range(0, len(fresh), self.files_per_group)
        ]
        wanted = self._planned_deletes()
        deletes = [file for file in wanted if not (known and known.find(file.identity))]
        if deletes:
            groups = groups or [FileGroup(group_id="deletes")]
            groups[-1].delete_files.extend(deletes)
        self.groups = len(groups)
        coverage = CoverageHash()
        for file in planned:
            coverage.add(file.identity)
        header = SnapshotPlan(
            plan_id="plan",
            table_id=leased.target.table_id,
            snapshot_id=leased.target.snapshot_id,
            files_total=len(coverage),
            coverage_sha256=coverage.hexdigest(),
            policy=given.capture_policy,
        )
        if covered is not None:
            header.base_index.CopyFrom(given.covered_index)
        request = wire.SubmitLeasedPlanSnapshotResultRequest
        chunks = [
            wire.PlanSnapshotChunk(plan=header, delete_files=self.delete_files),
            *(wire.PlanSnapshotChunk(groups=[group]) for group in groups),
            wire.PlanSnapshotChunk(reused_files=reused),
        ]
        self.plane.submit(
            "PlanSnapshot",
            [
                *(request(lease=leased.lease, chunk=chunk) for chunk in chunks),
                request(lease=leased.lease, success=summary(leased.lease, len(groups))),
            ],
        )
        read = [file.identity.file_path for file in [*fresh, *deletes]]
        return Captured(leased.target.table_id, leased.root_job_id, read)

    def execute(self, leased: wire.LeasedReconcileJob, contents: Mapping[str, Content]) -> None:
        """Capture a group: into a segment, or as records."""
        given = self.plane.world.call(
            "ReconcileExecutorControl/GetLeasedFileGroupExecution",
            wire.GetLeasedFileGroupExecutionRequest(lease=leased.lease),
        )
        files = [_narrowed(contents[f.identity.file_path], f) for f in given.group.files]
        good = [file for file in files if file.path not in self.failing]
        deletes = [self.positions[f.identity.file_path] for f in given.group.delete_files]
        read = [file for file in deletes if file.path not in self.failing]
        chunk = FileGroupResultChunk(
            files=[
                FileExecutionResult(
                    identity=file.identity,
                    state=FES_FAILED_ALLOWED if file.path in self.failing else FES_SUCCEEDED,
                    row_count=None if file.path in self.failing else file.rows,
                    failure="torn" if file.path in self.failing else "",
                )
                for file in files
            ],
            delete_files=[
                FileExecutionResult(
                    identity=file.identity,
                    state=FES_SUCCEEDED if file in read else FES_FAILED_ALLOWED,
                    bytes_read=5,
                )
                for file in deletes
            ],
        )
        if self.inline:
            chunk.stats.extend(self._record(leased, file) for file in good)
        elif good or read:
            maker = SegmentMaker(
                self.plane.world.stores.blobs,
                given.table_id,
                sidecars=self.sidecars,
                sketches_per_file=self.sketches_per_file,
            )
            chunk.segments.append(maker.write(given.blob_prefix, good, read))
        self.tampered(chunk)
        success = _Group.Success(result_id=uuid4().hex, files_total=len(files))
        self.plane.submit(
            "FileGroupExecution",
            [
                _Group(lease=leased.lease, chunk=chunk),
                _Group(lease=leased.lease, success=success),
            ],
        )

    def final(self, captured: Captured, snapshot_id: int) -> FinalSnapshot | None:
        """The record that publishes a snapshot."""
        key = keys.final(self.plane.world.account_id, captured.table_id.id, snapshot_id)
        record = self.plane.world.stores.kv.get(key)
        return None if record is None else FinalSnapshot.FromString(record.value)

    def index(self, captured: Captured, snapshot_id: int) -> ScanIndexFile:
        """The scan index of a finalized snapshot."""
        final = self.final(captured, snapshot_id)
        assert final is not None
        return ScanIndexFile.open(self.plane.world.stores.blobs, final.index)

    def _planned(self, file: Content, covered: CoveredFiles | None) -> PlannedFile:
        scan_file = file.scan_file
        scan_file.delete_file_indexes.extend(self.deletes.get(file.path, ()))
        planned = PlannedFile(file=scan_file, identity=file.identity)
        found = covered.find(file.identity) if covered else None
        if found is not None:
            known = {column.column_id for shape in found.shapes for column in shape.columns}
            planned.column_ids.extend(sorted(file.columns.keys() - known))
            planned.reused_from.extend(found.segments)
            planned.index_part, planned.index_row = found.part, found.row
        return planned

    def _planned_deletes(self) -> list[PlannedFile]:
        applied = sorted({number for numbers in self.deletes.values() for number in numbers})
        found = (self.delete_files[number] for number in applied)
        return [
            PlannedFile(file=file, identity=identity_of(file))
            for file in found
            if file.file_path in self.positions
        ]

    def _record(self, leased: wire.LeasedReconcileJob, file: Content) -> TargetStatsRecord:
        maker = SegmentMaker(self.plane.world.stores.blobs)
        record = TargetStatsRecord(
            table_id=leased.target.table_id,
            snapshot_id=leased.target.snapshot_id,
            target=StatsTarget(file=FileStatsTarget(file_path=file.path)),
        )
        record.file.identity.CopyFrom(file.identity)
        record.file.row_count = file.rows
        for column_id, values in file.columns.items():
            coverage = ColumnCoverage(
                column_id=column_id, name=f"c{column_id}", logical_type=to_message(maker.type)
            )
            scalar = to_scalar(coverage, row_of(values, sketches=False))
            record.file.columns.append(FileColumnStats(column_id=column_id, scalar=scalar))
        return record


def _narrowed(file: Content, planned: PlannedFile) -> Content:
    """Only the columns that are still to be read."""
    if not planned.reused_from:
        return file
    return Content(file.path, {c: file.columns[c] for c in planned.column_ids}, rows_told=file.rows)


def files_of(numbers: Iterable[int], columns: Sequence[int] = (1, 2)) -> list[Content]:
    """Files with some values: the same number always means the same file."""
    return [
        Content(
            f"s3://lake/orders/{number:04}.parquet",
            {
                column: [number * 10 + row * column if row % 4 else None for row in range(8)]
                for column in columns
            },
        )
        for number in numbers
    ]
