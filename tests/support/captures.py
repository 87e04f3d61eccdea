"""Files captured without a service, and what DuckDB says of the same files."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as kinds

from ai.floedb.floecat.catalog.stats_pb2 import ScalarStats
from ai.floedb.floecat.execution.capture_pb2 import PlannedFile
from ai.floedb.floecat.execution.scan_pb2 import SFC_DATA, SFC_POSITION_DELETES
from floecat.artifacts.columns import to_scalar
from floecat.capture.columns import FilePolicy, WantedColumn
from floecat.capture.files import CapturedFile, capture_file
from floecat.connectors.spi.access import FileAccess
from floecat.security.guard import OutboundRules
from floecat.types.encoding import ValueEncoders
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType
from floecat.types.ordering import sort_key

_ENCODERS = ValueEncoders()


def access_to(folder: Path) -> FileAccess:
    """May open files below a folder."""
    return FileAccess(rules=OutboundRules(file_roots=(folder.resolve(),)))


def planned(path: Path, *, column_ids: Sequence[int] = ()) -> PlannedFile:
    """A file as a plan has it."""
    file = PlannedFile(column_ids=column_ids)
    file.identity.file_path = str(path.resolve())
    file.identity.size_bytes = path.stat().st_size
    file.identity.format_mark = "1"
    file.file.file_path = file.identity.file_path
    file.file.file_size_bytes = file.identity.size_bytes
    file.file.file_format = "parquet"
    file.file.content = SFC_DATA
    file.file.format_mark = "1"
    return file


def planned_deletes(path: Path) -> PlannedFile:
    """A file of position deletes as a plan has it."""
    file = planned(path)
    file.file.content = SFC_POSITION_DELETES
    return file


def logical_of(kind: pa.DataType) -> LogicalType:
    """The logical type that a table would have for an Arrow type."""
    if kinds.is_decimal(kind):
        return LogicalType(Kind.DECIMAL, precision=kind.precision, scale=kind.scale)
    if kinds.is_timestamp(kind):
        return LogicalType(Kind.TIMESTAMP if kind.tz is None else Kind.TIMESTAMPTZ)
    tests = (
        (kinds.is_boolean, Kind.BOOLEAN),
        (kinds.is_integer, Kind.INT),
        (kinds.is_float64, Kind.DOUBLE),
        (kinds.is_floating, Kind.FLOAT),
        (kinds.is_date, Kind.DATE),
        (kinds.is_time, Kind.TIME),
    )
    found = next((logical for test, logical in tests if test(kind)), None)
    if found is not None:
        return LogicalType(found)
    text = {pa.string(), pa.large_string(), pa.string_view()}
    return LogicalType(Kind.STRING if kind in text else Kind.BINARY)


def source_of(kind: pa.DataType) -> str:
    """What Iceberg would call an Arrow type, where that makes a difference."""
    if kinds.is_integer(kind):
        return "int" if kind.bit_width <= 32 and not kinds.is_uint32(kind) else "long"
    return "timestamp_ns" if kinds.is_timestamp(kind) and kind.unit == "ns" else ""


def wanted(
    schema: pa.Schema, *, sketches: bool = True, pages: bool = True
) -> tuple[WantedColumn, ...]:
    """Every top-level column, and everything of it."""
    return tuple(
        WantedColumn(
            column_id=number + 1,
            name=field.name,
            logical_type=logical_of(field.type),
            source_type=source_of(field.type),
            file_paths=((field.name,),),
            ndv=sketches,
            quantiles=sketches,
            frequent_items=sketches,
            page_index=pages,
        )
        for number, field in enumerate(schema)
    )


def captured(path: Path, *, sketches: bool = True, pages: bool = True) -> CapturedFile:
    """Everything of a file."""
    policy = FilePolicy(columns=wanted(pq.read_schema(path), sketches=sketches, pages=pages))
    return capture_file(access_to(path.parent), planned(path), policy)


def scalar_of(file: CapturedFile, column_id: int) -> ScalarStats:
    """What was learnt of a column, as the contract has it."""
    coverage = next(c for c in file.shape.columns if c.column_id == column_id)
    return to_scalar(coverage, file.rows[column_id], sketches=True)


def written(folder: Path, table: pa.Table, name: str = "data.parquet", **options: Any) -> Path:
    """A file with a table's rows."""
    path = folder / name
    pq.write_table(table, path, **options)
    return path


