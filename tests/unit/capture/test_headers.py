"""Pages by their headers: the same as a page index says, and true of the values in them."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.support.captures import access_to, captured, planned, written

from floecat.artifacts.sidecars import PageRow
from floecat.capture.columns import FilePolicy, WantedColumn
from floecat.capture.files import CapturedFile, capture_file
from floecat.capture.parquet.headers import WalkedChunk, walk_pages
from floecat.capture.parquet.pages import PageBounds, PageLocations, parse_locations
from floecat.capture.parquet.reading import ParquetSource
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType

ROWS = 3_000
MOMENT = datetime(2024, 2, 29, 12, 30, 15, 123456, tzinfo=UTC).replace(tzinfo=None)


def _table() -> pa.Table:
    rng = np.random.default_rng(11)
    numbers = rng.integers(-(10**6), 10**6, ROWS)
    texts = [f"text {n}" for n in rng.integers(0, 300, ROWS)]
    floats = np.where(rng.random(ROWS) < 0.1, np.nan, rng.normal(size=ROWS))
    nanos = [int(n) * 1_001 for n in numbers]
    columns = {
        "bool": pa.array(rng.random(ROWS) < 0.01),
        "int8": pa.array((numbers % 100).astype(np.int8)),
        "int32": pa.array(numbers, pa.int32()),
        "int64": pa.array(np.sort(numbers)),
        "uint32": pa.array(rng.integers(0, 2**32, ROWS, dtype=np.uint32)),
        "uint64": pa.array(rng.integers(0, 2**62, ROWS, dtype=np.uint64)),
        "float16": pa.array(rng.normal(size=ROWS).astype(np.float16)),
        "float32": pa.array(np.where(rng.random(ROWS) < 0.5, 0.0, -0.0).astype(np.float32)),
        "float64": pa.array(floats, from_pandas=False),
        "all nan": pa.array(np.full(ROWS, np.nan), from_pandas=False),
        "short decimal": pa.array([Decimal(int(n)) / 100 for n in numbers], pa.decimal128(9, 2)),
        "long decimal": pa.array([Decimal(int(n)) for n in numbers], pa.decimal128(38, 3)),
        "date": pa.array(numbers % 20_000, pa.int32()).cast(pa.date32()),
        "time": pa.array(numbers % 86_400_000, pa.int32()).cast(pa.time32("ms")),
        "micros": pa.array([MOMENT + timedelta(seconds=int(n)) for n in numbers]),
        "nanos": pa.array(nanos, pa.timestamp("ns")),
        "text": pa.array(texts),
        "longer": pa.array([text * 8 for text in texts]),
        "longest": pa.array([text * 90 for text in texts]),
        "binary": pa.array([text.encode() + b"\xff" for text in texts]),
        "fixed": pa.array([bytes([n % 256, 255, 0]) for n in numbers.tolist()], pa.binary(3)),
    }
    holes = pa.array(rng.random(ROWS) < 0.3)
    some = {f"{name}?": _with_nulls(part, holes) for name, part in columns.items()}
    late = pa.array(np.arange(ROWS) < ROWS // 2)
    nulls = {"half": _with_nulls(columns["int64"], late), "none": pa.nulls(ROWS, pa.int32())}
    return pa.table({**columns, **some, **nulls})


def _with_nulls(values: pa.Array, holes: pa.Array) -> pa.Array:
    if values.type == pa.float16():  # which `if_else` doesn't know
        return pa.array(values.to_numpy(), mask=holes.to_numpy(zero_copy_only=False))
    return pc.if_else(holes, pa.scalar(None, values.type), values)


TABLE = _table()
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {"use_dictionary": False, "compression": "none"},
    "dictionary": {"compression": "snappy"},
    "fallback": {"dictionary_pagesize_limit": 600, "compression": "zstd"},
    "delta": {
        "use_dictionary": False,
        "compression": "gzip",
        "column_encoding": {"int64": "DELTA_BINARY_PACKED", "text": "DELTA_BYTE_ARRAY"},
    },
    "one page": {"data_page_size": 2**20, "write_batch_size": 1024, "compression": "lz4"},
    "checked": {"write_page_checksum": True},
}
Found = tuple[PageBounds, PageLocations]


def files(folder: Path, table: pa.Table, options: dict[str, Any]) -> tuple[Path, Path]:
    """The same file without a page index and with it."""
    small = {"row_group_size": 1_300, "data_page_size": 700, "write_batch_size": 90} | options
    without = written(folder, table, "without.parquet", **small)
    return without, written(folder, table, "with.parquet", write_page_index=True, **small)


@contextmanager
def opened(path: Path) -> Iterator[ParquetSource]:
    with pa.OSFile(str(path)) as file:
        yield ParquetSource(file, path.stat().st_size)


def walked(source: ParquetSource, group: int, leaf: int) -> Found:
    place = source.footer.row_groups[group][leaf].pages
    assert place is not None
    chunk = WalkedChunk(
        place,
        source.statistics.row_counts[group],
        source.statistics.chunks[group][leaf].value_count,
    )
    return walk_pages(chunk, source.read)


def same_rows(found: CapturedFile, index: CapturedFile) -> int:
    """Rows from headers say all that rows from an index do; texts may be tight besides."""
    assert len(found.pages) == len(index.pages)
    gained = 0
    # Headers with bounds are longer than those without, so pages are elsewhere and larger.
    elsewhere: dict[str, Any] = {"offset": None, "compressed_size": None, "boundary_order": None}
    for mine, other in zip(found.pages, index.pages, strict=True):
        said = mine._replace(**elsewhere)
        if mine.min_bytes is not None:
            assert (mine.min_tight, mine.max_tight) >= (other.min_tight, other.max_tight)
            gained += mine.min_tight and not other.min_tight
            said = said._replace(min_tight=other.min_tight, max_tight=other.max_tight)
        if other.null_count is None:  # there is no index of what has no bounds at all
            said = said._replace(null_count=None)
        assert said == other._replace(**elsewhere)
    return gained


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("name", OPTIONS)
def test_headers_say_what_a_page_index_says(name: str, version: str, tmp_path: Path) -> None:
    options = OPTIONS[name] | {"data_page_version": version}
    without, index = files(tmp_path, TABLE, options)
    found, expected = captured(without, sketches=False), captured(index, sketches=False)
    assert same_rows(found, expected) > 0
    assert found.page_coverage == expected.page_coverage
    assert found.page_coverage is not None
    assert found.page_coverage.row_groups_without_pages == 0
    assert found.rows == expected.rows
    with opened(index) as source:
        for group, leaf in np.ndindex(3, len(TABLE.column_names)):
            # Its headers have no bounds, and its pages are where the index has them.
            details = source.footer.row_groups[group][leaf]
            assert details.offset_index is not None
            places = parse_locations(source.read(details.offset_index))
            assert walked(source, group, leaf)[1] == places


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("name", OPTIONS)
def test_bounds_are_true_of_the_values(name: str, version: str, tmp_path: Path) -> None:
    path, _ = files(tmp_path, TABLE, OPTIONS[name] | {"data_page_version": version})
    pages = [row for row in captured(path, sketches=False).pages if row.page is not None]
    bounded = set()
    for row in pages:
        values = TABLE.column(row.column_id - 1)[row.first_row : row.first_row + row.row_count]
        assert row.null_count == values.null_count
        if holds(row, values):
            bounded.add(TABLE.column_names[row.column_id - 1].rstrip("?"))
    assert bounded == {*(name.rstrip("?") for name in TABLE.column_names)} - {
        "float16",  # whose order isn't known to be right
        "all nan",
        "none",
    }
    for column_id in range(1, len(TABLE.column_names) + 1):
        assert sum(row.row_count for row in pages if row.column_id == column_id) == ROWS


def holds(row: PageRow, values: pa.ChunkedArray) -> bool:
    """Whether a row has bounds: every value lies between them, and tight ones are values."""
    low, high = (
        next((part for part in parts if part is not None), None)
        for parts in (
            (row.min_int, row.min_float, row.min_bytes),
            (row.max_int, row.max_float, row.max_bytes),
        )
    )
    if low is None or high is None:
        return False
    found = comparable(values)
    least, most = min(found), max(found)
    assert low <= least
    assert most <= high
    assert not row.min_tight or low == least
    assert not row.max_tight or high == most
    return True


def comparable(values: pa.ChunkedArray) -> list[Any]:
    """As sidecars have values, but nanoseconds as parts of microseconds."""
    kind, values = values.type, values.drop_null()
    if pa.types.is_decimal(kind):
        return [int(value.scaleb(kind.scale)) for value in values.to_pylist()]
    if pa.types.is_timestamp(kind):
        part = {"us": 1, "ns": 1_000}[kind.unit]
        return [value / part for value in values.cast(pa.int64()).to_pylist()]
    if pa.types.is_time(kind):
        return [value * 1_000 for value in values.cast(pa.int32()).to_pylist()]
    if pa.types.is_date(kind):
        return list(values.cast(pa.int32()).to_pylist())
    found = values.to_pylist()
    if pa.types.is_string(kind):
        return [value.encode() for value in found]
    return [value for value in found if not (isinstance(value, float) and math.isnan(value))]


def leaf_column(path: tuple[str, ...], column_id: int) -> WantedColumn:
    return WantedColumn(
        column_id=column_id,
        name=".".join(path),
        logical_type=LogicalType(Kind.INT),
        file_paths=(path,),
        page_index=True,
    )


NESTED = pa.table(
    {
        "l": [[n] * (n % 4) if n % 5 else None for n in range(ROWS)],
        "s": pa.array([{"x": n if n % 3 else None} if n % 7 else None for n in range(ROWS)]),
        "m": pa.array(
            [[(n, n + 1)] * (n % 3) for n in range(ROWS)], pa.map_(pa.int64(), pa.int64())
        ),
    }
)
PATHS = (("l", "element"), ("s", "x"), ("m", "key"), ("m", "value"))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_pages_of_lists_need_headers_that_count_rows(version: str, tmp_path: Path) -> None:
    policy = FilePolicy(columns=tuple(leaf_column(path, n) for n, path in enumerate(PATHS, 1)))
    without, index = files(tmp_path, NESTED, {"data_page_version": version})
    found, expected = (
        capture_file(access_to(tmp_path), planned(path), policy) for path in (without, index)
    )
    assert found.page_coverage is not None
    if version == "2.0":
        same_rows(found, expected)
        assert found.page_coverage == expected.page_coverage
        return
    pages = [row for row in found.pages if row.page is not None]
    assert {row.column_id for row in pages} == {2}
    assert pages[0].null_count is not None
    assert found.page_coverage.row_groups_without_pages == 3


def test_lists_of_one_value_each_have_a_row_for_each(tmp_path: Path) -> None:
    lists = [[n] if n % 3 else [] if n % 2 else None for n in range(ROWS)]
    path, _ = files(tmp_path, pa.table({"l": lists}), {"use_dictionary": False})
    policy = FilePolicy(columns=(leaf_column(("l", "element"), 1),))
    found = capture_file(access_to(tmp_path), planned(path), policy)
    pages = [row for row in found.pages if row.page is not None]
    assert sum(row.row_count for row in pages) == ROWS
    for row in pages:
        inside = [part[0] for part in lists[row.first_row : row.first_row + row.row_count] if part]
        assert (row.min_int, row.max_int) == (min(inside), max(inside))
        assert row.null_count is None


def test_an_unreadable_page_index_is_made_up_for(tmp_path: Path) -> None:
    without, index = files(tmp_path, TABLE.select(["int64", "text"]), {})
    content = bytearray(index.read_bytes())
    with opened(index) as source:
        for details in (chunk for group in source.footer.row_groups for chunk in group):
            assert details.column_index is not None
            content[details.column_index.offset] = 0xFF
    index.write_bytes(content)
    found, expected = captured(index, sketches=False), captured(without, sketches=False)
    assert found.page_coverage == expected.page_coverage
    shared = [(row.page, row.first_row, row.row_count) for row in expected.pages]
    assert [(row.page, row.first_row, row.row_count) for row in found.pages] == shared


def test_texts_too_long_for_bounds_have_places(tmp_path: Path) -> None:
    texts = [f"{n:05}" * 2_000 for n in range(400)]
    cases: list[dict[str, Any]] = [{}, {"write_page_index": True}, {"write_statistics": False}]
    for options in cases:
        path = written(tmp_path, pa.table({"t": texts}), data_page_size=100_000, **options)
        pages = [row for row in captured(path).pages if row.page is not None]
        assert sum(row.row_count for row in pages) == 400
        assert all(row.offset and row.compressed_size for row in pages)
        assert all(row.min_bytes is None and not row.min_tight for row in pages)


def test_headers_may_be_long(tmp_path: Path) -> None:
    texts = [f"{n:05}" * 700 for n in range(400)]  # as long as pyarrow keeps bounds of
    path, _ = files(tmp_path, pa.table({"t": texts}), {"use_dictionary": False})
    pages = [row for row in captured(path).pages if row.page is not None]
    assert len(pages) > 3
    for row in pages:
        first, last = texts[row.first_row], texts[row.first_row + row.row_count - 1]
        assert row.min_bytes is not None
        assert row.max_bytes is not None
        assert row.min_bytes <= first.encode() <= last.encode() <= row.max_bytes
        assert not row.min_tight


def test_old_timestamps_have_no_bounds(tmp_path: Path) -> None:
    table = TABLE.select(["micros", "micros?"])
    path, _ = files(tmp_path, table, {"use_deprecated_int96_timestamps": True})
    pages = [row for row in captured(path).pages if row.page is not None]
    assert sum(row.row_count for row in pages) == 2 * ROWS
    assert all(row.min_int is None for row in pages)


def test_writers_that_state_nothing_of_pages(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    duckdb.execute(
        f"COPY (SELECT range AS n, range || 't' AS t FROM range(300_000)) TO '{path}' "
        "(FORMAT parquet, ROW_GROUP_SIZE 100_000)"
    )
    found = captured(path, sketches=False)
    assert found.page_coverage is not None
    assert found.page_coverage.row_groups_without_pages == 0
    for column_id in (1, 2):
        pages = [row for row in found.pages if row.column_id == column_id and row.page is not None]
        assert sum(row.row_count for row in pages) == 300_000


@pytest.mark.parametrize("indexed", [False, True])
def test_bounds_are_not_believed_in_files_that_do_not_say_how_they_compare(
    tmp_path: Path, indexed: bool
) -> None:
    path = written(tmp_path, pa.table({"n": [1, 2, 3]}), write_page_index=indexed)
    [page] = [row for row in captured(path, sketches=False).pages if row.page is not None]
    assert (page.min_int, page.max_int) == (1, 3)
    content = path.read_bytes()
    orders = b"\x19\x1c\x1c\x00\x00\x00"  # a list of one, which is the order of the type
    footer_end = len(content) - 8
    assert content[:footer_end].endswith(orders)
    length = int.from_bytes(content[-8:-4], "little") - len(orders) + 1
    path.write_bytes(
        content[: footer_end - len(orders)] + b"\0" + length.to_bytes(4, "little") + b"PAR1"
    )
    [page] = [row for row in captured(path, sketches=False).pages if row.page is not None]
    assert (page.row_count, page.null_count, page.min_int, page.max_int) == (3, 0, None, None)


def test_an_index_that_goes_beyond_its_row_group_is_not_believed(tmp_path: Path) -> None:
    """Its last page begins behind the last row."""
    table = pa.table({"n": pa.array(range(1000))})
    options: Any = {"use_dictionary": False, "data_page_size": 100, "write_batch_size": 50}
    path = written(tmp_path, table, write_page_index=True, **options)
    content = bytearray(path.read_bytes())
    with opened(path) as source:
        place = source.footer.row_groups[0][0].offset_index
    assert place is not None
    before = parse_locations(bytes(content[place.offset : place.end])).first_rows
    index = content[place.offset : place.end]
    last = zigzag(before[-1])
    assert index.count(last) == 1
    content[place.offset : place.end] = index.replace(last, zigzag(before[-1] + 1000))
    path.write_bytes(content)
    pages = [row for row in captured(path, sketches=False).pages if row.page is not None]
    assert [row.first_row for row in pages] == list(before), "as the headers say"
    assert sum(row.row_count for row in pages) == 1000


def zigzag(number: int) -> bytes:
    """As thrift writes a number of three digits."""
    return bytes([2 * number & 0x7F | 0x80, 2 * number >> 7])


def test_what_is_read_of_headers_is_counted(tmp_path: Path) -> None:
    path, index = files(tmp_path, TABLE.select(["int64"]), {"use_dictionary": False})
    rows = captured(path, sketches=False, pages=False)
    pages = captured(path, sketches=False)
    assert pages.page_coverage is not None
    many = pages.page_coverage.page_count
    assert many > 20
    assert 20 * many < pages.bytes_read - rows.bytes_read <= 128 * many
    assert captured(index, sketches=False).bytes_read < pages.bytes_read


def test_an_empty_file_lacks_no_pages(tmp_path: Path) -> None:
    path = written(tmp_path, TABLE.select(["int64", "text?"]).slice(0, 0))
    found = captured(path, sketches=False)
    assert found.page_coverage is not None
    assert found.page_coverage.row_groups_without_pages == 0
