"""FileGroupCapture: what is learnt from the files of a group, however it is learnt."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from ai.floedb.floecat.catalog.stats_pb2 import FileIdentity, TargetStatsRecord
from ai.floedb.floecat.catalog.table_pb2 import ColumnId
from ai.floedb.floecat.execution.capture_pb2 import (
    DCS_EXPLICIT,
    DCS_FIRST_N,
    FES_FAILED,
    FES_FAILED_ALLOWED,
    FES_SUCCEEDED,
    CapturePolicy,
    FileExecutionResult,
    FileGroup,
    FileGroupResultChunk,
)
from ai.floedb.floecat.execution.scan_pb2 import ScanFile
from ai.floedb.floecat.reconciler.executor_control_pb2 import GetLeasedFileGroupExecutionResponse
from floecat.connectors.spi.columns import ColumnPath, ColumnScope, SourceColumn
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.records import Namespace
from floecat.worker.scopes import namespace_of
from floecat.worker.work import LeasedWork

PARQUET: Final = frozenset({"", "parquet"})
"""Formats of files that are read; a source that doesn't say has parquet."""


@dataclass(frozen=True, slots=True)
class GroupTask:
    """A group of files, and what is wanted of it."""

    given: GetLeasedFileGroupExecutionResponse
    group: FileGroup

    @property
    def relation(self) -> tuple[Namespace, str]:
        """The table as the upstream calls it."""
        return namespace_of(self.given.source), self.given.source.name


class FileGroupCapture(Protocol):
    """Learns what the policy asks for from every file of a group."""

    def opens(self, file: ScanFile) -> bool:
        """Whether it reads such a file; of others it keeps what the upstream's metadata says."""

    def capture(
        self, connector: FloecatConnector, task: GroupTask, work: LeasedWork
    ) -> Iterator[FileGroupResultChunk]:
        """Per planned file exactly one result, with what was learnt of it, in pieces of any size.

        Delete files have results of their own. A file that can't be read is a failed result, not an
        error. Errors mean that none can.
        """


class NativeFileGroupCapture:
    """What the upstream's own metadata says of the files; none is opened."""

    def opens(self, file: ScanFile) -> bool:
        """None."""
        return False

    def capture(
        self, connector: FloecatConnector, task: GroupTask, work: LeasedWork
    ) -> Iterator[FileGroupResultChunk]:
        for delete_file in task.group.delete_files:
            # Metadata doesn't say which rows it takes away, and that is fine: nothing is known.
            unread = FileExecutionResult(identity=delete_file.identity, state=FES_SUCCEEDED)
            yield FileGroupResultChunk(delete_files=[unread])
        untold: dict[str, FileIdentity] = {}
        for planned in task.group.files:
            if planned.HasField("told"):
                planned.told.identity.CopyFrom(planned.identity)
                yield self._captured(task, planned.identity, TargetStatsRecord(file=planned.told))
            else:
                untold[planned.identity.file_path] = planned.identity
        if untold:
            yield from self._asked(connector, task, untold, work)

    def _asked(
        self,
        connector: FloecatConnector,
        task: GroupTask,
        missing: dict[str, FileIdentity],
        work: LeasedWork,
    ) -> Iterator[FileGroupResultChunk]:
        """Ask the upstream for what the plan doesn't tell: it looks through the whole snapshot."""
        snapshot_id = task.given.snapshot_id
        scope = column_scope(
            task.given.capture_policy,
            task.given.column_ids,
            lambda: connector.snapshot_columns(*task.relation, snapshot_id),
        )
        records = connector.capture_snapshot_target_stats(*task.relation, snapshot_id, scope)
        for record in records:
            # FILE records come first: without any file missing, the rest needn't be computed.
            if not missing or not record.HasField("file"):
                break
            work.require_live()
            planned = missing.pop(record.file.identity.file_path, None)
            if planned is not None:
                yield self._captured(task, planned, record)
        for identity in missing.values():
            yield _failed(task, identity, "the upstream's metadata doesn't tell of it any more")

    def _captured(
        self, task: GroupTask, planned: FileIdentity, record: TargetStatsRecord
    ) -> FileGroupResultChunk:
        if record.file.identity != planned:
            return _failed(task, planned, "it isn't the file any more that was planned")
        record.target.file.file_path = planned.file_path
        record.table_id.CopyFrom(task.given.table_id)
        record.snapshot_id = task.given.snapshot_id
        result = FileExecutionResult(identity=planned, state=FES_SUCCEEDED)
        if record.file.HasField("row_count"):
            result.row_count = record.file.row_count
        return FileGroupResultChunk(files=[result], stats=[record])


def column_scope(
    policy: CapturePolicy,
    column_ids: Iterable[ColumnId],
    columns: Callable[[], Sequence[SourceColumn]],
) -> ColumnScope:
    """The columns that a policy means; `columns` tells those of the snapshot, if it must."""
    numbers = {tuple(column.path): column.column_id for column in column_ids if not column.dropped}
    if policy.columns:
        return ColumnScope(tuple(column.selector for column in policy.columns), numbers)
    if policy.default_scope == DCS_EXPLICIT:
        return _only((), numbers)
    if policy.default_scope == DCS_FIRST_N:
        first = ColumnScope((), numbers).selected(columns()[: policy.first_n])
        return _only(tuple(column.column_id for column in first), numbers)
    return ColumnScope((), numbers)


def _only(column_ids: tuple[int, ...], numbers: Mapping[ColumnPath, int]) -> ColumnScope:
    # No selectors mean every column; ids start at 1, so #0 means none.
    return ColumnScope(tuple(f"#{number}" for number in column_ids or (0,)), numbers)


def _failed(task: GroupTask, identity: FileIdentity, reason: str) -> FileGroupResultChunk:
    allowed = task.given.capture_policy.allow_failed_files
    result = FileExecutionResult(
        identity=identity,
        state=FES_FAILED_ALLOWED if allowed else FES_FAILED,
        failure=f"{identity.file_path}: {reason}",
    )
    return FileGroupResultChunk(files=[result])
