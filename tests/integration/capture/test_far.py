"""Files in an object store are read as those on this machine are, in a handful of requests."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.captures import access_to, planned, wanted, written
from tests.support.far import FarStore, far_store

from floecat.capture.columns import FilePolicy
from floecat.capture.failures import CaptureFailure
from floecat.capture.files import CapturedFile, capture_file
from floecat.capture.parquet import reading

ROWS = 60_000


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(8)
    numbers = {f"n{number}": rng.integers(0, 2**60, ROWS) for number in range(6)}
    texts = {f"t{number}": rng.integers(0, 50, ROWS).astype(str) for number in range(3)}
    long = [f"some longer text about {number}" for number in rng.integers(0, 10**9, ROWS)]
    folder = tmp_path_factory.mktemp("far")
    table = pa.table({**numbers, **texts, "long": long})
    return written(folder, table, row_group_size=6_000, write_page_index=True)


@pytest.fixture(scope="module")
def plain(path: Path) -> Path:
    """The same without a page index."""
    table = pq.read_table(path)
    return written(path.parent, table, "plain.parquet", row_group_size=6_000, data_page_size=9_000)


def both(path: Path, store: FarStore, policy: FilePolicy) -> tuple[CapturedFile, CapturedFile]:
    near = capture_file(access_to(path.parent), planned(path), policy)
    return near, capture_file(store.access, store.planned(path), policy)


@pytest.mark.parametrize("columns", [10, 2])
def test_the_same_is_learnt_in_few_requests(columns: int, path: Path) -> None:
    policy = FilePolicy(columns=wanted(pq.read_schema(path))[-columns:])
    with far_store([path], 0.01) as store:
        near, far = both(path, store, policy)
    assert far.rows == near.rows
    assert far.pages == near.pages
    assert far.stats.row_count == ROWS
    # How large it is, its end, and what is wanted: of two columns ten stretches.
    assert len(store.asked) <= (4 if columns == 10 else 2 + 10)
    assert far.bytes_read <= near.bytes_read + 64 * 1024 * len(store.asked)


def test_footers_take_two_requests(path: Path) -> None:
    policy = FilePolicy(columns=wanted(pq.read_schema(path), sketches=False, pages=False))
    with far_store([path], 0.01) as store:
        near, far = both(path, store, policy)
    assert far.rows == near.rows
    assert len(store.asked) == 2


@pytest.mark.parametrize("columns", [10, 2])
def test_pages_by_their_headers_take_no_requests(columns: int, path: Path, plain: Path) -> None:
    policy = FilePolicy(columns=wanted(pq.read_schema(path))[-columns:])
    with far_store([path], 0.0) as indexed:
        capture_file(indexed.access, indexed.planned(path), policy)
    with far_store([plain], 0.01) as store:
        near, far = both(plain, store, policy)
    assert far.rows == near.rows
    assert far.pages == near.pages
    assert far.page_coverage == near.page_coverage
    assert far.page_coverage is not None
    assert far.page_coverage.row_groups_without_pages == 0
    assert far.page_coverage.page_count > columns * 10
    assert len(store.asked) <= len(indexed.asked)


def test_so_it_is_with_files_that_are_not_held_as_a_whole(
    path: Path, plain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = FilePolicy(columns=wanted(pq.read_schema(path)))
    monkeypatch.setattr(reading, "_LARGE_CHUNK", 300_000)  # some row groups of a column
    with far_store([path], 0.0) as indexed:
        capture_file(indexed.access, indexed.planned(path), policy)
    with far_store([plain], 0.0) as store:
        near, far = both(plain, store, policy)
    assert far.pages == near.pages
    assert far.page_coverage == near.page_coverage
    assert len(store.asked) <= len(indexed.asked)


def test_headers_are_not_asked_for_where_no_data_is(plain: Path) -> None:
    policy = FilePolicy(columns=wanted(pq.read_schema(plain), sketches=False))
    with far_store([plain], 0.0) as store:
        near, far = both(plain, store, policy)
    assert far.rows == near.rows
    assert len(store.asked) == 2
    assert far.page_coverage is not None
    assert far.page_coverage.row_groups_without_pages == 10
    groups = [row for row in near.pages if row.page is None]
    assert [row for row in far.pages if row.page is None] == groups


def test_a_file_that_is_gone_says_so(path: Path, tmp_path: Path) -> None:
    policy = FilePolicy(columns=wanted(pq.read_schema(path)))
    other = written(tmp_path, pa.table({"n": [1]}), "other.parquet")
    with (
        far_store([path], 0.0) as store,
        pytest.raises(CaptureFailure, match=r"s3://far/other\.parquet"),
    ):
        capture_file(store.access, store.planned(other), policy)
