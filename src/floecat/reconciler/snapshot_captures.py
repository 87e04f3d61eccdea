"""SnapshotCapture: what a snapshot's plan and its groups' results come to.

Goes through the frozen plan once, group by group, and leaves in the blob store what finalization
publishes: the scan index, the statistics of table and columns, and what both of them need.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ai.floedb.floecat.catalog.stats_pb2 import TargetStatsRecord
from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.execution.capture_pb2 import (
    FES_FAILED_ALLOWED,
    FileExecutionResult,
    FileGroup,
    PlannedFile,
    SnapshotPlan,
)
from ai.floedb.floecat.execution.scan_pb2 import SFC_DATA, ScanFile
from ai.floedb.floecat.execution.stored_pb2 import SnapshotHoldings
from ai.floedb.floecat.reconciler.stored_pb2 import StoredJob
from floecat.artifacts.index.building import ScanIndexBuilder
from floecat.artifacts.index.counting import PositionCounts
from floecat.artifacts.index.deletes import FileDeletes
from floecat.artifacts.index.reading import ScanIndexFile
from floecat.artifacts.index.rows import NewRow, SegmentUse
from floecat.artifacts.opened import OpenedSegments
from floecat.artifacts.payloads import reference
from floecat.artifacts.statistics import write_statistics
from floecat.connectors.spi.totals import CountedPositions, SnapshotTotals
from floecat.errors import DataLossError
from floecat.reconciler.group_results import GroupResults
from floecat.reconciler.snapshot_deletes import SnapshotDeletes
from floecat.reconciler.tasks import target_of
from floecat.statistics.merging import SnapshotMerge
from floecat.statistics.records import CaptureOrigin, FilesSeen, SnapshotRecords
from floecat.storage.blobs.port import BlobStore

_FAILED: Final = "it couldn't be read"


@dataclass(frozen=True, slots=True)
class CapturedSnapshot:
    """Where everything lies."""

    stats: BlobReference
    index: BlobReference
    segments: BlobReference
    """The holdings: what must be kept for as long as the snapshot is."""
    unread_deletes: int
    """Files of position deletes that apply to some file, and whose positions aren't known."""


