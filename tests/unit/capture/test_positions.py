"""Files of position deletes: read whatever types and order they have, or refused with a reason."""

import random
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.captures import access_to, planned, planned_deletes, written
from tests.support.segmenting import positions_in

from ai.floedb.floecat.execution.capture_pb2 import (
    FES_FAILED,
    FES_FAILED_ALLOWED,
    FES_SUCCEEDED,
)
from floecat.capture import positions as module
from floecat.capture.columns import FilePolicy
from floecat.capture.failures import CaptureFailure
from floecat.capture.positions import PositionDeletes
from floecat.capture.tasks import CaptureTask, TaskContext, run_task
from floecat.storage.blobs.opening import FilesystemBlobConfig, open_blob_store

A, B = "s3://lake/a.parquet", "s3://lake/b.parquet"


def field(name: str, kind: pa.DataType, field_id: int | None = None) -> pa.Field:
    metadata = None if field_id is None else {"PARQUET:field_id": str(field_id)}
    return pa.field(name, kind, metadata=metadata)


def deletes(
    rows: Sequence[tuple[str | None, int | None]],
    path: pa.Field | None = None,
    pos: pa.Field | None = None,
) -> pa.Table:
    schema = pa.schema(
        [
            path or field("file_path", pa.string(), 2147483546),
            pos or field("pos", pa.int64(), 2147483545),
        ]
    )
    columns = [pa.array([row[n] for row in rows], schema.field(n).type) for n in (0, 1)]
    return pa.Table.from_arrays(columns, schema=schema)


def read(path: Path) -> dict[str, list[list[int]]]:
    """The runs of a file, by data file."""
    found: dict[str, list[list[int]]] = {}
    for batch in PositionDeletes(access_to(path.parent), planned(path)):
        for run in batch:
            found.setdefault(run.path, []).append(run.positions.tolist())
    return found


def refused(path: Path, reason: str) -> None:
    with pytest.raises(CaptureFailure, match=reason) as raised:
        read(path)
    assert str(path) in raised.value.reason
    assert not raised.value.retryable


def test_positions_are_sorted_and_there_once(tmp_path: Path) -> None:
    rows = [(B, 4), (A, 9), (A, 1), (B, 4), (A, 9), (A, 0)]
    path = written(tmp_path, deletes(rows))
    assert read(path) == {A: [[0, 1, 9]], B: [[4]]}
    reading = PositionDeletes(access_to(tmp_path), planned(path))
    assert list(reading)
    assert reading.rows == 6
    assert 0 < reading.bytes_read <= path.stat().st_size


rows_of = st.lists(st.tuples(st.sampled_from([A, B, "", "file:/ü"]), st.integers(0, 50)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows_of, st.integers(1, 20), st.booleans())
def test_nothing_is_lost_however_rows_are_laid_out(
    tmp_path: Path, rows: list[tuple[str, int]], group: int, dictionary: bool
) -> None:
    path = written(tmp_path, deletes(rows), row_group_size=group, use_dictionary=dictionary)
    found = read(path)
    expected = {name: {p for other, p in rows if other == name} for name, _ in rows}
    assert {name: {p for run in runs for p in run} for name, runs in found.items()} == expected
    for runs in found.values():
        assert all(run == sorted(set(run)) and run for run in runs)


def test_a_large_file_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BATCH_ROWS", 1000)
    rows = [(A, n) for n in range(0, 5000, 2)] + [(B, n) for n in range(2000)]
    path = written(tmp_path, deletes(rows), row_group_size=3000)
    found = read(path)
    assert [p for run in found[A] for p in run] == list(range(0, 5000, 2)), "one behind the other"
    assert [p for run in found[B] for p in run] == list(range(2000))
    assert len(found[A]) > 1
    assert all(len(run) <= 1000 for runs in found.values() for run in runs)


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.binary(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.string_view(),
    ],
    ids=str,
)
@pytest.mark.parametrize("stored", [True, False], ids=["arrow", "bare"])
def test_paths_of_every_text_type(tmp_path: Path, kind: pa.DataType, stored: bool) -> None:
    table = deletes([(A, 1), (B, 2), (A, 0)])
    column = field("file_path", kind, 2147483546)
    table = table.set_column(0, column, table.column(0).cast(kind))
    path = written(tmp_path, table, store_schema=stored)
    assert read(path) == {A: [[0, 1]], B: [[2]]}


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()])
def test_positions_of_every_width(tmp_path: Path, kind: pa.DataType) -> None:
    pos = field("pos", kind, 2147483545)
    path = written(tmp_path, deletes([(A, 3), (A, 1)], pos=pos))
    assert read(path) == {A: [[1, 3]]}


def test_columns_are_found_by_id_and_else_by_name(tmp_path: Path) -> None:
    by_id = deletes(
        [(A, 1)], field("renamed", pa.string(), 2147483546), field("also", pa.int64(), 2147483545)
    )
    assert read(written(tmp_path, by_id)) == {A: [[1]]}
    by_name = deletes([(A, 1)], field("file_path", pa.string()), field("pos", pa.int64()))
    assert read(written(tmp_path, by_name)) == {A: [[1]]}
    turned = by_name.select(["pos", "file_path"])
    assert read(written(tmp_path, turned)) == {A: [[1]]}
    with_rows = by_name.append_column("row", pa.array([{"id": 7}]))
    assert read(written(tmp_path, with_rows)) == {A: [[1]]}


