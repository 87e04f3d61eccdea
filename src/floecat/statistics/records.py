"""Records of a finalized snapshot: the table's and its columns', with how far they go."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from ai.floedb.floecat.catalog.stats_pb2 import (
    NM_ESTIMATE,
    NM_THETA,
    Ndv,
    NdvApprox,
    ScalarStats,
    StatsCoverage,
    StatsMetadata,
    TableValueStats,
    TargetStatsRecord,
)
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.execution.capture_pb2 import UpstreamNdv
from ai.floedb.floecat.statistics.statistics_pb2 import (
    ColumnStatsTarget,
    StatsTarget,
    TableStatsTarget,
)
from floecat.artifacts.columns import ColumnRow, to_scalar
from floecat.connectors.spi.merging import MOST
from floecat.statistics.merging import MergedColumn

PRODUCER: Final = "floecat"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureOrigin:
    """Where the records of a finalized snapshot come from."""

    table_id: ResourceId
    snapshot_id: int
    generation: int
    job_id: str
    captured_at: Timestamp


@dataclass(slots=True, kw_only=True)
class FilesSeen:
    """How much of a snapshot could be read."""

    files_total: int = 0
    files_failed: int = 0
    rows_total: int | None = 0
    rows_failed: int | None = 0

    def add(self, rows: int | None, *, failed: bool) -> None:
        """Count a file."""
        self.files_total += 1
        self.rows_total = _sum(self.rows_total, rows)
        if failed:
            self.files_failed += 1
            self.rows_failed = _sum(self.rows_failed, rows)

    @property
    def rows_seen(self) -> int | None:
        """Rows in files that could be read."""
        if self.rows_total is None or self.rows_failed is None:
            return None
        return self.rows_total - self.rows_failed

    def coverage(self) -> StatsCoverage:
        """The same as records have it."""
        return StatsCoverage(
            rows_seen=self.rows_seen,
            rows_total=self.rows_total,
            files_seen=self.files_total - self.files_failed,
            files_total=self.files_total,
            files_failed=self.files_failed,
        )


class SnapshotRecords:
    """Makes the records of one snapshot."""

    def __init__(
        self,
        origin: CaptureOrigin,
        seen: FilesSeen,
        names: Mapping[int, str] | None = None,
        upstream: Iterable[UpstreamNdv] = (),
    ) -> None:
        self._origin = origin
        self._seen = seen
        self._names = names or {}
        self._upstream = {told.column_id: told for told in upstream}

    def table(self, value: TableValueStats) -> TargetStatsRecord:
        """The record of the table."""
        target = StatsTarget(table=TableStatsTarget())
        return self._record(target, self._seen.coverage(), table=value)

    def columns(self, merged: Iterable[MergedColumn]) -> Iterator[TargetStatsRecord]:
        """A record per column. What was counted here comes before what the upstream says."""
        told = dict(self._upstream)
        for column in merged:
            row = self._partly_seen(column.row) if self._seen.files_failed else column.row
            scalar = to_scalar(column.coverage, row, sketches=True)
            column_id = column.coverage.column_id
            scalar.display_name = self._names.get(column_id, scalar.display_name)
            if column.upper_bound_only and scalar.HasField("ndv"):
                _bound_from_above(scalar)
            if self._seen.files_failed and not self._is_flat(column.row):
                _bound_from_below(scalar.ndv)
            upstream = told.pop(column_id, None)
            if upstream is not None and not scalar.HasField("ndv"):
                scalar.ndv.CopyFrom(upstream.ndv)
            yield self._column(column_id, scalar, self._coverage(column.row))
        for column_id, upstream in sorted(told.items()):
            name = self._names.get(column_id, "")
            scalar = ScalarStats(
                display_name=name, logical_type=upstream.logical_type, ndv=upstream.ndv
            )
            yield self._column(column_id, scalar, self._unseen())

    def _column(
        self, column_id: int, scalar: ScalarStats, coverage: StatsCoverage
    ) -> TargetStatsRecord:
        target = StatsTarget(column=ColumnStatsTarget(column_id=column_id))
        record = self._record(target, coverage)
        record.scalar.CopyFrom(scalar)
        return record

    def _unseen(self) -> StatsCoverage:
        """Of a column that no file was looked at for."""
        coverage = self._seen.coverage()
        coverage.rows_seen = coverage.files_seen = 0
        return coverage

    def _is_flat(self, row: ColumnRow) -> bool:
        """Whether every row has one value: of what is in lists it has none, or any number."""
        return row.value_count is not None and row.value_count == self._seen.rows_seen

    def _coverage(self, row: ColumnRow) -> StatsCoverage:
        """How many rows the column was looked at in; sketches count values."""
        coverage = self._seen.coverage()
        known = row.rows_seen is not None and row.value_count is not None
        if known and row.rows_seen != row.value_count:
            coverage.ClearField("rows_seen")
            if self._is_flat(row) and row.rows_seen is not None:
                coverage.rows_seen = row.rows_seen
        return coverage

    def _partly_seen(self, row: ColumnRow) -> ColumnRow:
        """What holds of a column when some files couldn't be read: no count, and no bound."""
        seen = row.value_count if row.rows_seen is None else row.rows_seen
        flat = self._is_flat(row)
        return replace(
            row,
            # How many values are in lists that nobody could read isn't known.
            value_count=self._seen.rows_total if flat else None,
            frequencies=row.frequencies if flat else None,
            null_count=None,
            nan_count=None,
            minimum=None,
            maximum=None,
            minimum_tight=False,
            maximum_tight=False,
            rows_seen=seen,
            dictionary_ndv=None,
        )

    def _record(
        self, target: StatsTarget, coverage: StatsCoverage, table: TableValueStats | None = None
    ) -> TargetStatsRecord:
        metadata = StatsMetadata(
            producer=PRODUCER,
            captured_at=self._origin.captured_at,
            coverage=coverage,
            generation=self._origin.generation,
            job_id=self._origin.job_id,
        )
        return TargetStatsRecord(
            table_id=self._origin.table_id,
            snapshot_id=self._origin.snapshot_id,
            target=target,
            metadata=metadata,
            table=table,
        )


def _bound_from_above(scalar: ScalarStats) -> None:
    """Values of files that are gone may have been counted; but no more than there are."""
    ndv = scalar.ndv
    if ndv.WhichOneof("value") == "exact":
        ndv.approx.CopyFrom(NdvApprox(estimate=ndv.exact, upper_bound=ndv.exact))
        ndv.method = NM_THETA
    approx = ndv.approx
    approx.ClearField("lower_bound")
    approx.upper_bound_only = True
    if scalar.HasField("value_count") and scalar.HasField("null_count"):
        most = scalar.value_count - scalar.null_count
        approx.estimate = min(approx.estimate, most)
        if approx.HasField("upper_bound"):
            approx.upper_bound = min(approx.upper_bound, most)


def _bound_from_below(ndv: Ndv) -> None:
    """Nobody knows how many values weren't counted."""
    if ndv.WhichOneof("value") == "exact":
        ndv.approx.CopyFrom(NdvApprox(estimate=ndv.exact, lower_bound=ndv.exact))
    if ndv.HasField("approx"):
        ndv.approx.ClearField("upper_bound")
        ndv.approx.upper_bound_only = False
        ndv.method = NM_ESTIMATE


def _sum(total: int | None, part: int | None) -> int | None:
    return None if total is None or part is None else min(total + part, MOST)
