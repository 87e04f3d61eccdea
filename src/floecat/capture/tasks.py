"""CaptureTask: some files of a group, captured in one go wherever it runs.

What it learns goes into the blob store; what it returns is small.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from uuid import uuid4

from ai.floedb.floecat.catalog.index_pb2 import IndexArtifactRecord
from ai.floedb.floecat.execution.capture_pb2 import (
    FES_FAILED,
    FES_FAILED_ALLOWED,
    FES_SUCCEEDED,
    FileExecutionResult,
    PlannedFile,
)
from ai.floedb.floecat.execution.scan_pb2 import SFC_POSITION_DELETES
from ai.floedb.floecat.execution.stored_pb2 import (
    CoverageShape,
    SegmentDeleteFile,
    SegmentFile,
    TaskResult,
)
from floecat.artifacts.columns import ColumnRow
from floecat.artifacts.payloads import reference
from floecat.artifacts.positions import PositionsWriter, positions_writer
from floecat.capture.columns import FilePolicy
from floecat.capture.failures import CaptureFailure
from floecat.capture.files import CapturedFile, capture_file
from floecat.capture.memory import MemoryLimit, memory_limit
from floecat.capture.opening import Opening
from floecat.capture.parquet.schemas import KnownSchemas
from floecat.capture.parts import PartWriter
from floecat.capture.positions import PositionDeletes
from floecat.capture.sidecars import write_pages
from floecat.connectors.spi.access import FileAccess
from floecat.storage.blobs.opening import BlobConfig, open_blob_store
from floecat.storage.blobs.port import BlobStore

_FILES: Final = 16
_SKETCHED_COLUMNS: Final = 2048
"""Files of a task at most, and columns of all of them: what is learnt is in memory until the last
file is read, some 40 KB of every column that is sketched."""
_FOOTERS: Final = 256
"""The same when footers are all that is read: then there is little to remember."""
_BYTES: Final = 512 * 1024 * 1024
"""Bytes of a task's files, about: seconds of work, so that progress shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext:
    """What every task of a group is told. It travels in Spark's closure, credentials included."""

    access: FileAccess
    policy: FilePolicy
    blobs: BlobConfig
    blob_prefix: str
    allow_failed_files: bool = False
    sketches_together: bool = False
    """Sketches are kept of all files together, not of each."""
    task_memory: int | None = None
    """Bytes that decoding a batch may take, in a process that does nothing else; None: any."""

    @property
    def limit(self) -> MemoryLimit | None:
        """The same, where it can be kept."""
        return None if self.task_memory is None else memory_limit(self.task_memory)


@dataclass(frozen=True, slots=True)
class CaptureTask:
    """Some files of a group."""

    number: int
    files: tuple[bytes, ...]
    """Serialized `PlannedFile`s: messages are larger in memory, and travel no better."""

    @property
    def planned(self) -> Iterator[PlannedFile]:
        """The files."""
        return map(PlannedFile.FromString, self.files)


@lru_cache(maxsize=4)
def _opened(config: BlobConfig) -> BlobStore:
    """One store per process, however many tasks it runs."""
    return open_blob_store(config)


def run_task(context: TaskContext, task: CaptureTask) -> TaskResult:
    """Capture the files, and leave a part, sidecars and positions in the blob store."""
    return _Run(context, task, _opened(context.blobs)).run()


