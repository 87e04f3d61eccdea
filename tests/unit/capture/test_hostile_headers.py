"""Headers that lie: their chunk has no pages then, and nothing else comes of it."""

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.captures import access_to, planned, wanted, written

from floecat.artifacts.sidecars import PageRow
from floecat.capture.columns import FilePolicy
from floecat.capture.failures import CaptureFailure
from floecat.capture.files import CapturedFile, capture_file
from floecat.capture.parquet.errors import MalformedParquetError
from floecat.capture.parquet.headers import WalkedChunk, walk_pages
from floecat.capture.parquet.pages import PageBounds, PageLocations
from floecat.capture.parquet.reading import ParquetSource
from floecat.capture.parquet.spans import Span

LEAST, MOST = (1).to_bytes(8, "little"), (7).to_bytes(8, "little")


def zigzag(value: int) -> bytes:
    """A whole number, as thrift writes it."""
    left = value * 2 if value >= 0 else -value * 2 - 1
    said = b""
    while left >= 0x80:
        said += bytes([left & 0x7F | 0x80])
        left >>= 7
    return said + bytes([left])


def i32(field: int, value: int) -> bytes:
    return b"\x05" + zigzag(field) + zigzag(value)


def binary(field: int, value: bytes) -> bytes:
    length, said = len(value), b""
    while length >= 0x80:
        said += bytes([length & 0x7F | 0x80])
        length >>= 7
    return b"\x08" + zigzag(field) + said + bytes([length]) + value


def struct(field: int, *parts: bytes) -> bytes:
    return b"\x0c" + zigzag(field) + b"".join(parts) + b"\0"


def flag(field: int, *, value: bool) -> bytes:
    return (b"\x01" if value else b"\x02") + zigzag(field)


BOUNDS = struct(5, i32(3, 0), binary(5, MOST), binary(6, LEAST))


def page(values: int, body: bytes = b"", *, size: int | None = None, said: bytes = b"") -> bytes:
    """A page of the older sort: values, then whatever its header says besides."""
    length = i32(3, len(body) if size is None else size)
    return i32(1, 0) + i32(2, 5) + length + struct(5, i32(1, values), said) + b"\0" + body


def page_v2(values: int, nulls: int, rows: int, said: bytes = b"") -> bytes:
    counts = i32(1, values) + i32(2, nulls) + i32(3, rows)
    return i32(1, 3) + i32(2, 0) + i32(3, 0) + struct(8, counts, said) + b"\0"


class Chunk:
    """Some bytes as a column chunk, and what is read of them."""

    def __init__(self, content: bytes, rows: int, values: int | None = None) -> None:
        self._content = content
        self.read: list[Span] = []
        place = Span(4, len(content))
        self.chunk = WalkedChunk(place, rows, rows if values is None else values)

    def walk(self) -> tuple[PageBounds, PageLocations]:
        return walk_pages(self.chunk, self._read)

    def _read(self, span: Span) -> bytes:
        assert self.chunk.place.holds(span)
        assert span.length <= 64 * 1024
        self.read.append(span)
        return self._content[span.offset - 4 : span.end - 4]


def test_pages_and_what_lies_between_them() -> None:
    dictionary = i32(1, 2) + i32(2, 9) + i32(3, 9) + struct(7, i32(1, 1)) + b"\0" + b"x" * 9
    unknown = i32(1, 77) + i32(3, 3) + b"\0" + b"\0\0\0"
    first, second, third = page(3, b"abc", said=BOUNDS), page(2, b"d"), page_v2(4, 1, 4)
    found = Chunk(dictionary + first + unknown + second + third, 9)
    bounds, places = found.walk()
    start = 4 + len(dictionary)
    after = start + len(first) + len(unknown)
    assert places.offsets == [start, after, after + len(second)]
    assert places.sizes == [len(first), len(second), len(third)]
    assert places.first_rows == [0, 3, 5]
    assert bounds.null_counts == [0, None, 1]
    assert bounds.minimums == [LEAST, None, None]
    assert bounds.maximums == [MOST, None, None]
    assert bounds.boundary_order == 0
    assert bounds.nan_counts == [None, None, None]


