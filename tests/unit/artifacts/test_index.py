"""The scan index: every live file once, by path, with what is known of it; parts are shared."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date

import pytest
from tests.support.segments import TABLE, Content, Deletes, SegmentMaker

from ai.floedb.floecat.catalog.stats_pb2 import FileIdentity, PartitionValue
from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.execution.scan_pb2 import SFC_POSITION_DELETES, ScanFile
from ai.floedb.floecat.execution.stored_pb2 import HeldSegment
from floecat.artifacts.index.building import ScanIndexBuilder
from floecat.artifacts.index.counting import PositionCounts
from floecat.artifacts.index.covered import CoveredDeletes, CoveredFiles
from floecat.artifacts.index.deletes import FileDeletes
from floecat.artifacts.index.reading import ScanIndexFile
from floecat.artifacts.index.rows import DeleteUse, NewRow, SegmentUse
from floecat.artifacts.opened import OpenedSegments
from floecat.artifacts.segments import Segment
from floecat.errors import DataLossError, IncompatibleStoreError
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.types.logical import DATE
from floecat.types.messages import to_message


class Building:
    """Builds indexes one after another, each on the one before it."""

    def __init__(self, blobs: MemoryBlobStore, max_rows: int = 8) -> None:
        self.blobs = blobs
        self.maker = SegmentMaker(self.blobs)
        self.max_rows = max_rows
        self.reference: BlobReference | None = None
        self.segments: dict[str, list[SegmentUse]] = {}
        self.count = 0

    @property
    def index(self) -> ScanIndexFile:
        assert self.reference is not None
        return ScanIndexFile.open(self.blobs, self.reference)

    def open(self, held: HeldSegment) -> Segment:
        return Segment.open(self.blobs, held.manifest)

    def segment(self, name: str, files: Sequence[Content]) -> None:
        """Capture files; what was captured of them before stays."""
        held = self.maker.held(name, files)
        shape = self.open(held).manifest.shapes[0]
        for number, file in enumerate(files):
            use = SegmentUse(held, number, shape)
            self.segments.setdefault(file.path, []).append(use)

    def snapshot(
        self,
        new: Iterable[Content],
        kept: Iterable[Content] = (),
        deletes: Mapping[str, FileDeletes] | None = None,
        delete_files: Sequence[ScanFile] = (),
        known: Mapping[int, DeleteUse] | None = None,
    ) -> ScanIndexFile:
        self.count += 1
        base = None if self.reference is None else self.index
        prefix = f"captures/acme/{self.count}/1/index"
        builder = ScanIndexBuilder(self.blobs, prefix, self.open, base, self.max_rows)
        covered = None if base is None else CoveredFiles(base)
        applied = deletes or {}
        for file in kept:
            found = covered.find(file.identity) if covered else None
            assert found is not None
            builder.keep(
                file.identity, found.part, found.row, applied.get(file.path, FileDeletes())
            )
        for file in new:
            row = NewRow(
                identity=file.identity,
                scan_file=file.scan_file,
                row_count=file.rows,
                uses=self.segments[file.path],
            )
            builder.add(row, applied.get(file.path, FileDeletes()))
        counts = PositionCounts(known or {}, OpenedSegments(self.blobs))
        self.reference = builder.finish(TABLE, self.count, delete_files, counts)
        self.deletes = builder.deletes
        return self.index


@pytest.fixture
def blobs() -> Iterator[MemoryBlobStore]:
    store = MemoryBlobStore()
    yield store
    store.close()


def content(number: int) -> Content:
    return Content(f"s3://lake/{number:05}.parquet", {1: [number, None, number + 1]})


def paths(index: ScanIndexFile, after: str | None = None) -> list[str]:
    return [file.key for file in index.files(after)]


def test_files_come_by_path_whatever_order_they_were_added_in(blobs: MemoryBlobStore) -> None:
    building = Building(blobs, max_rows=8)
    files = [content(number) for number in range(30)]
    random.Random(1).shuffle(files)
    building.segment("captures/acme/j/1", files)
    index = building.snapshot(files)
    expected = sorted(file.path for file in files)
    assert paths(index) == expected
    assert len(index) == 30
    assert len(index.index.parts) == 4
    assert paths(index, expected[11]) == expected[12:]
    assert paths(index, "zzz") == []
    for file in files:
        found = index.find(file.path)
        assert found is not None
        assert index.part(found.part).scan_file(found.row) == file.scan_file
        assert index.row_count(found) == 3
    assert index.find("s3://lake/99999.parquet") is None


def test_bounds_of_a_column_are_those_of_the_files(blobs: MemoryBlobStore) -> None:
    building = Building(blobs)
    files = [content(number) for number in range(20)]
    building.segment("captures/acme/j/1", files[:7])
    building.segment("captures/acme/j/2", files[7:])
    index = building.snapshot(reversed(files))
    found = {}
    for number in index.parts:
        part = index.part(number)
        assert part.columns[1].name == "c1"
        bounds = part.bounds(1)
        assert bounds is not None
        assert part.bounds(2) is None
        for row, values in enumerate(bounds.to_pylist()):
            found[part.path(row)] = values
    for number, file in enumerate(files):
        values = found[file.path]
        assert (values["minimum"], values["maximum"]) == (number, number + 1)
        assert (values["value_count"], values["null_count"]) == (3, 1)
        assert values["minimum_tight"]


def test_a_file_that_a_later_segment_knows_more_of_has_columns_of_both(
    blobs: MemoryBlobStore,
) -> None:
    building = Building(blobs)
    before = Content("s3://lake/a", {1: [1, 2], 2: [3, 4]})
    after = Content("s3://lake/a", {2: [30, 40], 3: [5, 6]})
    building.segment("captures/acme/j/1", [before])
    building.segment("captures/acme/j/2", [after])
    index = building.snapshot([before])
    part = index.part(0)
    minima = {}
    for column_id in (1, 2, 3):
        bounds = part.bounds(column_id)
        assert bounds is not None
        minima[column_id] = bounds.field("minimum").to_pylist()
    assert minima == {1: [1], 2: [30], 3: [5]}
    assert [segment.segment_id for segment in index.segments()] == [
        "captures/acme/j/1",
        "captures/acme/j/2",
    ]


def test_a_later_snapshot_shares_parts_and_writes_little(blobs: MemoryBlobStore) -> None:
    building = Building(blobs, max_rows=64)
    files = [content(number) for number in range(64)]
    building.segment("captures/acme/j/1", files)
    first = building.snapshot(files)
    more = [content(number) for number in range(64, 70)]
    building.segment("captures/acme/j/2", more)
    second = building.snapshot(more, kept=files[4:])
    assert paths(second) == [file.path for file in files[4:] + more]
    assert second.index.parts[0].part == first.index.parts[0].part
    assert second.index.parts[0].live_rows == 60
    assert paths(first) == [file.path for file in files], "the older one is as it was"
    shared = {blob.uri for blob in first.blobs()} & {blob.uri for blob in second.blobs()}
    assert len(shared) == 4


def test_a_part_of_which_little_is_left_is_written_anew(blobs: MemoryBlobStore) -> None:
    building = Building(blobs, max_rows=16)
    files = [content(number) for number in range(32)]
    building.segment("captures/acme/j/1", files[:16])
    building.segment("captures/acme/j/2", files[16:])
    first = building.snapshot(files)
    second = building.snapshot([], kept=files[:3] + files[16:])
    assert paths(second) == [file.path for file in files[:3] + files[16:]]
    parts = [part.part.uri for part in second.index.parts]
    assert first.index.parts[0].part.uri not in parts
    assert first.index.parts[1].part.uri in parts
    rewritten = second.find(files[1].path)
    assert rewritten is not None
    part = second.part(rewritten.part)
    assert len(part.part.segments) == 1, "what isn't used any more isn't named"
    bounds = part.bounds(1)
    assert bounds is not None
    assert bounds.field("minimum").to_pylist() == [0, 1, 2]
    third = building.snapshot([], kept=[])
    assert len(third) == 0
    assert list(third.segments()) == []


def test_parts_stay_few_and_little_is_written_again(blobs: MemoryBlobStore) -> None:
    building = Building(blobs, max_rows=256)
    files: list[Content] = []
    written = 0
    for step in range(120):
        more = [content(step * 4 + number) for number in range(4)]
        building.segment(f"captures/acme/j/{step}", more)
        known = set() if not files else {part.part.uri for part in building.index.index.parts}
        index = building.snapshot(more, kept=files)
        files += more
        assert len(index.index.parts) <= 10
        written += sum(p.rows for p in index.index.parts if p.part.uri not in known)
    assert paths(building.index) == sorted(file.path for file in files)
    assert written < 10 * len(files)


def test_deletes_stay_with_their_files_wherever_these_are_put(blobs: MemoryBlobStore) -> None:
    building = Building(blobs, max_rows=8)
    files = [content(number) for number in range(20)]
    building.segment("captures/acme/j/1", files)
    building.snapshot(files)
    more = [content(number) for number in range(20, 23)]
    building.segment("captures/acme/j/2", more)
    deletes = {
        files[5].path: FileDeletes([0, 1], 1),
        files[19].path: FileDeletes([1], None),
        more[1].path: FileDeletes([0], 2),
    }
    applied = [
        ScanFile(file_path=f"d{n}", content=SFC_POSITION_DELETES, record_count=1) for n in (0, 1)
    ]
    index = building.snapshot(
        more, kept=files[:6] + files[17:], deletes=deletes, delete_files=applied
    )
    assert list(index.delete_files()) == applied
    for file in index.files():
        expected = deletes.get(file.key, FileDeletes([], 3))
        assert index.deleted(file) == (list(expected.delete_files), expected.live_row_count)


def test_live_rows_are_counted_wherever_files_are_put(blobs: MemoryBlobStore) -> None:
    building = Building(blobs, max_rows=8)
    files = [content(number) for number in range(20)]
    building.segment("captures/acme/j/1", files)
    building.snapshot(files)
    more = [content(number) for number in range(20, 23)]
    building.segment("captures/acme/j/2", more)
    a, b, c, d = files[5].path, files[19].path, more[1].path, files[2].path
    deletes = [
        Deletes("d0", [(a, 0), (a, 2), (b, 1), ("gone", 1)]),
        Deletes("d1", [(a, 2), (a, 2), (c, 7), (c, 0), (d, 0)]),
    ]
    held = building.maker.held("captures/acme/j/3", [], deletes)
    unread = ScanFile(file_path="d2", content=SFC_POSITION_DELETES, record_count=1)
    index = building.snapshot(
        more,
        kept=files[:6] + files[17:],
        deletes={
            a: FileDeletes([0, 1], None, 3),
            b: FileDeletes([0], None, 3),
            c: FileDeletes([1], None, 3),
            d: FileDeletes([1, 2], None, 3),
            files[3].path: FileDeletes([2], None, 3),
            files[4].path: FileDeletes([0], 2, 3),
            more[0].path: FileDeletes([0], None, None),
        },
        delete_files=[deletes[0].scan_file, deletes[1].scan_file, unread],
        known={0: DeleteUse(held, 0), 1: DeleteUse(held, 1)},
    )
    told = {file.key: index.deleted(file) for file in index.files()}
    assert told[a] == ([0, 1], 1), "each row once"
    assert told[b] == ([0], 2)
    assert told[c] == ([1], 2), "rows that it hasn't don't count"
    assert told[d] == ([1, 2], None), "one of them wasn't read"
    assert told[files[3].path] == ([2], None)
    assert told[files[4].path] == ([0], 2), "as it was told"
    assert told[more[0].path] == ([0], None), "nobody knows how many rows it has"
    assert told[files[0].path] == ([], 3)
    assert (building.deletes.taken, building.deletes.is_complete) == (5, False)


def test_the_next_index_knows_the_positions_that_this_one_knew(blobs: MemoryBlobStore) -> None:
    building = Building(blobs)
    files = [content(number) for number in range(3)]
    building.segment("captures/acme/j/1", files)
    deletes = [Deletes(f"d{number}", [(files[0].path, number)]) for number in range(3)]
    held = [
        building.maker.held("captures/acme/j/2", [], deletes[:2]),
        building.maker.held("captures/acme/j/3", [], deletes[2:]),
    ]
    known = {0: DeleteUse(held[0], 0), 3: DeleteUse(held[1], 0), 2: DeleteUse(held[0], 1)}
    unread = Deletes("d9", [])
    listed = [deletes[0], unread, deletes[1], deletes[2]]
    index = building.snapshot(
        files,
        deletes={files[0].path: FileDeletes([0, 2, 3], None, 3)},
        delete_files=[file.scan_file for file in listed],
        known=known,
    )
    assert (building.deletes.taken, building.deletes.is_complete) == (3, True)
    assert index.known_deletes() == known
    assert {segment.segment_id for segment in index.segments()} == {
        "captures/acme/j/1",
        "captures/acme/j/2",
        "captures/acme/j/3",
    }
    named = {blob.uri for blob in index.blobs()}
    assert index.index.known_deletes.uri in named
    covered = CoveredDeletes(index)
    assert [covered.find(file.identity) for file in listed] == [known.get(n) for n in range(4)]
    assert [covered.number(file.identity) for file in listed] == [0, 1, 2, 3]
    other = Deletes("d0", [("x", 1), ("x", 2)])
    assert covered.find(other.identity) is None
    assert covered.number(other.identity) is None
    without = building.snapshot([], kept=files)
    assert without.known_deletes() == {}
    assert [segment.segment_id for segment in without.segments()] == ["captures/acme/j/1"]


def test_files_are_found_by_identity_with_what_is_known_of_them(blobs: MemoryBlobStore) -> None:
    building = Building(blobs)
    files = [content(number) for number in range(20)]
    building.segment("captures/acme/j/1", files)
    index = building.snapshot(files)
    covered = CoveredFiles(index)
    assert len(covered) == 20
    for file in files:
        found = covered.find(file.identity)
        assert found is not None
        assert index.part(found.part).path(found.row) == file.path
        assert found.segments == ["captures/acme/j/1"]
        assert [column.column_id for column in found.shapes[0].columns] == [1]
    changed = FileIdentity()
    changed.CopyFrom(files[0].identity)
    changed.size_bytes += 1
    assert covered.find(changed) is None
    changed.CopyFrom(files[0].identity)
    changed.format_mark = "2"
    assert covered.find(changed) is None


def test_a_file_that_failed_is_known_to_have_but_not_covered(blobs: MemoryBlobStore) -> None:
    building = Building(blobs)
    builder = ScanIndexBuilder(building.blobs, "captures/acme/x/1", building.open)
    file = content(1)
    row = NewRow(
        identity=file.identity, scan_file=file.scan_file, row_count=3, uses=[], failure="torn"
    )
    builder.add(row, FileDeletes())
    reference = builder.finish(TABLE, 1, [])
    index = ScanIndexFile.open(building.blobs, reference)
    assert index.part(0).core.column("failure").to_pylist() == ["torn"]
    assert CoveredFiles(index).find(file.identity) is None


def test_rows_that_arent_the_files_are_refused(blobs: MemoryBlobStore) -> None:
    building = Building(blobs)
    files = [content(number) for number in range(3)]
    building.segment("captures/acme/j/1", files)
    base = building.snapshot(files)
    builder = ScanIndexBuilder(building.blobs, "captures/acme/x/1", building.open, base)
    for part, row in ((0, 1), (0, 99), (1, 0)):
        with pytest.raises(DataLossError):
            builder.keep(files[0].identity, part, row, FileDeletes())
    alone = ScanIndexBuilder(building.blobs, "captures/acme/y/1", building.open)
    with pytest.raises(DataLossError, match="names no index"):
        alone.keep(files[0].identity, 0, 0, FileDeletes())


def test_partition_values_are_columns_of_the_core(blobs: MemoryBlobStore) -> None:
    building = Building(blobs, max_rows=8)
    files = [content(number) for number in range(12)]
    building.segment("captures/acme/j/1", files)
    builder = ScanIndexBuilder(building.blobs, "captures/acme/x/1", building.open, max_rows=8)
    for number, file in enumerate(files):
        scan_file = file.scan_file
        if number % 3:
            value = None if number % 3 == 1 else f"2026-01-{number + 1:02}"
            scan_file.partition_values.append(
                PartitionValue(
                    partition_field_id=1000, name="day", value=value, type=to_message(DATE)
                )
            )
        row = NewRow(
            identity=file.identity,
            scan_file=scan_file,
            row_count=3,
            uses=building.segments[file.path],
        )
        builder.add(row, FileDeletes())
    index = ScanIndexFile.open(building.blobs, builder.finish(TABLE, 1, []))
    for live in index.files():
        number = int(live.key[-13:-8])
        value = index.part(live.part).core.column("partition_1000")[live.row].as_py()
        assert (value is not None) == bool(number % 3)
        if value is not None:
            assert value["value"] == (date(2026, 1, number + 1) if number % 3 == 2 else None)
    assert index.part(0).part.partition_fields[0].name == "day"


def test_an_empty_index_has_no_files(blobs: MemoryBlobStore) -> None:
    building = Building(blobs)
    index = building.snapshot([])
    assert len(index) == 0
    assert list(index.files()) == []
    assert index.find("x") is None
    assert CoveredFiles(index).find(content(1).identity) is None


def test_other_versions_are_refused(blobs: MemoryBlobStore) -> None:
    building = Building(blobs)
    building.snapshot([])
    changed = building.index.index
    changed.format_version += 1
    with building.blobs.writer("other") as writer:
        writer.write(changed.SerializeToString())
    reference = BlobReference(
        uri=writer.ref.uri, sha256=writer.ref.sha256, size_bytes=writer.ref.size
    )
    with pytest.raises(IncompatibleStoreError, match=f"version {changed.format_version} of"):
        ScanIndexFile.open(building.blobs, reference)