class _Run:
    def __init__(self, context: TaskContext, task: CaptureTask, blobs: BlobStore) -> None:
        self._context = context
        self._task = task
        self._blobs = blobs
        # A task that is tried again must not find its own names taken.
        self._name = f"{task.number:05}-{uuid4().hex}"
        self._result = TaskResult()
        self._shapes: dict[bytes, int] = {}
        self._numbered: dict[int, tuple[CoverageShape, int]] = {}
        self._rows: list[dict[int, ColumnRow]] = []
        self._schemas = KnownSchemas()

    def run(self) -> TaskResult:
        deletes: list[PlannedFile] = []
        for planned in self._task.planned:
            if planned.file.content == SFC_POSITION_DELETES:
                deletes.append(planned)
                continue
            try:
                captured = capture_file(
                    self._context.access,
                    planned,
                    self._context.policy,
                    Opening(self._schemas, self._context.limit),
                )
            except CaptureFailure as failure:
                self._result.results.append(self._failed(planned, failure))
            else:
                self._captured(planned, captured)
        if deletes:
            self._read_deletes(deletes)
        if self._rows:
            context = self._context
            writer = PartWriter(self._blobs, context.blob_prefix, context.policy)
            part, columns = self._result.part, self._columns()
            if context.sketches_together:
                writer.write_together(part, self._name, columns, self._asked())
            else:
                writer.write(part, self._name, columns)
        return self._result

    def _asked(self) -> list[frozenset[int]]:
        ids = [frozenset(c.column_id for c in shape.columns) for shape in self._result.shapes]
        return [ids[file.shape] for file in self._result.part.files]

    def _columns(self) -> dict[int, list[ColumnRow | None]]:
        numbers = sorted({number for row in self._rows for number in row})
        return {number: [row.get(number) for row in self._rows] for number in numbers}

    def _captured(self, planned: PlannedFile, captured: CapturedFile) -> None:
        file = SegmentFile(stats=captured.stats, shape=self._shape(captured.shape))
        if captured.page_coverage is not None:
            file.artifact.CopyFrom(self._sidecar(planned, captured))
        self._result.part.files.append(file)
        self._rows.append(captured.rows)
        self._result.results.append(
            FileExecutionResult(
                identity=planned.identity,
                state=FES_SUCCEEDED,
                row_count=captured.stats.row_count,
                bytes_read=captured.bytes_read,
            )
        )

    def _sidecar(self, planned: PlannedFile, captured: CapturedFile) -> IndexArtifactRecord:
        number = len(self._result.part.files)
        name = f"{self._context.blob_prefix}/sidecars/{self._name}-{number:03}.parquet"
        return write_pages(self._blobs, name, planned, captured)

    def _read_deletes(self, deletes: Sequence[PlannedFile]) -> None:
        name = f"{self._context.blob_prefix}/positions/{self._name}"
        with positions_writer(self._blobs, name) as writer:
            for planned in deletes:
                try:
                    result = self._read_delete_file(planned, writer)
                except CaptureFailure as failure:
                    # What was written of it stays, and nothing speaks of it.
                    result = self._failed(planned, failure)
                self._result.delete_results.append(result)
        if self._result.part.delete_files:
            self._result.part.positions.CopyFrom(reference(writer.ref))

    def _read_delete_file(
        self, planned: PlannedFile, writer: PositionsWriter
    ) -> FileExecutionResult:
        opening = Opening(limit=self._context.limit)
        reading = PositionDeletes(self._context.access, planned, opening)
        first = writer.batches
        for runs in reading:
            writer.write(runs)
        file = SegmentDeleteFile(identity=planned.identity, rows=reading.rows, first_batch=first)
        file.batches = writer.batches - first
        self._result.part.delete_files.append(file)
        return FileExecutionResult(
            identity=planned.identity,
            state=FES_SUCCEEDED,
            row_count=reading.rows,
            bytes_read=reading.bytes_read,
        )

    def _failed(self, planned: PlannedFile, failure: CaptureFailure) -> FileExecutionResult:
        allowed = self._context.allow_failed_files and not failure.retryable
        return FileExecutionResult(
            identity=planned.identity,
            state=FES_FAILED_ALLOWED if allowed else FES_FAILED,
            failure=failure.reason,
            retryable=failure.retryable,
        )

    def _shape(self, shape: CoverageShape) -> int:
        """The number of a shape. Most files share one object, which is known at a glance."""
        known = self._numbered.get(id(shape))
        if known is None:
            key = shape.SerializeToString(deterministic=True)
            if key not in self._shapes:
                self._shapes[key] = len(self._result.shapes)
                self._result.shapes.append(shape)
            known = self._numbered[id(shape)] = (shape, self._shapes[key])
        return known[1]


def balanced(
    files: Sequence[PlannedFile], policy: FilePolicy, parallelism: int
) -> list[CaptureTask]:
    """Tasks of about the same size: the largest files first, each to the task that has least.

    No more tasks than needed, since starting one costs Spark as much as reading a small file; but
    as many in the last wave as in any other.
    """
    most = _FOOTERS
    if policy.wants_data:
        most = max(1, min(_FILES, _SKETCHED_COLUMNS // len(policy.columns)))
    size = sum(file.identity.size_bytes for file in files) if policy.wants_data else 0
    waves = max(-(-len(files) // (most * parallelism)), -(-size // (_BYTES * parallelism)))
    many = min(len(files), waves * parallelism)
    loads = [0] * many
    filled: list[list[PlannedFile]] = [[] for _ in range(many)]
    for file in sorted(files, key=lambda file: -file.identity.size_bytes):
        open_ones = [place for place in range(many) if len(filled[place]) < most]
        place = min(open_ones, key=lambda place: loads[place])
        filled[place].append(file)
        loads[place] += file.identity.size_bytes
    return [
        CaptureTask(number, tuple(file.SerializeToString() for file in part))
        for number, part in enumerate(filled)
        if part
    ]