def test_deprecated_bounds_are_none() -> None:
    old = struct(5, binary(1, MOST), binary(2, LEAST))
    bounds, _ = Chunk(page(3, said=old), 3).walk()
    assert (bounds.minimums, bounds.maximums) == ([None], [None])


def test_a_header_says_whether_bounds_are_exact() -> None:
    flags = [(True, False), (False, True)]
    stated = [
        struct(5, binary(5, MOST), binary(6, LEAST), flag(7, value=high), flag(8, value=low))
        for low, high in flags
    ]
    bounds, _ = Chunk(b"".join(page(1, said=said) for said in [*stated, BOUNDS]), 3).walk()
    assert bounds.min_exact == [True, False, None]
    assert bounds.max_exact == [False, True, None]


@pytest.mark.parametrize(
    "content",
    [
        page(3, size=2**31 - 1),
        page(3, size=2**62),
        page(3, size=1),
        page(3, size=-1),
        page(1) + page(2, size=-len(page(1) + page(2))),
        page(1) + page(1),
        page(4),
        page(-1) + page(4),
        page(2**31 - 1),
        page(3) + b"\0",
        page(3) + b"\x15",
        page(3)[:-1],
        page(3, said=struct(5, i32(3, 4))),
        page(3, said=struct(5, i32(3, -1))),
        page(3, said=struct(5, i32(9, 4))),
        page(3, said=i32(5, 7)),
        page(3, said=binary(5, b"statistics")),
        page_v2(3, 4, 3),
        page_v2(3, -1, 3),
        page_v2(3, 0, 2),
        page_v2(2, 0, 3) + page_v2(1, 0, 0),
        page_v2(3, 0, 3, said=i32(8, 1)),
        page_v2(3, 0, 3, said=binary(8, b"statistics")),
        i32(1, 0) + i32(3, 0) + b"\0",
        i32(1, 3) + i32(3, 0) + struct(5, i32(1, 3)) + b"\0",
        i32(1, 0) + i32(3, 0) + i32(5, 3) + b"\0",
        i32(1, 0) + struct(5, i32(1, 3)) + b"\0",
        i32(3, 0) + struct(5, i32(1, 3)) + b"\0",
        binary(1, b"") + i32(3, 0) + struct(5, i32(1, 3)) + b"\0",
        b"\x19\xfc" + b"\x80" * 8 + b"\x10",
        b"\x18" + b"\x80" * 8 + b"\x10",
        b"\x1c" * 5000,
        b"\xff" * 200_000,
        b"",
    ],
)
def test_what_cannot_be_is_no_page(content: bytes) -> None:
    found = Chunk(content, 3)
    with pytest.raises(MalformedParquetError):
        found.walk()
    assert sum(span.length for span in found.read) <= 2 * 64 * 1024 + 1024


def test_bounds_of_another_type_are_none() -> None:
    bounds, _ = Chunk(page(3, said=struct(5, i32(5, 1), struct(6), i32(7, 1))), 3).walk()
    assert (bounds.minimums, bounds.maximums, bounds.max_exact) == ([None], [None], [None])


@pytest.mark.parametrize(
    ("length", "reads"), [(40, 1), (100, 2), (400, 4), (30_000, 10), (33_000, 0)]
)
def test_headers_may_be_long_but_not_endless(length: int, reads: int) -> None:
    long = struct(5, binary(5, b"b" * length), binary(6, b"a" * length))
    found = Chunk(page(3, b"x" * 100_000, said=long), 3)
    if reads:
        bounds, _ = found.walk()
        assert bounds.minimums == [b"a" * length]
        assert len(found.read) == reads
        return
    with pytest.raises(MalformedParquetError):
        found.walk()


def test_short_pages_are_read_together_and_long_headers_at_once() -> None:
    found = Chunk(page(1) * 12, 12)
    assert len(found.walk()[1]) == 12
    assert len(found.read) == 2
    long = struct(5, binary(5, b"b" * 400), binary(6, b"a" * 400))
    found = Chunk(page(1, b"x" * 2_000, said=long) * 5, 5)
    assert len(found.walk()[1]) == 5
    assert len(found.read) == 4 + 4, "the first is tried four times"


