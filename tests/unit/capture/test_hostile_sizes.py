"""Small files that mean a lot: numbers that nobody counts to, values that are all alike."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.captures import (
    access_to,
    captured,
    logical_of,
    planned,
    same_text,
    wanted,
    written,
)
from tests.support.segmenting import segment_of

from floecat.capture.columns import FilePolicy, WantedColumn
from floecat.capture.failures import CaptureFailure
from floecat.capture.files import CapturedFile, capture_file
from floecat.capture.opening import ALONE, Opening, opened_source
from floecat.capture.parquet.errors import MalformedParquetError
from floecat.capture.parquet.footers import MAGIC, ChunkDetails, parse_footer
from floecat.sketches.quantiles import QuantileSketch

ROWS = 1000
ONE = (1).to_bytes(8, "little")
OFFSETS = b"\x19\x1c\x16\x08\x15\x14\x16\x00\x00\x00"
"""An offset index: a list of one page, its place, its size, and its first row."""


def bounds_index(*, order: bytes = b"\x00", nulls: bytes = b"\x00") -> bytes:
    """A column index of one page, whose bounds are 1 and 1; numbers are zigzag."""
    flags, low, high = b"\x19\x11\x02", b"\x19\x18\x08" + ONE, b"\x19\x18\x08" + ONE
    return flags + low + high + b"\x15" + order + b"\x19\x16" + nulls + b"\x00"


def varint(number: int) -> bytes:
    found = b""
    while number >= 0x80:
        found += bytes([number & 0x7F | 0x80])
        number >>= 7
    return found + bytes([number])


def footer_of(path: Path) -> tuple[bytes, ChunkDetails]:
    content = path.read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    return content, parse_footer(content[-8 - length : -8]).row_groups[0][0]


@pytest.fixture
def indexed(tmp_path: Path) -> Path:
    """A file with many pages, and so a page index with room for lies."""
    return written(
        tmp_path,
        pa.table({"a": np.ones(ROWS, np.int64)}),
        write_page_index=True,
        data_page_size=100,
        write_batch_size=10,
        use_dictionary=False,
    )


def lying(path: Path, column_index: bytes, offset_index: bytes = OFFSETS) -> Path:
    content, chunk = footer_of(path)
    changed = bytearray(content)
    for span, lie in ((chunk.column_index, column_index), (chunk.offset_index, offset_index)):
        assert span is not None
        assert len(lie) <= span.length
        end = span.offset + span.length
        changed[span.offset : end] = lie + b"\x00" * (span.length - len(lie))
    path.write_bytes(changed)
    return path


def test_a_page_index_is_believed_if_it_can_be_so(indexed: Path) -> None:
    found = captured(lying(indexed, bounds_index()))
    [page] = [row for row in found.pages if row.page is not None]
    assert (page.row_count, page.min_int, page.max_int, page.null_count) == (ROWS, 1, 1, 0)


@pytest.mark.parametrize(
    ("column_index", "offset_index"),
    [
        (bounds_index(order=varint(600)), OFFSETS),
        (bounds_index(order=varint(6)), OFFSETS),
        (bounds_index(nulls=varint(1 << 64)), OFFSETS),
        (bounds_index(nulls=varint(2 * (ROWS + 1))), OFFSETS),
        (bounds_index(), b"\x19\x1c\x16" + varint(1 << 64) + b"\x15\x14\x16\x00\x00\x00"),
        (bounds_index(), b"\x19\x1c\x16\x08\x15" + varint(1 << 70) + b"\x16\x00\x00\x00"),
        (b"\x19\x01\x19\x08\x19\x08\x15\x00\x00", b"\x19\x0c\x00"),
    ],
    ids=[
        "order 300",
        "order 3",
        "2^63 nulls",
        "more nulls than rows",
        "far away",
        "endless",
        "no pages",
    ],
)
def test_one_that_cannot_be_is_none(
    column_index: bytes, offset_index: bytes, indexed: Path
) -> None:
    """The pages are found by their headers instead: more than one, as there are."""
    found = captured(lying(indexed, column_index, offset_index))
    pages = [row for row in found.pages if row.page is not None]
    assert len(pages) > 1
    assert sum(page.row_count for page in pages) == ROWS
    policy = FilePolicy(columns=wanted(pq.read_schema(indexed)))
    [file] = segment_of(indexed.parent / "out", [indexed], policy).files
    assert file.artifact.coverage.page_count == len(pages), "and written down"


def nested(path: tuple[str, ...], kind: pa.DataType, *, repeated: bool = False) -> FilePolicy:
    column = WantedColumn(
        column_id=1,
        name="c",
        logical_type=logical_of(kind),
        file_paths=(path,),
        repeated=repeated,
        ndv=True,
        quantiles=True,
        frequent_items=True,
        page_index=True,
    )
    return FilePolicy(columns=(column,))


def test_batches_of_lists_are_as_short_as_their_values_are_many(tmp_path: Path) -> None:
    """Forty million values, all alike, in a few kilobytes."""
    rows, each = 20_000, 2_000
    values = pa.array(np.zeros(rows * each, np.int64))
    offsets = pa.array(np.arange(0, rows * each + 1, each), pa.int32())
    table = pa.table({"l": pa.ListArray.from_arrays(offsets, values)})
    path = written(tmp_path, table, compression="zstd")
    assert path.stat().st_size < 100_000
    with opened_source(access_to(tmp_path), planned(path)) as source:
        leaf = source.schema.leaves.find(nested(("l", "element"), pa.int64()).columns[0])
        assert leaf is not None
        lengths = [len(batch) for batch in source.batches(leaf, [0])]
    assert sum(lengths) == rows * each
    assert max(lengths) <= 8 * 2**20


def test_sizes_that_a_file_claims_do_not_make_batches_of_single_rows(tmp_path: Path) -> None:
    rows = 20_000
    path = written(tmp_path, pa.table({"a": np.zeros(rows, np.int64)}), compression="zstd")
    with opened_source(access_to(tmp_path), planned(path)) as source:
        claimed = [[c._replace(uncompressed_bytes=1 << 61) for c in source.footer.row_groups[0]]]
        source.footer = replace(source.footer, row_groups=claimed)
        leaf = source.schema.leaves.find(nested(("a",), pa.int64()).columns[0])
        assert leaf is not None
        assert len(list(source.batches(leaf, [0]))) <= rows / 1000


def test_texts_that_are_references_are_read_in_batches_of_their_real_size(tmp_path: Path) -> None:
    rows = 100_000
    texts = pa.DictionaryArray.from_arrays(
        pa.array(np.arange(rows, dtype=np.int32) % 4), pa.array([f"{n}" * 2_000 for n in range(4)])
    )
    table = pa.table({"s": pa.StructArray.from_arrays([texts], ["t"])})
    path = written(tmp_path, table, store_schema=False)
    with opened_source(access_to(tmp_path), planned(path)) as source:
        leaf = source.schema.leaves.find(nested(("s", "t"), pa.string()).columns[0])
        assert leaf is not None
        sizes = [batch.nbytes for batch in source.batches(leaf, [0])]
    assert max(sizes) < 64 * 2**20
    assert len(sizes) < 30


def test_encodings_of_another_type_fail_their_file(tmp_path: Path) -> None:
    path = written(tmp_path, pa.table({"a": ["x", "y"]}))
    with opened_source(access_to(tmp_path), planned(path)) as source:
        chunk = source.footer.row_groups[0][0]
    assert chunk.encodings is not None
    assert chunk.only_dictionary
    changed = chunk._replace(encodings=chunk.encodings.replace(b"\x15", b"\x19"))
    with pytest.raises(MalformedParquetError):
        _ = changed.only_dictionary


def test_a_long_footer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "long.parquet"
    length = 65 * 2**20
    with path.open("wb") as file:
        file.truncate(length)
        file.seek(length)
        file.write(length.to_bytes(4, "little") + MAGIC)
    with pytest.raises(CaptureFailure, match=r"long\.parquet: .* footer is said to have"):
        captured_of(path, nested(("a",), pa.int64()))


def captured_of(path: Path, policy: FilePolicy, opening: Opening = ALONE) -> CapturedFile:
    return capture_file(access_to(path.parent), planned(path), policy, opening)


LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux keeps it")
_LIMITED = """
import sys
from pathlib import Path
from tests.unit.capture.test_hostile_sizes import TEXTS, captured_of
from floecat.capture.failures import CaptureFailure
from floecat.capture.memory import MemoryLimit
from floecat.capture.opening import Opening

