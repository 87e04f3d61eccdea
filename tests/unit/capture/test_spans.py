"""Parts of files: the right bytes, in few requests, of near and of far files."""

import math
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.captures import written

from floecat.capture.parquet import reading
from floecat.capture.parquet.errors import MalformedParquetError
from floecat.capture.parquet.reading import ParquetSource
from floecat.capture.parquet.spans import FileSpans, Span

CONTENT = bytes(random.Random(1).randbytes(300_000))


class Counting(pa.BufferReader):  # type: ignore[misc]  # pyarrow has no types
    """A file that says how often it was asked. It may turn out shorter than it was."""

    def __init__(self, content: bytes) -> None:
        self.asked: list[Span] = []
        self.length = len(content)

    def read_at(self, length: int, offset: int) -> bytes:
        self.asked.append(Span(offset, length))
        return bytes(super().read_at(max(0, min(length, self.length - offset)), offset))


@pytest.mark.parametrize("is_far", [True, False])
def test_the_bytes_that_are_there(is_far: bool) -> None:
    chooser = random.Random(2)
    file = Counting(CONTENT)
    spans = FileSpans(file, len(CONTENT), is_far=is_far)
    expected = [Span(chooser.randrange(290_000), chooser.randrange(1, 9_000)) for _ in range(40)]
    spans.expect(expected, 2**20)
    for _ in range(500):
        span = Span(chooser.randrange(290_000), chooser.randrange(1, 10_000))
        assert spans.read(span) == CONTENT[span.offset : span.end]
    asked = len(file.asked)
    for span in expected:
        assert spans.read(span) == CONTENT[span.offset : span.end]
    assert len(file.asked) == asked
    assert spans.bytes_read == sum(span.length for span in file.asked)


def test_what_lies_close_together_is_asked_for_once() -> None:
    close = [Span(1000 * number, 900) for number in range(50)]
    for is_far, requests in ((True, 2), (False, 50)):
        file = Counting(CONTENT)
        spans = FileSpans(file, len(CONTENT), is_far=is_far)
        spans.expect(close, 2**20)
        assert [spans.read(span) for span in close]
        assert len(file.asked) == requests
    near = Counting(CONTENT)
    FileSpans(near, len(CONTENT)).expect((Span(1000 * n, 1000) for n in range(50)), 2**20)
    assert near.asked == [Span(0, 50_000)]


def test_what_a_file_has_not_is_not_asked_for() -> None:
    file = Counting(CONTENT)
    spans = FileSpans(file, len(CONTENT))
    beyond = Span(len(CONTENT) - 5, 6)
    spans.expect([beyond, Span(0, 2**62)], 2**63)
    for span in (beyond, Span(0, 2**62), Span(2**62, 1)):
        with pytest.raises(MalformedParquetError, match="should be at"):
            spans.read(span)
    assert file.asked == []


@pytest.mark.parametrize("is_far", [True, False])
def test_far_files_are_read_alike_and_some_row_groups_at_a_time(
    is_far: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = np.random.default_rng(4).integers(0, 2**60, 60_000)
    path = written(tmp_path, pa.table({"n": numbers}), row_group_size=5_000, write_page_index=True)
    monkeypatch.setattr(reading, "_LARGE_CHUNK", 100_000)  # two of the twelve row groups
    with pa.OSFile(str(path)) as file:
        source = ParquetSource(file, path.stat().st_size, is_far=is_far)
        (leaf,) = source.schema.leaves
        source.expect_page_indexes([leaf])
        batches = list(source.batches(leaf, range(12)))
    assert len(batches) == (6 if is_far else 1)
    assert np.array_equal(np.concatenate([batch.to_numpy() for batch in batches]), numbers)
    assert pq.ParquetFile(path).num_row_groups == 12


@pytest.mark.parametrize("columns", [10, 2])
def test_a_far_file_is_asked_for_what_is_wanted_in_one_go(
    columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    table = pa.table({name: rng.integers(0, 2**60, 80_000) for name in "abcdefghij"})
    path = written(tmp_path, table, row_group_size=20_000, write_page_index=True)
    size = path.stat().st_size
    monkeypatch.setattr("floecat.capture.parquet.spans._PIECE", 1_000_000)
    file = Counting(path.read_bytes())
    source = ParquetSource(file, size, is_far=True)
    leaves = list(source.schema.leaves)[:columns]
    assert len(file.asked) == 1
    source.expect_page_indexes(leaves)
    source.expect_values(leaves, range(4))
    asked = len(file.asked)
    assert asked == (1 + math.ceil((size - 64 * 1024) / 1_000_000) if columns == 10 else 1 + 4)
    for leaf in leaves:
        values = np.concatenate([part.to_numpy() for part in source.batches(leaf, range(4))])
        assert np.array_equal(values, table.column(leaf.number).to_numpy())
    assert len(file.asked) == asked
    assert source.bytes_read == sum(span.length for span in file.asked)
    assert source.bytes_read < size * columns / 10 + 200_000


def test_a_large_far_file_is_asked_for_some_row_groups_of_a_column_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pa.table({name: np.random.default_rng(5).random(80_000) for name in "ab"})
    path = written(tmp_path, table, row_group_size=10_000)
    monkeypatch.setattr(reading, "_LARGE_CHUNK", 400_000)
    file = Counting(path.read_bytes())
    source = ParquetSource(file, path.stat().st_size, is_far=True)
    leaves = list(source.schema.leaves)
    source.expect_values(leaves, range(8))
    assert len(file.asked) == 1
    for leaf in leaves:
        values = np.concatenate([part.to_numpy() for part in source.batches(leaf, range(8))])
        assert np.array_equal(values, table.column(leaf.number).to_numpy())
    # Other columns lie between a column's chunks: eight requests for each, and none is made twice.
    assert len(file.asked) == 1 + 2 * 8


def test_a_far_file_that_has_become_shorter_fails(tmp_path: Path) -> None:
    path = written(tmp_path, pa.table({"n": np.arange(50_000)}), use_dictionary=False)
    content = path.read_bytes()
    file = Counting(content)
    source = ParquetSource(file, len(content), is_far=True)
    file.length = 1000
    with pytest.raises(MalformedParquetError, match="though it was longer"):
        source.expect_values(list(source.schema.leaves), [0])
