"""Sidecars: a parquet file of page bounds for one source file.

A row per column, row group and page; the row of a whole row group has no page. A row per column
without a row group is of the whole file, and has the column's values when there are few. Bounds are
typed by what the column is: whole numbers (days, microseconds, unscaled digits, 0 and 1), floats,
or bytes that order like the column does.
"""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ai.floedb.floecat.catalog.stats_pb2 import FileIdentity
from ai.floedb.floecat.types.types_pb2 import LTK_DECIMAL, LogicalType
from floecat.errors import DataLossError
from floecat.storage.blobs.port import BlobRef, BlobStore

FORMAT: Final = "parquet-page-bounds"
FORMAT_VERSION: Final = 1
_COMPRESSION: Final = "zstd"


class RowBounds(NamedTuple):
    """The typed bounds of a row: of one type, or of none when they aren't known."""

    min_int: int | None = None
    max_int: int | None = None
    min_float: float | None = None
    max_float: float | None = None
    min_bytes: bytes | None = None
    max_bytes: bytes | None = None
    min_tight: bool = False
    max_tight: bool = False


class PageRow(NamedTuple):
    """Bounds of a page, a row group or a file. None is unknown."""

    column_id: int
    row_group: int | None = None
    page: int | None = None
    first_row: int = 0
    """Counted in the whole file."""
    row_count: int = 0
    null_count: int | None = None
    nan_count: int | None = None
    # As in RowBounds, which is written here field by field.
    min_int: int | None = None
    max_int: int | None = None
    min_float: float | None = None
    max_float: float | None = None
    min_bytes: bytes | None = None
    max_bytes: bytes | None = None
    min_tight: bool = False
    max_tight: bool = False
    offset: int | None = None
    compressed_size: int | None = None
    boundary_order: int | None = None
    """0 unordered, 1 ascending, 2 descending; of a row group's pages."""
    values: tuple[str, ...] | None = None
    """Every value there is, canonical, if they are few."""


SCHEMA: Final = pa.schema(
    [
        pa.field("column_id", pa.int32(), nullable=False),
        ("row_group", pa.int32()),
        ("page", pa.int32()),
        pa.field("first_row", pa.int64(), nullable=False),
        pa.field("row_count", pa.int64(), nullable=False),
        ("null_count", pa.int64()),
        ("nan_count", pa.int64()),
        ("min_int", pa.int64()),
        ("max_int", pa.int64()),
        ("min_float", pa.float64()),
        ("max_float", pa.float64()),
        ("min_bytes", pa.binary()),
        ("max_bytes", pa.binary()),
        pa.field("min_tight", pa.bool_(), nullable=False),
        pa.field("max_tight", pa.bool_(), nullable=False),
        ("offset", pa.int64()),
        ("compressed_size", pa.int64()),
        ("boundary_order", pa.int8()),
        ("values", pa.list_(pa.string())),
    ]
)


def mean_the_same(older: LogicalType, newer: LogicalType) -> bool:
    """Whether rows of a column that had one type say the same of it when it has another.

    All whole numbers are INT, and more digits before the point change nothing. Another scale does
    (unscaled digits), a date that becomes a timestamp (days, microseconds), a whole number that
    becomes a float or a decimal; and a FLOAT that becomes a DOUBLE, whose values are written with
    more digits.
    """
    if older.kind == newer.kind == LTK_DECIMAL:
        return older.scale == newer.scale
    return older == newer


def write_sidecar(
    blobs: BlobStore,
    name: str,
    identity: FileIdentity,
    rows: Iterable[PageRow],
    kept: pa.Table | None = None,
) -> BlobRef:
    """Write a source file's page bounds; `kept` are rows of an older sidecar of the same file."""
    columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMA)
    arrays = [pa.array(columns[n], part.type) for n, part in enumerate(SCHEMA)]
    table = pa.Table.from_arrays(arrays, schema=SCHEMA)
    if kept is not None:
        table = pa.concat_tables([kept, table])
    about = {"floecat.format": FORMAT, "floecat.format-version": str(FORMAT_VERSION)}
    table = table.replace_schema_metadata(about | _source(identity))
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression=_COMPRESSION, write_statistics=False)
    with blobs.writer(name) as writer:
        writer.write(memoryview(sink.getvalue()))
    return writer.ref


def read_sidecar(content: bytes | memoryview) -> pa.Table:
    """The rows of a sidecar, as a table of `SCHEMA`."""
    try:
        table = pq.read_table(pa.BufferReader(content))
    except (pa.ArrowInvalid, OSError) as error:
        raise DataLossError(f"this isn't a sidecar: {error}") from error
    about = table.schema.metadata or {}
    version = about.get(b"floecat.format-version", b"").decode("utf-8", "replace")
    if about.get(b"floecat.format") != FORMAT.encode() or version != str(FORMAT_VERSION):
        raise DataLossError(
            f"this is no sidecar of version {FORMAT_VERSION}, which is what is read here"
        )
    return table


def rows_of(
    content: bytes | memoryview, identity: FileIdentity, column_ids: Collection[int]
) -> pa.Table:
    """The rows that a source file's sidecar has of some columns."""
    table = read_sidecar(content)
    about = table.schema.metadata
    if any(about.get(key.encode()) != value.encode() for key, value in _source(identity).items()):
        raise DataLossError(f"this isn't a sidecar of {identity.file_path}")
    try:
        rows = table.select(SCHEMA.names).cast(SCHEMA)
    except (KeyError, ValueError) as error:
        raise DataLossError(f"this isn't laid out as a sidecar: {error}") from error
    return rows.filter(pc.is_in(rows.column("column_id"), pa.array(column_ids, pa.int32())))


def _source(identity: FileIdentity) -> dict[str, str]:
    """What a sidecar says of the file that it is of."""
    return {
        "floecat.source-path": identity.file_path,
        "floecat.source-size": str(identity.size_bytes),
        "floecat.source-mark": identity.format_mark,
    }