def test_pages_are_not_endless() -> None:
    empty = page(0)
    bounds, _ = Chunk(empty * 60_000 + page(3), 3).walk()
    assert len(bounds) == 60_001
    found = Chunk(empty * 70_000 + page(3), 3)
    with pytest.raises(MalformedParquetError, match="more than"):
        found.walk()
    assert len(found.read) <= 1 << 16


def test_headers_are_not_kept_without_end() -> None:
    long = struct(5, binary(5, b"b" * 30_000), binary(6, b"a" * 30_000))
    one = page(1, said=long)
    assert len(Chunk(one * 500, 500).walk()[0]) == 500
    with pytest.raises(MalformedParquetError, match="headers of a chunk"):
        Chunk(one * 600, 600).walk()


@given(st.binary(max_size=300), st.integers(0, 5))
def test_any_bytes(content: bytes, rows: int) -> None:
    try:
        Chunk(content, rows).walk()
    except MalformedParquetError:
        return


TABLE = pa.table(
    {
        "n": np.random.default_rng(4).integers(0, 10**12, 3_000),
        "t": [f"v{n}" for n in np.random.default_rng(5).integers(0, 50, 3_000)],
        "o": [None if n % 3 else float(n) for n in range(3_000)],
    }
)


def headers_of(path: Path) -> list[Span]:
    """About where the headers of a file's pages are, by walking them."""
    with pa.OSFile(str(path)) as file:
        source = ParquetSource(file, path.stat().st_size)
        found: list[Span] = []
        for group, chunks in enumerate(source.footer.row_groups):
            for leaf, details in enumerate(chunks):
                assert details.pages is not None
                values = source.statistics.chunks[group][leaf].value_count
                chunk = WalkedChunk(details.pages, values, values)
                _, places = walk_pages(chunk, source.read)
                starts = {details.pages.offset, *places.offsets}
                found.extend(Span(start, 70) for start in starts)
    return found


def groups_of(found: CapturedFile) -> list[PageRow]:
    return [row for row in found.pages if row.page is None]


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_damaged_headers_cost_nothing_but_pages(version: str, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        TABLE,
        row_group_size=1_000,
        data_page_size=1_000,
        write_batch_size=100,
        data_page_version=version,
    )
    content, headers = path.read_bytes(), headers_of(path)
    policy = FilePolicy(columns=wanted(pq.read_schema(path), sketches=False))
    access, plan = access_to(tmp_path), planned(path)
    healthy = capture_file(access, plan, policy)
    chooser = random.Random(12)
    lost = 0
    for _ in range(400):
        damaged = bytearray(content)
        for _ in range(chooser.choice([1, 1, 2, 9])):
            header = chooser.choice(headers)
            damaged[chooser.randrange(header.offset, header.end)] = chooser.randrange(256)
        path.write_bytes(damaged)
        found = capture_file(access, plan, policy)
        assert found.rows == healthy.rows
        assert groups_of(found) == groups_of(healthy)
        assert found.page_coverage is not None
        lost += found.page_coverage.row_groups_without_pages > 0
        check_whole(found)
    assert lost > 50


def check_whole(found: CapturedFile) -> None:
    """Where a row group has pages, they have its rows, one after another."""
    for group in groups_of(found):
        pages = [
            row
            for row in found.pages
            if row.page is not None
            and (row.column_id, row.row_group) == (group.column_id, group.row_group)
        ]
        at = group.first_row
        for row in pages:
            assert row.first_row == at
            assert row.row_count >= 0
            at += row.row_count
        assert not pages or at == group.first_row + group.row_count


def test_damaged_headers_where_data_is_read_too(tmp_path: Path) -> None:
    path = written(tmp_path, TABLE, row_group_size=1_000, data_page_size=1_000)
    content, headers = path.read_bytes(), headers_of(path)
    policy = FilePolicy(columns=wanted(pq.read_schema(path)))
    access, plan = access_to(tmp_path), planned(path)
    chooser = random.Random(13)
    for _ in range(100):
        damaged = bytearray(content)
        header = chooser.choice(headers)
        damaged[chooser.randrange(header.offset, header.end)] = chooser.randrange(256)
        path.write_bytes(damaged)
        try:
            found = capture_file(access, plan, policy)
        except CaptureFailure:  # pyarrow reads the same headers
            continue
        check_whole(found)