def same_text(path: Path, rows: int) -> Path:
    """A text of 5 MB over and over: some bytes in the file, and gigabytes in memory."""
    once = pa.array(["x" * 5_000_000])
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), once)
    table = pa.table({"s": pa.StructArray.from_arrays([texts], ["t"])})
    pq.write_table(
        table,
        path,
        compression="zstd",
        write_statistics=False,
        store_schema=False,
        dictionary_pagesize_limit=1 << 24,
    )
    assert path.stat().st_size < 2000
    return path


@dataclass(frozen=True, slots=True)
class Truth:
    """What DuckDB says of a column."""

    values: int
    nulls: int
    nans: int | None
    low: Any
    high: Any
    distinct: int


def truths(files: str | Sequence[str], columns: Sequence[tuple[str, LogicalType]]) -> list[Truth]:
    """Ask DuckDB of some columns at once; NaN is counted, and bounds nothing."""
    listed = [files] if isinstance(files, str) else files
    paths = [path.removeprefix("file://") for path in listed]
    asked = ", ".join(_asked(name, logical) for name, logical in columns)
    with duckdb.connect() as connection:
        connection.execute("SET threads = 2; SET TimeZone = 'UTC'")
        # It takes a footer's bounds to mean that there is no NaN, and then counts none.
        connection.execute("SET disabled_optimizers = 'statistics_propagation'")
        row = connection.execute(
            f"SELECT {asked} FROM read_parquet({paths}, hive_partitioning = false)"
        ).fetchone()
    assert row is not None
    return [Truth(*row[start : start + 6]) for start in range(0, len(row), 6)]


def truth(files: str, column: str, logical: LogicalType) -> Truth:
    """Ask DuckDB of one column."""
    [found] = truths(files, [(column, logical)])
    return found


def query_truth(connection: duckdb.DuckDBPyConnection, query: str, logical: LogicalType) -> Truth:
    """Ask DuckDB of the column `v` of a query."""
    row = connection.execute(f"SELECT {_asked('v', logical)} FROM ({query})").fetchone()
    assert row is not None
    return Truth(*row)


def _asked(column: str, logical: LogicalType) -> str:
    quoted = '"' + column.replace('"', '""') + '"'
    if not logical.kind.is_orderable:
        return f"count(*), count(*) - count({quoted}), NULL, NULL, NULL, 0"
    floating = logical.kind in {Kind.FLOAT, Kind.DOUBLE}
    number = f"CASE WHEN isnan({quoted}) THEN NULL ELSE {quoted} END" if floating else quoted
    nans = f"count(*) FILTER (isnan({quoted}))" if floating else "NULL"
    return (
        f"count(*), count(*) - count({quoted}), {nans}, min({number}), max({number}), "
        f"count(DISTINCT {quoted})"
    )


def assert_equals(stats: ScalarStats, said: Truth, logical: LogicalType) -> None:
    """Counts and bounds are exactly DuckDB's; distinct values are, where they say so."""
    assert stats.value_count == said.values
    assert stats.null_count == said.nulls
    if said.nans is not None:
        assert stats.nan_count == said.nans
    assert_bound(stats, "min", said.low, logical)
    assert_bound(stats, "max", said.high, logical)
    if stats.HasField("ndv"):
        assert_distinct(stats, said.distinct)


def assert_bound(stats: ScalarStats, name: str, value: Any, logical: LogicalType) -> None:
    if value is None:
        assert not stats.HasField(name)  # type: ignore[arg-type]  # min or max
        return
    said = _ENCODERS.encode_to_string(logical, _as_of_type(value, logical))
    if getattr(stats, f"{name}_tight"):
        assert getattr(stats, name) == said
    elif stats.HasField(name):  # type: ignore[arg-type]  # min or max
        key = sort_key(logical)
        low, high = (getattr(stats, name), said) if name == "min" else (said, getattr(stats, name))
        assert key(low) <= key(high)


def _as_of_type(value: Any, logical: LogicalType) -> Any:
    """Files have other types than their table where those were changed; times lack zones there."""
    zone = UTC if logical.kind is Kind.TIMESTAMPTZ else None
    if logical.kind not in {Kind.TIMESTAMP, Kind.TIMESTAMPTZ}:
        return value
    if isinstance(value, datetime):
        return value if value.tzinfo is not None else value.replace(tzinfo=zone)
    return datetime(value.year, value.month, value.day, tzinfo=zone)


def assert_distinct(stats: ScalarStats, distinct: int) -> None:
    if stats.ndv.WhichOneof("value") == "exact":
        assert stats.ndv.exact == distinct
        return
    approx = stats.ndv.approx
    # Three times as far as the bounds at 95 %, which hardly anything ever is.
    spread = 1.5 * (approx.upper_bound - approx.lower_bound)
    assert abs(approx.estimate - distinct) <= spread
