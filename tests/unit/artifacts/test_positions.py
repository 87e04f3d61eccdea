"""Positions of deletes: what is written is what is read, and each row counts once."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.segments import Deletes, SegmentMaker

from ai.floedb.floecat.execution.stored_pb2 import SegmentDeleteFile
from floecat.artifacts.arrow import write_arrow
from floecat.artifacts.index import counting
from floecat.artifacts.index.counting import UNKNOWN, DeletedFiles, PositionCounts
from floecat.artifacts.index.rows import DeleteUse
from floecat.artifacts.opened import OpenedSegments
from floecat.artifacts.payloads import reference
from floecat.artifacts.positions import SCHEMA, PositionRun, PositionsFile, positions_writer
from floecat.artifacts.segments import Segment
from floecat.errors import DataLossError
from floecat.storage.blobs.memory import MemoryBlobStore

NAMES = ["a", "b", "c"]


@pytest.fixture
def blobs() -> Iterator[MemoryBlobStore]:
    store = MemoryBlobStore()
    yield store
    store.close()


def run(path: str, *positions: int) -> PositionRun:
    return PositionRun(path, np.array(positions, np.int64))


def written(blobs: MemoryBlobStore, *batches: Sequence[PositionRun]) -> PositionsFile:
    with positions_writer(blobs, "captures/acme/positions") as writer:
        for batch in batches:
            writer.write(batch)
    return PositionsFile(blobs, reference(writer.ref))


def read(file: PositionsFile, first: int, batches: int) -> list[tuple[str, list[int]]]:
    told = SegmentDeleteFile(first_batch=first, batches=batches)
    return [
        (batch.runs.column("path")[row].as_py(), file.positions(batch.number, row).tolist())
        for batch in file.runs(told)
        for row in range(batch.runs.num_rows)
    ]


sets = st.sets(st.integers(0, 2**40), min_size=1, max_size=30)


@given(st.lists(st.tuples(st.sampled_from(NAMES), sets), max_size=6))
def test_runs_come_back_as_they_were_written(runs: list[tuple[str, set[int]]]) -> None:
    blobs = MemoryBlobStore()
    batches = [[run(path, *sorted(positions))] for path, positions in runs]
    file = written(blobs, *batches)
    expected = [(path, sorted(positions)) for path, positions in runs]
    assert read(file, 0, len(runs)) == expected
    assert read(file, 1, max(len(runs) - 1, 0))[: len(runs)] == expected[1:] if runs else True
    blobs.close()


def test_positions_next_to_each_other_take_no_room(blobs: MemoryBlobStore) -> None:
    file = written(blobs, [run("a", *range(5, 100_000)), run("b", 7), run("c", 1, 3)])
    [batch] = file.runs(SegmentDeleteFile(batches=1))
    assert batch.runs.column("steps").to_pylist()[:2] == [b"", b""]
    assert batch.runs.column("count").to_pylist() == [99_995, 1, 2]
    assert batch.runs.column("last").to_pylist() == [99_999, 7, 3]
    assert file.positions(0, 0).tolist() == list(range(5, 100_000))
    assert file.positions(0, 2).tolist() == [1, 3]


@pytest.mark.parametrize(("first", "batches"), [(0, 2), (1, 1), (2, 0), (-1, 1), (1, -1)])
def test_batches_that_arent_there_are_refused(
    blobs: MemoryBlobStore, first: int, batches: int
) -> None:
    file = written(blobs, [run("a", 1)])
    told = SegmentDeleteFile(first_batch=first, batches=batches)
    with pytest.raises(DataLossError, match="has no batches"):
        list(file.runs(told))


def test_files_of_another_layout_are_refused(blobs: MemoryBlobStore) -> None:
    older = SCHEMA.with_metadata({**(SCHEMA.metadata or {}), b"floecat.format-version": b"0"})
    for number, schema in enumerate((older, pa.schema([("a", pa.int64())]))):
        other = reference(write_arrow(blobs, f"captures/{number}", schema, []))
        with pytest.raises(DataLossError, match="no positions of version 1"):
            PositionsFile(blobs, other)
    with blobs.writer("captures/torn") as writer:
        writer.write(b"ARROW1 not quite")
    with pytest.raises(DataLossError, match="isn't an Arrow file"):
        PositionsFile(blobs, reference(writer.ref))


@pytest.mark.parametrize(
    ("count", "last", "steps", "said"),
    [(3, 9, b"", "doesn't end"), (3, 9, b"\x28\xb5\x2f\xfdnot zstd", "can't be read")],
)
def test_runs_that_arent_what_they_say_are_refused(
    blobs: MemoryBlobStore, count: int, last: int, steps: bytes, said: str
) -> None:
    arrays = [pa.array([value], part.type) for value, part in zip(
        ("a", 1, last, count, steps), SCHEMA, strict=True
    )]  # fmt: skip
    batch = pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)
    file = PositionsFile(blobs, reference(write_arrow(blobs, "captures/x", SCHEMA, [batch])))
    with pytest.raises(DataLossError, match=said):
        file.positions(0, 0)


def counts_of(blobs: MemoryBlobStore, deletes: Sequence[Deletes]) -> PositionCounts:
    held = SegmentMaker(blobs).held("captures/acme/j/1", [], deletes)
    known = {number: DeleteUse(held, number) for number in range(len(deletes))}
    return PositionCounts(known, OpenedSegments(blobs))


def deleted(files: Sequence[tuple[str, int]], applying: Sequence[tuple[int, int]]) -> DeletedFiles:
    return DeletedFiles(
        paths=pa.array([path for path, _ in files], pa.large_string()),
        row_counts=np.array([rows for _, rows in files], np.int64),
        files=np.array([file for file, _ in applying], np.int64),
        delete_files=np.array([number for _, number in applying], np.int64),
    )


named = st.lists(st.tuples(st.sampled_from([*NAMES, "gone"]), st.integers(0, 12)), max_size=20)


@given(
    st.lists(named, max_size=4),
    st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 10)), min_size=1, max_size=5),
    st.data(),
)
def test_every_row_counts_once(
    rows: list[list[tuple[str, int]]], files: list[tuple[str, int]], data: st.DataObject
) -> None:
    """Deletes in any order, repeated, of files that they don't apply to, and of rows not there."""
    blobs = MemoryBlobStore()
    deletes = [Deletes(f"d{number}", content) for number, content in enumerate(rows)]
    pairs = [(file, number) for file in range(len(files)) for number in range(len(deletes))]
    applying = data.draw(st.lists(st.sampled_from(pairs), max_size=12)) if pairs else []
    taken = counts_of(blobs, deletes).taken(deleted(files, applying))
    expected = [
        len(
            {
                position
                for other, number in applying
                if other == file
                for named_path, position in rows[number]
                if named_path == path and position < row_count
            }
        )
        for file, (path, row_count) in enumerate(files)
    ]
    assert taken.tolist() == expected
    blobs.close()