class SnapshotCapture:
    """Puts one snapshot together. Files are kept and added in the plan's order."""

    def __init__(
        self,
        blobs: BlobStore,
        plan: SnapshotPlan,
        delete_files: Sequence[ScanFile],
        prefix: str,
        working: Callable[[], object],
    ) -> None:
        self._blobs = blobs
        self._plan = plan
        self._delete_files = delete_files
        self._prefix = prefix
        self._working = working
        self._opened = OpenedSegments(blobs, working)
        self._results = GroupResults(blobs, self._opened)
        self._totals = SnapshotTotals(delete_files)
        self._seen = FilesSeen()
        base = self._base()
        self._deletes = SnapshotDeletes(delete_files, base)
        self._index = ScanIndexBuilder(blobs, prefix, self._opened.open, base)

    def _base(self) -> ScanIndexFile | None:
        """The index that files are used again from."""
        if not self._plan.base_index.uri:
            return None
        base = ScanIndexFile.open(self._blobs, self._plan.base_index)
        if base.index.table_id.id != self._plan.table_id.id:
            raise DataLossError("the plan uses files of another table again")
        return base

    @property
    def files(self) -> int:
        """How many were taken so far."""
        return self._seen.files_total

    def reuse(self, files: Iterable[PlannedFile]) -> None:
        """Take files that no group read, because an earlier capture covers them."""
        for file in files:
            rows = self._kept_rows(file)
            deletes = self._file_deletes(_scan_file(file), rows, self._deletes.live_before(file))
            self._seen.add(rows, failed=False)
            self._index.keep(file.identity, file.index_part, file.index_row, deletes)

    def execute(self, group: FileGroup, job: StoredJob | None) -> None:
        """Take the files of a group, with what became of them."""
        self._working()
        if job is None or target_of(job).file_group_id != group.group_id:
            raise DataLossError(f"there is no job of the group {group.group_id} where it should be")
        result = self._results.read(job)
        self._deletes.learn(self._results.deletes(result))
        uses = self._results.uses(job, result, self._prefix.rpartition("/")[2])
        for file in group.files:
            path = file.identity.file_path
            self._add(file, result.files.get(path), uses.get(path, ()))

    def finish(self, origin: CaptureOrigin) -> CapturedSnapshot:
        """Write index, statistics and holdings."""
        counts = PositionCounts(self._deletes.known, self._opened)
        index = self._index.finish(
            origin.table_id,
            origin.snapshot_id,
            self._delete_files,
            counts,
            self._plan.column_ids,
            source_ids=self._plan.source_ids,
        )
        opened = ScanIndexFile.open(self._blobs, index)
        upstream = self._plan.upstream_ndv
        records = SnapshotRecords(origin, self._seen, opened.names, upstream)
        made = list(self._records(records, opened))
        stats = write_statistics(self._blobs, f"{self._prefix}/statistics", made)
        return CapturedSnapshot(
            stats=reference(stats),
            index=index,
            segments=self._hold(opened),
            unread_deletes=len(self._totals.unread(self._deletes.known)),
        )

    def _records(
        self, records: SnapshotRecords, index: ScanIndexFile
    ) -> Iterator[TargetStatsRecord]:
        # Whatever was read now, all that is known is told: a capture takes nothing away.
        counted = CountedPositions(
            delete_files=self._deletes.known,
            taken=self._index.deletes.taken,
            is_complete=self._index.deletes.is_complete,
        )
        yield records.table(self._totals.result(counted))
        merged = SnapshotMerge(index, self._opened.open).columns()
        yield from records.columns(
            column
            for column in merged
            if not index.names or column.coverage.column_id in index.names
        )

    def _add(
        self,
        file: PlannedFile,
        result: FileExecutionResult | None,
        learnt: Sequence[SegmentUse],
    ) -> None:
        if result is None:
            raise DataLossError(f"there is no result of {file.identity.file_path}")
        scan_file = _scan_file(file)
        failed = result.state == FES_FAILED_ALLOWED
        rows = _rows(scan_file, result)
        self._seen.add(rows, failed=failed)
        row = NewRow(
            identity=file.identity,
            scan_file=scan_file,
            row_count=rows,
            uses=[*self._earlier(file), *learnt],
            failure=(result.failure or _FAILED) if failed else "",
        )
        self._index.add(row, self._file_deletes(scan_file, rows))

    def _earlier(self, file: PlannedFile) -> Iterator[SegmentUse]:
        """What older segments know of a file of which only some columns were read now."""
        wanted = set(file.reused_from)
        if wanted:
            known = self._index.known(file.identity, file.index_part, file.index_row)
            yield from (use for use in known if use.segment.segment_id in wanted)

    def _kept_rows(self, file: PlannedFile) -> int | None:
        rows = self._index.row_count(file.index_part, file.index_row)
        planned = file.file
        return planned.record_count if rows is None and planned.HasField("record_count") else rows

    def _file_deletes(
        self, file: ScanFile, rows: int | None, known: int | None = None
    ) -> FileDeletes:
        """The deletes of a file. What positions leave of it is counted once all groups are in."""
        if any(not 0 <= n < len(self._delete_files) for n in file.delete_file_indexes):
            raise DataLossError(f"{file.file_path} speaks of delete files that aren't in the plan")
        live = self._totals.add(file, rows, known)
        return FileDeletes(list(file.delete_file_indexes), live, rows)

    def _hold(self, index: ScanIndexFile) -> BlobReference:
        holdings = SnapshotHoldings(segments=index.segments(), blobs=index.blobs())
        with self._blobs.writer(f"{self._prefix}/holdings") as writer:
            writer.write(holdings.SerializeToString(deterministic=True))
        return reference(writer.ref)


def _scan_file(file: PlannedFile) -> ScanFile:
    """The file as a scan has it; a plan that doesn't say so names its identity at least."""
    if file.HasField("file"):
        return file.file
    return ScanFile(
        file_path=file.identity.file_path,
        file_size_bytes=file.identity.size_bytes,
        format_mark=file.identity.format_mark,
        content=SFC_DATA,
    )


def _rows(file: ScanFile, result: FileExecutionResult) -> int | None:
    if result.HasField("row_count"):
        return result.row_count
    return file.record_count if file.HasField("record_count") else None
