"""Finalized snapshots: statistics of exactly the live files, read once, whatever was used again."""

from collections.abc import Sequence

import pytest
from tests.support.capturing import Captured, Capturing, files_of
from tests.support.reconciling import Reconciling
from tests.support.segments import Content, Deletes

from ai.floedb.floecat.catalog.index_pb2 import IAS_READY, ReadIndexArtifactRequest
from ai.floedb.floecat.catalog.stats_pb2 import TableValueStats, TargetStatsRecord
from ai.floedb.floecat.execution.capture_pb2 import FES_FAILED_ALLOWED, FileGroupResultChunk
from ai.floedb.floecat.execution.scan_pb2 import (
    SFC_DELETION_VECTOR,
    SFC_EQUALITY_DELETES,
    SFC_POSITION_DELETES,
    ScanFile,
)
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from floecat.artifacts.index.counting import DeletedFiles, PositionCounts
from floecat.artifacts.payloads import blob_ref, reference
from floecat.artifacts.statistics import StatisticsFile


@pytest.fixture
def capturing(plane: Reconciling) -> Capturing:
    return Capturing(plane)


def statistics(capturing: Capturing, captured: Captured, snapshot_id: int) -> StatisticsFile:
    final = capturing.final(captured, snapshot_id)
    assert final is not None, capturing.plane.job(captured.root_job_id)
    return StatisticsFile(capturing.plane.world.stores.blobs, blob_ref(final.stats))


def column(found: StatisticsFile, column_id: int) -> TargetStatsRecord:
    record = found.find(f"column/{column_id:010}", sketches=True)
    assert record is not None
    return record


def table(found: StatisticsFile) -> TableValueStats:
    record = found.find("table")
    assert record is not None
    return record.table


def check_columns(found: StatisticsFile, files: Sequence[Content]) -> None:
    """Everything that is told of columns is so in the files."""
    for column_id in {c for file in files for c in file.columns}:
        values = [value for file in files for value in file.columns[column_id]]
        present = [value for value in values if value is not None]
        scalar = column(found, column_id).scalar
        assert scalar.display_name == f"c{column_id}"
        assert scalar.value_count == len(values)
        assert scalar.null_count == len(values) - len(present)
        assert (scalar.min, scalar.max) == (str(min(present)), str(max(present)))
        assert scalar.min_tight
        assert scalar.average_width_bytes == 8.0
        assert scalar.ndv.exact == len(set(present))
        assert [sketch.role for sketch in scalar.sketches] == [1, 2, 3]
        assert scalar.quantiles.values[0] == min(present)


def paths(capturing: Capturing, captured: Captured, snapshot_id: int) -> list[str]:
    return [file.key for file in capturing.index(captured, snapshot_id).files()]


def test_a_first_capture_knows_every_file_column_and_the_table(capturing: Capturing) -> None:
    files = files_of(range(10))
    captured = capturing.capture(1, files)
    found = statistics(capturing, captured, 1)
    check_columns(found, files)
    assert table(found) == TableValueStats(
        row_count=80,
        live_row_count=80,
        live_row_count_exact=True,
        data_file_count=10,
        data_size_bytes=1080,
        delete_file_count=0,
        delete_size_bytes=0,
    )
    metadata = column(found, 1).metadata
    assert metadata.producer == "floecat"
    assert metadata.generation == 1
    assert metadata.job_id
    coverage = metadata.coverage
    assert (coverage.rows_seen, coverage.rows_total) == (80, 80)
    assert (coverage.files_seen, coverage.files_total, coverage.files_failed) == (10, 10, 0)
    assert paths(capturing, captured, 1) == [file.path for file in files]
    assert not capturing.plane.problems()


def test_the_second_capture_reads_what_is_new_and_nothing_else(capturing: Capturing) -> None:
    capturing.capture(1, files_of(range(10)))
    files = files_of(range(2, 13))
    captured = capturing.capture(2, files)
    assert captured.read == [file.path for file in files[-3:]]
    check_columns(statistics(capturing, captured, 2), files)
    assert paths(capturing, captured, 2) == [file.path for file in files]
    first = statistics(capturing, captured, 1)
    check_columns(first, files_of(range(10)))


def test_files_that_go_take_their_values_along(capturing: Capturing) -> None:
    capturing.capture(1, files_of(range(12)))
    files = files_of([1, 4, 5, 9, 10, 11])
    captured = capturing.capture(2, files)
    assert captured.read == []
    check_columns(statistics(capturing, captured, 2), files)


