"""SegmentFileGroupCapture: a group's parquet files read by tasks; what they left is a segment."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress

from ai.floedb.floecat.execution.capture_pb2 import (
    FES_FAILED,
    FileGroup,
    FileGroupResultChunk,
    PlannedFile,
    SegmentReference,
)
from ai.floedb.floecat.execution.scan_pb2 import ScanFile
from ai.floedb.floecat.execution.stored_pb2 import SegmentManifest, SegmentPart, TaskResult
from floecat.artifacts.columns import ColumnRow, all_rows
from floecat.artifacts.merging import ColumnMerge
from floecat.artifacts.payloads import reference
from floecat.artifacts.segments import (
    ColumnFile,
    Segment,
    number_shapes,
    write_columns,
    write_manifest,
)
from floecat.capture.policies import file_policy
from floecat.capture.runners import CaptureRunner
from floecat.capture.tasks import TaskContext, balanced
from floecat.connectors.spi.connector import FloecatConnector
from floecat.storage.blobs.opening import BlobConfig
from floecat.storage.blobs.port import BlobStore
from floecat.types.messages import from_message
from floecat.worker.captures import PARQUET, GroupTask, NativeFileGroupCapture, column_scope
from floecat.worker.work import LeasedWork


class SegmentFileGroupCapture:
    """Reads parquet files; of others it keeps what the upstream's metadata says."""

    def __init__(self, runner: CaptureRunner, blobs: BlobStore, config: BlobConfig) -> None:
        self._runner = runner
        self._blobs = blobs
        self._config = config
        self._native = NativeFileGroupCapture()

    def opens(self, file: ScanFile) -> bool:
        """Parquet files."""
        return file.file_format.lower() in PARQUET

    def capture(
        self, connector: FloecatConnector, task: GroupTask, work: LeasedWork
    ) -> Iterator[FileGroupResultChunk]:
        """One result per file, and the segment that has what was learnt of those read."""
        parquet = [file for file in task.group.files if self.opens(file.file)]
        others = [file for file in task.group.files if not self.opens(file.file)]
        if others:
            group = FileGroup(group_id=task.group.group_id, files=others)
            yield from self._native.capture(connector, GroupTask(task.given, group), work)
        to_read = [*parquet, *task.group.delete_files]
        if to_read:
            yield from self._read(connector, task, to_read, work)

    def _read(
        self,
        connector: FloecatConnector,
        task: GroupTask,
        files: Sequence[PlannedFile],
        work: LeasedWork,
    ) -> Iterator[FileGroupResultChunk]:
        context = self._context(connector, task)
        work.tell(f"{len(files)} files; starting, which takes a while the first time")
        tasks = balanced(files, context.policy, self._runner.parallelism)
        manifest = self._manifest(task)
        failed = False
        for result in self._runner.run(context, tasks, _Watching(work, len(files))):
            went = (*result.results, *result.delete_results)
            failed = failed or any(file.state == FES_FAILED for file in went)
            add_result(manifest, result)
            yield FileGroupResultChunk(files=result.results, delete_files=result.delete_results)
        if not failed and manifest.parts:
            work.step("merging", parts=len(manifest.parts))
            yield FileGroupResultChunk(segments=[finish_segment(self._blobs, manifest)])

    def _context(self, connector: FloecatConnector, task: GroupTask) -> TaskContext:
        columns = connector.snapshot_columns(*task.relation, task.given.snapshot_id)
        policy = task.given.capture_policy
        scope = column_scope(policy, task.given.column_ids, lambda: columns)
        return TaskContext(
            access=connector.file_access(*task.relation),
            policy=file_policy(policy, scope.selected(columns), scope.numbered(columns)),
            blobs=self._config,
            blob_prefix=task.given.blob_prefix,
            allow_failed_files=task.given.capture_policy.allow_failed_files,
            sketches_together=task.group.sketches_together,
        )

    def _manifest(self, task: GroupTask) -> SegmentManifest:
        prefix = task.given.blob_prefix
        return SegmentManifest(
            # The prefix has job and epoch in it: no two segments share one.
            segment_id=prefix.partition("/")[2],
            table_id=task.given.table_id,
            snapshot_id=task.given.snapshot_id,
            blob_prefix=prefix,
        )


def finish_segment(blobs: BlobStore, manifest: SegmentManifest) -> SegmentReference:
    """Write what all files of a segment are together, and then the manifest."""
    partials = write_columns(
        blobs,
        f"{manifest.blob_prefix}/partials",
        {column_id: [row] for column_id, row in merged(Segment(blobs, manifest))},
    )
    manifest.partials.CopyFrom(reference(partials))
    return write_manifest(blobs, manifest)


def merged(segment: Segment) -> Iterator[tuple[int, ColumnRow]]:
    """A row per column of a segment: all files that were read for it, a column at a time."""
    parts = [_Known(segment, part, columns) for part, columns in segment.parts()]
    for column_id, coverage in segment.columns.items():
        merge = ColumnMerge(from_message(coverage.logical_type))
        for known in parts:
            known.add_to(merge, column_id)
        yield column_id, merge.result()


class _Known:
    """What is known of the files of a part: of each, or of all together."""

    def __init__(self, segment: Segment, part: SegmentPart, columns: ColumnFile) -> None:
        self._segment = segment
        self._files = part.files
        self._columns = columns
        self._together = segment.together(part)

    def add_to(self, merge: ColumnMerge, column_id: int) -> None:
        """Add the files that were read for a column."""
        asked = [self._segment.is_asked(file, column_id) for file in self._files]
        counts = [file.stats.row_count for file in self._files]
        if self._together is not None:
            if any(asked):
                merge.add(self._together.row(column_id, 0), sum(compress(counts, asked)))
            return
        batch = self._columns.batch(column_id)
        rows = [None] * len(counts) if batch is None else all_rows(batch)
        for row, count in compress(zip(rows, counts, strict=True), asked):
            merge.add(row, count)


def add_result(manifest: SegmentManifest, result: TaskResult) -> None:
    """Take in what a task left behind: nothing, if none of its files could be read."""
    if not (result.part.files or result.part.delete_files):
        return
    shapes = [shape.SerializeToString(deterministic=True) for shape in result.shapes]
    numbers = number_shapes(manifest, shapes)
    part = manifest.parts.add()
    part.CopyFrom(result.part)
    for file in part.files:
        file.shape = numbers[file.shape]


@dataclass(frozen=True, slots=True)
class _Watching:
    """The leased work as runners see it."""

    work: LeasedWork
    files: int

    def require_live(self) -> None:
        self.work.require_live()

    def progressed(self, done: int, total: int) -> None:
        self.work.tell(f"{done} of {total} tasks, {self.files} files")
