"""Parts of files: the right bytes, in few requests, of near and of far files."""

import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.captures import written

from floecat.capture.parquet import reading
from floecat.capture.parquet.reading import ParquetSource
from floecat.capture.parquet.spans import FileSpans, Span
from floecat.capture.parquet.thrift import MalformedThriftError

CONTENT = bytes(random.Random(1).randbytes(300_000))


class Counting:
    """A file that says how often it was asked."""

    def __init__(self, content: bytes) -> None:
        self._file = pa.BufferReader(content)
        self.asked: list[Span] = []

    def read_at(self, length: int, offset: int) -> bytes:
        self.asked.append(Span(offset, length))
        return bytes(self._file.read_at(length, offset))


@pytest.mark.parametrize("is_far", [True, False])
def test_the_bytes_that_are_there(is_far: bool) -> None:
    chooser = random.Random(2)
    file = Counting(CONTENT)
    spans = FileSpans(file, len(CONTENT), is_far=is_far)
    expected = [Span(chooser.randrange(290_000), chooser.randrange(1, 9_000)) for _ in range(40)]
    spans.expect(expected)
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
        spans.expect(close)
        assert [spans.read(span) for span in close]
        assert len(file.asked) == requests
    near = Counting(CONTENT)
    FileSpans(near, len(CONTENT)).expect(Span(1000 * number, 1000) for number in range(50))
    assert near.asked == [Span(0, 50_000)]


def test_what_a_file_has_not_is_not_asked_for() -> None:
    file = Counting(CONTENT)
    spans = FileSpans(file, len(CONTENT))
    beyond = Span(len(CONTENT) - 5, 6)
    spans.expect([beyond, Span(0, 2**62)])
    for span in (beyond, Span(0, 2**62), Span(2**62, 1)):
        with pytest.raises(MalformedThriftError, match="should be at"):
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