def test_a_further_column_is_read_alone_and_joined_with_the_others(capturing: Capturing) -> None:
    capturing.capture(1, files_of(range(5)))
    files = files_of(range(7), columns=(1, 2, 3))
    captured = capturing.capture(2, files)
    check_columns(statistics(capturing, captured, 2), files)
    fewer = files_of([0, 1, 6], columns=(1, 2, 3))
    again = capturing.capture(3, fewer)
    assert again.read == []
    check_columns(statistics(capturing, again, 3), fewer)


def test_history_is_captured_from_neighbour_to_neighbour(capturing: Capturing) -> None:
    """Files that only older snapshots have are read once, too."""
    capturing.snapshots = [1, 2, 3]
    capturing.capture(3, files_of(range(4, 8)))
    second = capturing.capture(2, files_of(range(2, 6)))
    assert len(second.read) == 2
    first = capturing.capture(1, files_of(range(4)))
    assert len(first.read) == 2, "what the second has is used again, though the third hasn't"
    check_columns(statistics(capturing, first, 1), files_of(range(4)))
    newest = capturing.capture(4, files_of(range(4, 9)))
    assert len(newest.read) == 1


def test_capturing_the_same_snapshot_again_is_another_generation(capturing: Capturing) -> None:
    files = files_of(range(4))
    capturing.capture(1, files)
    captured = capturing.capture(1, files)
    assert captured.read == []
    found = statistics(capturing, captured, 1)
    check_columns(found, files)
    assert column(found, 1).metadata.generation == 2


def test_records_of_files_are_as_good_as_segments_but_know_no_sketches(
    capturing: Capturing,
) -> None:
    capturing.inline = True
    files = files_of(range(7))
    captured = capturing.capture(1, files)
    found = statistics(capturing, captured, 1)
    values = [value for file in files for value in file.columns[1]]
    scalar = column(found, 1).scalar
    assert (scalar.value_count, scalar.null_count) == (len(values), values.count(None))
    assert scalar.max == str(max(value for value in values if value is not None))
    assert not scalar.HasField("ndv")
    assert not scalar.sketches
    assert table(found).row_count == 56
    capturing.inline = False
    later = capturing.capture(2, files_of(range(8)))
    assert len(later.read) == 1
    assert column(statistics(capturing, later, 2), 1).scalar.value_count == 64


def test_without_sketches_per_file_what_went_can_only_have_lowered_the_ndv(
    capturing: Capturing,
) -> None:
    capturing.sketches_per_file = False
    everything = files_of(range(6))
    first = capturing.capture(1, everything)
    check_columns(statistics(capturing, first, 1), everything)
    files = files_of([0, 1, 3, 4, 5])
    captured = capturing.capture(2, files)
    scalar = column(statistics(capturing, captured, 2), 1).scalar
    most = scalar.value_count - scalar.null_count
    known = {v for file in everything for v in file.columns[1] if v is not None}
    assert len(known) > most
    assert scalar.ndv.approx.upper_bound_only
    assert scalar.ndv.approx.upper_bound == most, "no more than there are"
    assert not scalar.ndv.approx.HasField("lower_bound")
    assert scalar.value_count == 40
    assert not scalar.HasField("quantiles")
    whole = capturing.capture(3, files_of([3, 4, 5]))
    assert column(statistics(capturing, whole, 3), 1).scalar.ndv.exact


def test_without_sketches_per_file_the_ndv_is_bounded_with_what_failed(
    capturing: Capturing,
) -> None:
    """Values of the file that went are counted, and those of the one that failed aren't."""
    capturing.sketches_per_file = False
    capturing.capture(1, files_of(range(6)))
    files = files_of([0, 1, 3, 4, 5, 6])
    capturing.failing = [files[-1].path]
    captured = capturing.capture(2, files)
    approx = column(statistics(capturing, captured, 2), 1).scalar.ndv.approx
    there = {v for file in files for v in file.columns[1] if v is not None}
    assert approx.upper_bound_only
    assert len(there) <= approx.upper_bound <= 48
    assert not approx.HasField("lower_bound")


def test_an_empty_snapshot_has_a_table_without_rows(capturing: Capturing) -> None:
    captured = capturing.capture(1, [])
    found = statistics(capturing, captured, 1)
    assert table(found).row_count == 0
    assert len(list(found.list())) == 1
    later = capturing.capture(2, files_of(range(2)))
    check_columns(statistics(capturing, later, 2), files_of(range(2)))
    emptied = capturing.capture(3, [])
    assert paths(capturing, emptied, 3) == []