def test_ids_of_deleted_rows_are_no_ids_of_the_columns(tmp_path: Path) -> None:
    plain = deletes([(A, 1)], field("file_path", pa.string()), field("pos", pa.int64()))
    row = pa.struct([field("id", pa.int64(), 1)])
    rows = plain.append_column(pa.field("row", row), pa.array([{"id": 7}], row))
    assert read(written(tmp_path, rows)) == {A: [[1]]}


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
def test_paths_of_every_encoding(tmp_path: Path, encoding: str) -> None:
    encodings = {"file_path": encoding, "pos": "PLAIN"}
    table = deletes([(A, 3), (A, 1)])
    path = written(tmp_path, table, use_dictionary=False, column_encoding=encodings)
    assert read(path) == {A: [[1, 3]]}


def test_a_file_without_rows_names_nothing(tmp_path: Path) -> None:
    assert read(written(tmp_path, deletes([]))) == {}


POS_64 = field("pos", pa.uint64(), 2147483545)


def nested() -> pa.Table:
    inside = pa.array([{"file_path": A}], pa.struct([("file_path", pa.string())]))
    return pa.table({"file_path": inside, "pos": [1]})


def listed() -> pa.Table:
    return pa.table({"file_path": [A], "pos": [[1]]})


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (deletes([(A, 1), (A, -1)]), "it names the position -1"),
        (deletes([(A, 1), (None, 2)]), "file_path is null in 1 of its rows"),
        (deletes([(A, None), (A, None)]), "pos is null in 2 of its rows"),
        (pa.table({"id": [1]}), "it has no column file_path"),
        (pa.table({"file_path": [A]}), "it has no column pos"),
        (pa.table({"file_path": [1], "pos": [1]}), "its column file_path is of the type int64"),
        (pa.table({"file_path": [A], "pos": ["1"]}), "its column pos is of the type string"),
        (pa.table({"file_path": [A], "pos": [1.0]}), "its column pos is of the type double"),
        (pa.table({"file_path": [b"\xff\xfe"], "pos": [1]}), "can't be read as parquet"),
        (deletes([(A, 2**64 - 1)], pos=POS_64), "can't be read as parquet"),
        (nested(), "it has no column file_path"),
        (listed(), "it has no column pos"),
    ],
)
def test_what_isnt_a_file_of_position_deletes_says_why(
    tmp_path: Path, table: pa.Table, reason: str
) -> None:
    refused(written(tmp_path, table), reason)


def test_files_that_arent_whole_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, deletes([(A, n) for n in range(1000)]))
    content = path.read_bytes()
    for broken in (b"", b"PAR1", content[:-1], content[: len(content) // 2], b"\0" * len(content)):
        path.write_bytes(broken)
        refused(path, "can't be read as parquet")
    path.write_bytes(content)
    other = planned(path)
    other.identity.size_bytes += 1
    with pytest.raises(CaptureFailure, match="it isn't the file any more that it was"):
        list(PositionDeletes(access_to(tmp_path), other))
    path.unlink()
    with pytest.raises(CaptureFailure, match="it isn't there any more"):
        list(PositionDeletes(access_to(tmp_path), other))


def test_damaged_files_fail_clearly_or_are_read(tmp_path: Path) -> None:
    chooser = random.Random(7)
    rows = [(f"s3://lake/{n // 40}.parquet", n % 40) for n in range(400)]
    path = written(tmp_path, deletes(rows), row_group_size=150, compression="none")
    healthy = path.read_bytes()
    failed = 0
    for _ in range(300):
        content = bytearray(healthy)
        for _ in range(chooser.choice([1, 3, 20])):
            content[chooser.randrange(len(content))] = chooser.randrange(256)
        path.write_bytes(content)
        found: dict[str, list[list[int]]] = {}
        reason = ""
        try:
            found = read(path)
        except CaptureFailure as failure:
            reason = failure.reason
        failed += bool(reason)
        assert not reason or str(path) in reason
        assert all(run == sorted(set(run)) for runs in found.values() for run in runs)
    assert failed > 20


@pytest.mark.parametrize("allowed", [True, False])
def test_a_task_keeps_what_could_be_read(tmp_path: Path, allowed: bool) -> None:
    """One delete file goes bad in its middle, when some of it has been written already."""
    good = written(tmp_path, deletes([(A, 1), (B, 2)]), "good.parquet")
    bad = written(tmp_path, deletes([(A, 5), (A, -5)]), "bad.parquet", row_group_size=1)
    also = written(tmp_path, deletes([(A, 7)] * 3), "also.parquet")
    data = written(tmp_path, pa.table({"id": [1, 2, 3]}), "data.parquet")
    config = FilesystemBlobConfig(tmp_path / "blobs")
    context = TaskContext(
        access=access_to(tmp_path),
        policy=FilePolicy(columns=()),
        blobs=config,
        blob_prefix="captures/one",
        allow_failed_files=allowed,
    )
    files = [*map(planned_deletes, (good, bad, also)), planned(data)]
    task = CaptureTask(0, tuple(file.SerializeToString() for file in files))
    result = run_task(context, task)
    assert [file.identity.file_path for file in result.results] == [str(data)]
    assert [part.stats.identity.file_path for part in result.part.files] == [str(data)]
    states = {Path(r.identity.file_path).name: r.state for r in result.delete_results}
    assert states == {
        "good.parquet": FES_SUCCEEDED,
        "bad.parquet": FES_FAILED_ALLOWED if allowed else FES_FAILED,
        "also.parquet": FES_SUCCEEDED,
    }
    found = {
        name: [(run.path, run.positions.tolist()) for run in runs]
        for name, runs in positions_in(open_blob_store(config), [result.part]).items()
    }
    assert found == {"good.parquet": [(A, [1]), (B, [2])], "also.parquet": [(A, [7])]}
    assert [file.rows for file in result.part.delete_files] == [2, 3]