def test_rows_are_looked_at_in_windows(
    blobs: MemoryBlobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "_WINDOW", 10)
    monkeypatch.setattr(counting, "_RUNS", 2)
    spread = [("a", position) for position in range(0, 95, 3)]
    other = [("a", position) for position in range(1, 95, 2)] + [("a", 10**12)]
    counts = counts_of(blobs, [Deletes("d0", spread), Deletes("d1", other), Deletes("d2", spread)])
    taken = counts.taken(deleted([("a", 90)], [(0, 0), (0, 1), (0, 2)]))
    expected = {position for _, position in [*spread, *other] if position < 90}
    assert taken.tolist() == [len(expected)]


def test_positions_are_read_only_where_counts_dont_add_up(blobs: MemoryBlobStore) -> None:
    apart = [Deletes("d0", [("a", 1), ("a", 3), ("b", 2)]), Deletes("d1", [("a", 5), ("a", 9)])]
    counts = counts_of(blobs, apart)
    seen: list[int] = []
    real = PositionsFile.positions

    def counted(file: PositionsFile, batch: int, row: int) -> object:
        seen.append(batch)
        return real(file, batch, row)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PositionsFile, "positions", counted)
        both = [(0, 0), (0, 1), (1, 0)]
        assert counts.taken(deleted([("a", 10), ("b", 3)], both)).tolist() == [4, 1]
        assert not seen
        assert counts.taken(deleted([("a", 9), ("b", 3)], both)).tolist() == [3, 1]
        assert seen


def test_a_file_of_more_rows_than_any_has_is_unknown(blobs: MemoryBlobStore) -> None:
    far = [Deletes("d0", [("a", 2**50), ("a", 1)]), Deletes("d1", [("a", 2**50), ("a", 1)])]
    counts = counts_of(blobs, far)
    assert counts.taken(deleted([("a", 2**60)], [(0, 0), (0, 1)])).tolist() == [UNKNOWN]
    assert counts.taken(deleted([("a", 5)], [(0, 0), (0, 1)])).tolist() == [1]


def test_delete_files_of_a_segment_are_numbered_across_its_parts(blobs: MemoryBlobStore) -> None:
    deletes = [Deletes(f"d{number}", [("a", number)]) for number in range(5)]
    held = SegmentMaker(blobs).held("captures/acme/j/1", [], deletes)
    segment = Segment.open(blobs, held.manifest)
    assert [file.identity.file_path for file in segment.delete_files] == [d.path for d in deletes]
    assert list(segment.parts()) == []
    opened = OpenedSegments(blobs)
    for number in range(5):
        positions, file = opened.positions(held, number)
        assert read(positions, file.first_batch, file.batches) == [("a", [number])]
    for number in (-1, 5):
        with pytest.raises(DataLossError, match="has no delete file"):
            opened.positions(held, number)
    blob_uris = {blob.uri for blob in segment.blobs()}
    assert len(blob_uris) == 4
    assert all(uri for uri in blob_uris)