def test_files_that_were_allowed_to_fail_are_unknown_and_counted(capturing: Capturing) -> None:
    files = files_of(range(5))
    capturing.failing = [files[2].path]
    captured = capturing.capture(1, files)
    found = statistics(capturing, captured, 1)
    record = column(found, 1)
    assert record.metadata.coverage.files_failed == 1
    assert record.metadata.coverage.files_seen == 4
    assert record.metadata.coverage.rows_seen == 32
    assert not record.scalar.HasField("min")
    assert not record.scalar.HasField("null_count")
    good = [v for file in files if file is not files[2] for v in file.columns[1] if v is not None]
    assert len(set(good)) <= record.scalar.ndv.approx.estimate <= 40, "at least what was seen"
    assert record.scalar.ndv.rows_seen == 32
    index = capturing.index(captured, 1)
    failed = index.find(files[2].path)
    assert failed is not None
    assert index.part(failed.part).core.column("failure")[failed.row].as_py() == "torn"
    capturing.failing = []
    again = capturing.capture(2, files)
    assert again.read == [files[2].path], "what failed is tried again"
    check_columns(statistics(capturing, again, 2), files)


def delete_file(content: int, rows: int) -> ScanFile:
    return ScanFile(
        file_path=f"d{rows}",
        content=content,  # type: ignore[arg-type]  # a number of the enum
        record_count=rows,
        file_size_bytes=10,
    )


def test_deletes_are_taken_off_where_that_can_be_told(capturing: Capturing) -> None:
    files = files_of(range(4))
    capturing.delete_files = [delete_file(SFC_DELETION_VECTOR, 3)]
    capturing.deletes = {files[1].path: [0]}
    captured = capturing.capture(1, files)
    value = table(statistics(capturing, captured, 1))
    assert (value.row_count, value.live_row_count, value.live_row_count_exact) == (32, 29, True)
    assert (value.delete_file_count, value.delete_size_bytes) == (1, 10)
    capturing.delete_files = [
        delete_file(SFC_POSITION_DELETES, 2),
        delete_file(SFC_EQUALITY_DELETES, 5),
    ]
    capturing.deletes = {files[0].path: [0, 1], files[3].path: [1]}
    captured = capturing.capture(2, files)
    assert captured.read == [], "deletes change no file"
    value = table(statistics(capturing, captured, 2))
    assert (value.row_count, value.live_row_count, value.live_row_count_exact) == (32, 30, False)
    index = capturing.index(captured, 2)
    told = {file.key: index.deleted(file) for file in index.files()}
    assert told[files[0].path] == ([0, 1], None)
    assert told[files[1].path] == ([], 8)
    assert [file.record_count for file in index.delete_files()] == [2, 5]


def delete_with(capturing: Capturing, deletes: Sequence[Deletes], **applied: Sequence[int]) -> None:
    """The delete files of the next snapshot, and which apply to files by number (`f3`)."""
    capturing.delete_files = [file.scan_file for file in deletes]
    capturing.positions = {file.path: file for file in deletes}
    capturing.deletes = {
        files_of([int(name[1:])])[0].path: numbers for name, numbers in applied.items()
    }


def live(capturing: Capturing, captured: Captured, snapshot_id: int) -> dict[str, int | None]:
    index = capturing.index(captured, snapshot_id)
    return {file.key: index.deleted(file).live_row_count for file in index.files()}


def test_position_deletes_are_exact_and_read_once(capturing: Capturing) -> None:
    files = files_of(range(4))
    a, b = files[0].path, files[1].path
    deletes = [
        Deletes("d0", [(a, 1), (a, 3), (b, 0), ("gone", 5)]),
        Deletes("d1", [(a, 3), (a, 3), (a, 9), (b, 2)]),
    ]
    delete_with(capturing, deletes, f0=[0, 1], f1=[0])
    captured = capturing.capture(1, files)
    assert captured.read == [*(file.path for file in files), "d0", "d1"]
    value = table(statistics(capturing, captured, 1))
    assert (value.row_count, value.live_row_count, value.live_row_count_exact) == (32, 29, True)
    assert live(capturing, captured, 1) == dict(
        zip((file.path for file in files), (6, 7, 8, 8), strict=True)
    )
    counters = capturing.plane.job(captured.root_job_id).counters
    assert (counters.files_total, counters.files_completed, counters.files_failed) == (4, 4, 0)
    assert counters.bytes_read == 10
    assert not capturing.plane.problems()
    more = [*deletes, Deletes("d2", [(a, 0), (a, 1), (files[2].path, 7)])]
    delete_with(capturing, more, f0=[0, 1, 2], f1=[0], f2=[2])
    later = capturing.capture(2, files)
    assert later.read == ["d2"]
    value = table(statistics(capturing, later, 2))
    assert (value.row_count, value.live_row_count, value.live_row_count_exact) == (32, 27, True)
    assert list(live(capturing, later, 2).values()) == [5, 7, 7, 8]
    same = capturing.capture(2, files)
    assert same.read == []
    assert table(statistics(capturing, same, 2)) == value
    assert not capturing.plane.problems()


