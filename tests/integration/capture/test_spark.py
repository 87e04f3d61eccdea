"""Captures on Spark: the same results as without, and jobs that can be ended."""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.captures import planned, same_text, wanted
from tests.support.segmenting import Patient, context_of, positions_in, segment_of

from floecat.artifacts.segments import Segment
from floecat.capture.columns import FilePolicy
from floecat.capture.spark.runner import SparkCaptureRunner
from floecat.capture.spark.sessions import SparkOptions, SparkSessions
from floecat.capture.tasks import CaptureTask
from floecat.storage.blobs.opening import FilesystemBlobConfig, open_blob_store

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FILES = 24


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(8)
    paths = []
    for number in range(FILES):
        rows = int(rng.integers(1000, 20_000))
        table = pa.table(
            {
                "id": rng.integers(0, 10**9, rows),
                "name": [f"name {n}" for n in rng.integers(0, 500, rows)],
                "price": rng.normal(size=rows),
            }
        )
        paths.append(folder / f"{number:03}.parquet")
        pq.write_table(table, paths[-1])
    return paths


@pytest.fixture(scope="module")
def policy(files: list[Path]) -> FilePolicy:
    return FilePolicy(columns=wanted(pq.read_schema(files[0])))


@pytest.fixture(scope="module")
def expected(
    files: list[Path], policy: FilePolicy, tmp_path_factory: pytest.TempPathFactory
) -> Segment:
    return segment_of(tmp_path_factory.mktemp("expected"), files, policy)


def assert_same(found: Segment, expected: Segment) -> None:
    """The same files, and the same learnt of all of them; quantiles are merged at random."""
    assert sorted(f.stats.identity.file_path for f in found.files) == sorted(
        f.stats.identity.file_path for f in expected.files
    )
    for column_id in (1, 2, 3):
        one, other = found.partials.row(column_id, 0), expected.partials.row(column_id, 0)
        assert one is not None
        assert other is not None
        assert (one.value_count, one.minimum, one.maximum, one.nan_count, one.width_bytes) == (
            other.value_count,
            other.minimum,
            other.maximum,
            other.nan_count,
            other.width_bytes,
        )
        assert one.theta == other.theta


def runner_of(folder: Path, master: str) -> SparkCaptureRunner:
    blobs = open_blob_store(FilesystemBlobConfig(folder / "blobs"))
    sessions = SparkSessions(SparkOptions(folder=folder / "spark", master=master))
    return SparkCaptureRunner(sessions, blobs)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, SparkCaptureRunner]]:
    folder = tmp_path_factory.mktemp("local")
    runner = runner_of(folder, master="local[2]")
    yield folder, runner
    runner.close()


def test_local(
    local: tuple[Path, SparkCaptureRunner],
    files: list[Path],
    policy: FilePolicy,
    expected: Segment,
    capfd: pytest.CaptureFixture[str],
) -> None:
    folder, runner = local
    assert_same(segment_of(folder, files, policy, runner), expected)
    said = capfd.readouterr()
    assert "WARN" not in said.out + said.err, "Spark has something to say, and said it"


def test_positions_of_deletes(
    local: tuple[Path, SparkCaptureRunner], files: list[Path], policy: FilePolicy
) -> None:
    folder, runner = local
    rng = np.random.default_rng(3)
    deletes = [files[0].parent / f"deletes-{number}.parquet" for number in range(6)]
    expected: dict[str, set[tuple[str, int]]] = {}
    for path in deletes:
        rows = [(f"file:/{n % 3}", int(n)) for n in rng.integers(0, 200, 100)]
        columns = {"file_path": [file for file, _ in rows], "pos": [row for _, row in rows]}
        pq.write_table(pa.table(columns), path)
        expected[path.name] = set(rows)
    segment = segment_of(folder, files[:3], policy, runner, name="deletes", deletes=deletes)
    assert len(segment.files) == 3
    blobs = open_blob_store(FilesystemBlobConfig(folder / "blobs"))
    found = positions_in(blobs, segment.manifest.parts)
    named = {
        name: {(run.path, row) for run in runs for row in run.positions.tolist()}
        for name, runs in found.items()
    }
    assert named == expected


def test_a_file_that_takes_too_much_memory_fails_alone(
    local: tuple[Path, SparkCaptureRunner], tmp_path: Path
) -> None:
    """Gigabytes of one text, over and over, in a file of some hundred bytes."""
    folder, runner = local
    files = [tmp_path / name for name in ("before", "huge", "after")]
    for path, rows in zip(files, (10, 2_000, 10), strict=True):
        same_text(path, rows)
    column = replace(wanted(pa.schema([("t", pa.string())]))[0], file_paths=(("s", "t"),))
    context = context_of(folder, files, FilePolicy(columns=(column,)), "memory")
    task = CaptureTask(0, tuple(planned(path).SerializeToString() for path in files))
    [result] = runner.run(context, [task], Patient())
    found = {Path(r.identity.file_path).name: (r.row_count, r.failure) for r in result.results}
    assert found["before"] == found["after"] == (10, "")
    assert "capture.task-memory" in found["huge"][1]


class _Impatient(Patient):
    """Waits for the first sign of life, and then not any longer."""

    def __init__(self) -> None:
        self.asked = 0

    def require_live(self) -> None:
        self.asked += 1
        if self.asked > 3:
            raise InterruptedError


def test_a_job_that_isnt_wanted_any_more_is_ended(
    local: tuple[Path, SparkCaptureRunner], files: list[Path], policy: FilePolicy
) -> None:
    folder, runner = local
    assert runner.session, "started before the clock is"
    began = time.monotonic()
    many = [path for path in files for _ in range(40)]
    with pytest.raises(InterruptedError):
        segment_of(folder, many, policy, runner, "ended", _Impatient())
    tracker = runner._sessions.get().sparkContext.statusTracker()
    deadline = time.monotonic() + 10
    while tracker.getActiveJobsIds() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not tracker.getActiveJobsIds()
    assert time.monotonic() - began < 15


def test_groups_run_side_by_side(
    local: tuple[Path, SparkCaptureRunner],
    files: list[Path],
    policy: FilePolicy,
    expected: Segment,
) -> None:
    folder, runner = local
    found: dict[str, Segment] = {}

    def work(name: str) -> None:
        found[name] = segment_of(folder, files, policy, runner, name)

    threads = [threading.Thread(target=work, args=(f"group{n}",)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for segment in found.values():
        assert_same(segment, expected)
    assert len(found) == 2
