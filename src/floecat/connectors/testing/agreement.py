"""Whether statistics agree with each other, and with the rows of the files they speak of.

Only parquet files are opened, and of their columns only those at the top that hold plain values.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from ai.floedb.floecat.catalog.stats_pb2 import (
    FileTargetStats,
    ScalarStats,
    TableValueStats,
    TargetStatsRecord,
)
from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.columns import NumberedColumn, SourceColumn
from floecat.types.bounds import lower_bound, upper_bound
from floecat.types.errors import InvalidValueError
from floecat.types.messages import from_message
from floecat.types.ordering import comparator, sort_key

MAX_FILES: Final = 10
MAX_ROWS: Final = 100_000
_FIELD_ID: Final = b"PARQUET:field_id"


def check_merged(records: Sequence[TargetStatsRecord]) -> None:
    """Columns are what their files make together, and no more rows are seen than there are."""
    files = [record.file for record in records if record.HasField("file")]
    for record in records:
        if record.HasField("scalar"):
            _check_column(record.scalar, _of_column(files, record.target.column.column_id))
        elif record.HasField("table"):
            _check_live(record.table)
    for file in files:
        _check_live(file)


def check_rows(
    records: Sequence[TargetStatsRecord], columns: Sequence[NumberedColumn], access: FileAccess
) -> None:
    """What is said of files is what reading them shows."""
    by_id = {column.column_id: column.column for column in columns}
    files = [r.file for r in records if r.HasField("file") and r.file.file_format == "parquet"]
    for file in files[:MAX_FILES]:
        with access.open(file.identity.file_path) as opened:
            _check_file(file, by_id, pq.ParquetFile(opened))


def _check_file(
    file: FileTargetStats, columns: Mapping[int, SourceColumn], parquet: pq.ParquetFile
) -> None:
    rows = parquet.metadata.num_rows
    if file.HasField("row_count"):
        assert file.row_count == rows, f"{file.identity.file_path} has {rows} rows"
    if rows > MAX_ROWS:
        return
    for stats in file.columns:
        name = _find_name(parquet.schema_arrow, columns[stats.column_id])
        if name is not None:
            _check_values(stats.scalar, parquet.read(columns=[name]).column(name))


def _find_name(schema: pa.Schema, column: SourceColumn) -> str | None:
    """What a file calls a column; None when it has no such plain one at its top."""
    ids = {
        field.name: int(field.metadata[_FIELD_ID])
        for field in schema
        if field.metadata and _FIELD_ID in field.metadata
    }
    for field in schema:
        by_id = column.source_id is not None and bool(ids)
        same = ids.get(field.name) == column.source_id if by_id else (field.name,) == column.path
        if same and len(column.path) == 1 and schema.names.count(field.name) == 1:
            return None if pa.types.is_nested(field.type) else str(field.name)
    return None


def _check_values(stats: ScalarStats, values: pa.ChunkedArray) -> None:
    name = stats.display_name
    if stats.HasField("value_count"):
        assert stats.value_count == len(values), f"{name} has {len(values)} values"
    if stats.HasField("null_count"):
        assert stats.null_count == values.null_count, f"{name} has {values.null_count} NULLs"
    logical = from_message(stats.logical_type)
    if not logical.kind.is_orderable:
        return
    try:
        present = [v for v in values.drop_null().to_pylist() if v == v]  # noqa: PLR0124 - NaN
        ordered = sorted(present, key=sort_key(logical))
        low = lower_bound(logical, ordered[0]) if ordered else None
        high = upper_bound(logical, ordered[-1]) if ordered else None
    except (InvalidValueError, ValueError):
        return  # Python has no such value: nanoseconds, times beyond its years
    _check_bounds(stats, low.encoded if low else None, high.encoded if high else None)


def _check_bounds(stats: ScalarStats, low: str | None, high: str | None) -> None:
    name = stats.display_name
    compare = comparator(from_message(stats.logical_type))
    if stats.HasField("min") and low is not None:
        assert compare(stats.min, low) <= 0, f"{name} has {low!r}, which is less than the minimum"
        assert not stats.min_tight or compare(stats.min, low) == 0, f"no {name} is {stats.min!r}"
    if stats.HasField("max") and high is not None:
        assert compare(stats.max, high) >= 0, f"{name} has {high!r}, which is above the maximum"
        assert not stats.max_tight or compare(stats.max, high) == 0, f"no {name} is {stats.max!r}"


def _of_column(files: Sequence[FileTargetStats], column_id: int) -> list[ScalarStats]:
    """A column's statistics in every file that has rows; empty ones where a file has none."""
    found: list[ScalarStats] = []
    for file in files:
        if not file.HasField("row_count") or file.row_count:
            known = {part.column_id: part.scalar for part in file.columns}
            found.append(known.get(column_id, ScalarStats()))
    return found


def _check_column(merged: ScalarStats, parts: Sequence[ScalarStats]) -> None:
    name = merged.display_name
    _check_sum(merged, parts, "value_count")
    _check_sum(merged, parts, "null_count")
    logical = from_message(merged.logical_type)
    if not logical.kind.is_orderable:
        return
    compare = comparator(logical)
    if merged.HasField("min"):
        lows = [part for part in parts if part.HasField("min")]
        assert all(compare(merged.min, p.min) <= 0 for p in lows), f"a file has less of {name}"
        met = any(p.min_tight and compare(merged.min, p.min) == 0 for p in lows)
        assert met or not merged.min_tight, f"no file has the minimum of {name}"
    if merged.HasField("max"):
        highs = [part for part in parts if part.HasField("max")]
        assert all(compare(merged.max, p.max) >= 0 for p in highs), f"a file has more of {name}"
        met = any(p.max_tight and compare(merged.max, p.max) == 0 for p in highs)
        assert met or not merged.max_tight, f"no file has the maximum of {name}"


def _check_sum(merged: ScalarStats, parts: Sequence[ScalarStats], count: Any) -> None:
    if merged.HasField(count) and all(part.HasField(count) for part in parts):
        total = sum(getattr(part, count) for part in parts)
        assert getattr(merged, count) == total, f"the files' {count} of {merged.display_name}"


def _check_live(counted: TableValueStats | FileTargetStats) -> None:
    if counted.HasField("live_row_count") and counted.HasField("row_count"):
        assert counted.live_row_count <= counted.row_count, "more rows are seen than there are"