def test_what_is_left_of_a_file_isnt_counted_again(
    capturing: Capturing, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = files_of(range(2))
    a = files[0].path
    overlapping = [Deletes("d0", [(a, 1), (a, 3)]), Deletes("d1", [(a, 2), (a, 3)])]
    delete_with(capturing, overlapping, f0=[0, 1])
    capturing.capture(1, files)
    counted: list[int] = []
    real = PositionCounts.taken

    def counting(counts: PositionCounts, deleted: DeletedFiles) -> object:
        counted.append(len(deleted.paths))
        return real(counts, deleted)

    monkeypatch.setattr(PositionCounts, "taken", counting)
    other = Deletes("d2", [(files[1].path, 0)])
    delete_with(capturing, [other, overlapping[1], overlapping[0]], f0=[1, 2], f1=[0])
    captured = capturing.capture(2, files)
    assert counted == [1], "of the other file only"
    assert list(live(capturing, captured, 2).values()) == [5, 7]
    value = table(statistics(capturing, captured, 2))
    assert (value.live_row_count, value.live_row_count_exact) == (12, True)
    delete_with(capturing, overlapping, f0=[1])
    captured = capturing.capture(3, files)
    assert list(live(capturing, captured, 3).values()) == [6, 8]


def test_positions_under_equality_deletes_are_taken_off_an_estimate(capturing: Capturing) -> None:
    files = files_of(range(3))
    a, b = files[0].path, files[1].path
    delete_with(capturing, [Deletes("d0", [(a, 1), (a, 1), (b, 2)])], f0=[0, 1], f1=[0])
    capturing.delete_files = [*capturing.delete_files, delete_file(SFC_EQUALITY_DELETES, 5)]
    captured = capturing.capture(1, files)
    value = table(statistics(capturing, captured, 1))
    assert (value.row_count, value.live_row_count, value.live_row_count_exact) == (24, 22, False)
    assert list(live(capturing, captured, 1).values()) == [None, 7, 8]


def test_delete_files_that_were_allowed_to_fail_are_unknown_and_tried_again(
    capturing: Capturing,
) -> None:
    files = files_of(range(3))
    a, b = files[0].path, files[1].path
    deletes = [Deletes("d0", [(a, 1), (a, 1)]), Deletes("d1", [(b, 2)])]
    delete_with(capturing, deletes, f0=[0, 1], f1=[1])
    capturing.failing = ["d0"]
    captured = capturing.capture(1, files)
    value = table(statistics(capturing, captured, 1))
    assert (value.live_row_count, value.live_row_count_exact) == (21, False)
    assert list(live(capturing, captured, 1).values()) == [None, 7, 8]
    said = capturing.plane.jobs(messages.FINALIZE_SNAPSHOT_CAPTURE)[-1].message
    assert "the positions of 1 delete files aren't known" in said
    capturing.failing = []
    again = capturing.capture(2, files)
    assert again.read == ["d0"]
    value = table(statistics(capturing, again, 2))
    assert (value.live_row_count, value.live_row_count_exact) == (22, True)


def test_delete_files_without_a_result_are_refused(capturing: Capturing) -> None:
    delete_with(capturing, [Deletes("d0", [("a", 1)])], f0=[0])
    capturing.tampered = lambda chunk: chunk.ClearField("delete_files")
    refused(capturing, "the group has 1 delete files, but results of 0")


def test_positions_of_other_delete_files_are_refused(capturing: Capturing) -> None:
    delete_with(capturing, [Deletes("d0", [("a", 1)])], f0=[0])

    def another(chunk: FileGroupResultChunk) -> None:
        for result in chunk.delete_files:
            result.state = FES_FAILED_ALLOWED

    capturing.failing = ["nothing"]
    capturing.tampered = another
    refused(capturing, "which isn't among the delete files that went well")


def refused(capturing: Capturing, leftover: str) -> None:
    captured = capturing.capture(1, files_of(range(2)))
    root = capturing.plane.job(captured.root_job_id)
    assert root.state == messages.RJS_FAILED
    assert leftover in root.failures[0].message
    assert capturing.final(captured, 1) is None


def test_segments_that_arent_what_they_say_are_refused(capturing: Capturing) -> None:
    def other_hash(chunk: FileGroupResultChunk) -> None:
        chunk.segments[0].manifest.sha256 = "0" * 64

    capturing.tampered = other_hash
    refused(capturing, "can't be read")


def test_segments_of_other_files_are_refused(capturing: Capturing) -> None:
    def twice(chunk: FileGroupResultChunk) -> None:
        chunk.segments.append(chunk.segments[0])

    capturing.tampered = twice
    refused(capturing, "each file that went well is in one segment")


def test_sidecars_of_others_are_refused(capturing: Capturing) -> None:
    def foreign(chunk: FileGroupResultChunk) -> None:
        named = chunk.artifacts.add(target_file=chunk.files[0].identity)
        named.artifact.uri = "memory:records/other/secret"

    capturing.tampered = foreign
    refused(capturing, "where this lease writes")


def test_inline_sidecars_are_read_and_kept(capturing: Capturing) -> None:
    blobs = capturing.plane.world.stores.blobs
    capturing.inline = True

    def with_sidecar(chunk: FileGroupResultChunk) -> None:
        prefix = next(
            f"captures/{job.account_id}/{job.job_id}/{job.epoch}"
            for job in capturing.plane.jobs(messages.EXEC_FILE_GROUP)
        )
        with blobs.writer(f"{prefix}/sidecars/a") as writer:
            writer.write(b"bounds")
        named = chunk.artifacts.add(target_file=chunk.files[0].identity, state=IAS_READY)
        named.artifact.CopyFrom(reference(writer.ref))

    capturing.tampered = with_sidecar
    files = files_of(range(2))
    captured = capturing.capture(1, files)
    request = ReadIndexArtifactRequest(table_id=captured.table_id, file_path=files[0].path)
    answers = list(capturing.plane.world.call("TableIndexService/ReadIndexArtifact", request))
    assert answers[1].data == b"bounds"
    assert capturing.plane.problems() == []


def test_segments_that_arent_there_are_refused(capturing: Capturing) -> None:
    def missing(chunk: FileGroupResultChunk) -> None:
        chunk.segments[0].manifest.uri += "x"

    capturing.tampered = missing
    refused(capturing, "can't be read")


def test_segments_of_another_lease_are_refused(capturing: Capturing) -> None:
    kept: list[FileGroupResultChunk] = []
    capturing.tampered = kept.append
    capturing.capture(1, files_of(range(2)))

    def earlier(chunk: FileGroupResultChunk) -> None:
        chunk.segments[0].CopyFrom(kept[0].segments[0])

    capturing.tampered = earlier
    capturing.reuse = False
    captured = capturing.capture(2, files_of(range(2)))
    assert capturing.final(captured, 2) is None
    failure = capturing.plane.job(captured.root_job_id).failures[0].message
    assert "this lease writes below" in failure


def test_a_segment_whose_parts_are_torn_publishes_nothing(capturing: Capturing) -> None:
    blobs = capturing.plane.world.stores.blobs

    def torn(_chunk: FileGroupResultChunk) -> None:
        for blob in blobs.list("captures/", limit=1000):
            if "/parts/" in blob.name or blob.name.endswith("/partials"):
                blobs.delete(blob.name)

    capturing.tampered = torn
    captured = capturing.capture(1, files_of(range(2)))
    assert capturing.final(captured, 1) is None
    root = capturing.plane.job(captured.root_job_id)
    assert root.state == messages.RJS_FAILED
    assert "there is no blob" in root.failures[0].message


def test_a_plan_that_uses_rows_of_other_files_publishes_nothing(capturing: Capturing) -> None:
    capturing.capture(1, files_of(range(3)))
    leased = capturing.begin(2)
    real = capturing._planned

    def swapped(file: Content, covered: object) -> object:
        planned = real(file, covered)  # type: ignore[arg-type]
        planned.index_row = (planned.index_row + 1) % 3
        return planned

    capturing._planned = swapped  # type: ignore[method-assign,assignment]
    captured = capturing.plan(leased, files_of(range(3)))
    capturing.plane.finalize()
    assert capturing.final(captured, 2) is None
    assert "isn't at row" in capturing.plane.job(captured.root_job_id).failures[0].message