for path in map(Path, sys.argv[1:]):
    try:
        found = captured_of(path, TEXTS, Opening(limit=MemoryLimit(2**30))).rows[1]
        print(found.value_count, found.null_count, found.maximum)
    except CaptureFailure as failure:
        print(failure.reason)
"""
TEXTS = nested(("s", "t"), pa.string())


def limited(*paths: Path) -> list[str]:
    """What is said of files in a process of their own, which may take a GiB for a batch."""
    command = [sys.executable, "-c", _LIMITED, *map(str, paths)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    return said.stdout.splitlines()


@LINUX
def test_a_file_that_takes_more_than_a_task_may_have_fails_alone(tmp_path: Path) -> None:
    huge, small = same_text(tmp_path / "huge", 2_000), same_text(tmp_path / "small", 10)
    failed, counted = limited(huge, small)
    reason = "reading it takes more memory than a task may have (capture.task-memory)"
    assert failed == f"{huge}: {reason}"
    assert counted.startswith("10 0 ")


@LINUX
def test_a_batch_that_is_larger_than_expected_is_read_in_small_ones(tmp_path: Path) -> None:
    """The first rows are short, and all others long."""
    rows = 600_000
    places = np.where(np.arange(rows) < 5_000, 0, 1).astype(np.int32)
    texts = pa.DictionaryArray.from_arrays(pa.array(places), pa.array(["a", "b" * 3_000]))
    path = tmp_path / "later"
    table = pa.table({"s": pa.StructArray.from_arrays([texts], ["t"])})
    pq.write_table(table, path, compression="zstd", write_statistics=False, store_schema=False)
    assert limited(path) == [f"{rows} 0 {'b' * 511}c"]


def test_nobody_knows_which_values_are_sampled(tmp_path: Path) -> None:
    """Who did could put what he likes where it is looked at."""
    rows = 1 << 20
    stretch = rows >> 16
    places = np.random.default_rng(9001).integers(0, stretch, 2 << 16)[: rows // stretch]
    values = np.random.default_rng(1).uniform(0, 1, rows)
    values[np.arange(0, rows, stretch) + places] += 1e6
    path = written(tmp_path, pa.table({"v": values}), row_group_size=rows, use_dictionary=False)
    content = captured(path).rows[1].quantiles
    assert content is not None
    [median] = QuantileSketch.from_bytes(content).quantiles([0.5])
    assert median < 1
