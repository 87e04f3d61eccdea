"""Captures of TPC-H's lineitem on Spark, beside DuckDB and Spark's own ANALYZE on the same files.

Everything counts: reading, sketches, sidecars, Spark's own time, merging. The session is warm.
ANALYZE runs between two sets of captures, and ratios are those of a round, the median of three.
SCALE in the environment chooses the size (1 by default).
"""

import os
import shutil
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import duckdb
import pyarrow.parquet as pq
from tests.support.captures import access_to, planned, wanted
from tests.support.far import far_store
from tests.support.processes import descendants, resident_bytes
from tests.support.segmenting import segment_of
from tests.support.tpch import make_tpch

from bench.report import Measurement, Report
from floecat.capture.columns import FilePolicy
from floecat.capture.files import capture_file
from floecat.capture.spark.runner import SparkCaptureRunner
from floecat.capture.spark.sessions import SparkOptions, SparkSessions
from floecat.storage.blobs.opening import FilesystemBlobConfig, open_blob_store

SCALE = float(os.environ.get("SCALE", "1"))
CORES = 2
TIMES = 3
ROUNDS = 3
FAR = 0.03
"""Seconds to an object store and back."""
SMALL_FILES = 1500
FOLDER = Path(__file__).resolve().parent.parent / "build" / "bench-capture"


class Memory(threading.Thread):
    """The most that the processes below this one have taken, by what they are."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peaks: dict[str, int] = {}
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(0.05):
            for pid, command in descendants(os.getpid()).items():
                kind = "jvm" if "java" in command else "task"
                self.peaks[kind] = max(self.peaks.get(kind, 0), resident_bytes(pid))
            mine = resident_bytes(os.getpid())
            self.peaks["driver"] = max(self.peaks.get("driver", 0), mine)

    def end(self) -> None:
        self._ended.set()
        self.join()


@contextmanager
def runner(folder: Path) -> Iterator[SparkCaptureRunner]:
    blobs = open_blob_store(FilesystemBlobConfig(folder / "blobs"))
    options = SparkOptions(folder=folder / "spark", master=f"local[{CORES}]")
    opened = SparkCaptureRunner(SparkSessions(options), blobs)
    try:
        yield opened
    finally:
        opened.close()


def timed(work: Callable[[], object], times: int = 1) -> float:
    """The median of some runs."""
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def duckdb_scan(files: list[Path], columns: list[str]) -> None:
    wanted_columns = ", ".join(
        f"min({name}), max({name}), count({name}), approx_count_distinct({name})"
        for name in columns
    )
    with duckdb.connect() as connection:
        connection.execute(f"SET threads = {CORES}")
        connection.execute(
            f"SELECT filename, {wanted_columns} FROM read_parquet({[str(f) for f in files]}, "
            "filename = true) GROUP BY filename"
        ).fetchall()


def analyze(session: object) -> None:
    """Spark's own statistics of the same table."""
    session.sql(  # type: ignore[attr-defined]
        "ANALYZE TABLE lineitem COMPUTE STATISTICS FOR ALL COLUMNS"
    ).collect()


class Round(NamedTuple):
    """Everybody's seconds, measured one right after another: the machine may have slow moments."""

    capture: float
    duckdb: float
    analyze: float


def measure() -> Report:
    shutil.rmtree(FOLDER, ignore_errors=True)
    data = make_tpch(FOLDER / "tpch", SCALE, parts=max(8, int(8 * SCALE)), tables=("lineitem",))
    files = sorted((data / "lineitem").glob("*.parquet"))
    schema = pq.read_schema(files[0])
    policy = FilePolicy(columns=wanted(schema))
    rows = sum(pq.read_metadata(path).num_rows for path in files)
    size = sum(path.stat().st_size for path in files)
    with runner(FOLDER) as spark:
        memory = Memory()

        def capture() -> None:
            segment_of(FOLDER, files, policy, spark, uuid4().hex)

        def one_round() -> Round:
            before = timed(capture, TIMES)
            duckdb = timed(lambda: duckdb_scan(files, schema.names), TIMES)
            analyzed = timed(lambda: analyze(spark.session))
            return Round(statistics.mean([before, timed(capture, TIMES)]), duckdb, analyzed)

        timed(capture, 2)  # nobody is timed while still warming up
        timed(lambda: duckdb_scan(files, schema.names))
        spark.session.sql(f"CREATE TABLE lineitem USING parquet LOCATION '{data / 'lineitem'}'")
        memory.start()
        timed(capture, 2)
        memory.end()
        rounds = [one_round() for _ in range(ROUNDS)]
        footers = footer_rate(spark, files[0])
    far, requests = far_ratio(files[:2], policy)
    mine = statistics.median(found.capture for found in rounds)
    by_duckdb = statistics.median(found.capture / found.duckdb for found in rounds)
    by_analyze = statistics.median(found.analyze / found.capture for found in rounds)
    return [
        Measurement("lineitem / DuckDB's min, max, count, ndv", by_duckdb, "x", at_most=_limit()),
        Measurement("Spark's ANALYZE / lineitem", by_analyze, "x", at_least=8.0),
        Measurement("rows", rows / mine / 1e6, "million/s"),
        Measurement("bytes", size / mine / 2**20, "MiB/s"),
        Measurement("footers only", footers, "files/s", at_least=500.0),
        Measurement(f"a file {FAR * 1000:.0f} ms away / here", far, "x", at_most=2.5),
        Measurement("requests for it", requests, "", at_most=10.0),
        Measurement("capture", mine, "s"),
        Measurement("DuckDB", statistics.median(found.duckdb for found in rounds), "s"),
        Measurement("ANALYZE", statistics.median(found.analyze for found in rounds), "s"),
        Measurement("driver (Python)", memory.peaks["driver"] / 2**20, "MiB"),
        Measurement("driver (JVM)", memory.peaks.get("jvm", 0) / 2**20, "MiB"),
        Measurement("a task", memory.peaks.get("task", 0) / 2**20, "MiB"),
    ]


def _limit() -> float:
    return 2.0 if SCALE >= 5 else 3.0


def far_ratio(files: list[Path], policy: FilePolicy) -> tuple[float, float]:
    """How much longer a file takes from an object store, without Spark; and how many requests."""
    near = access_to(files[0].parent)
    capture_file(near, planned(files[0]), policy)
    here = timed(lambda: capture_file(near, planned(files[1]), policy), 5)
    with far_store(files, FAR) as store:
        capture_file(store.access, store.planned(files[0]), policy)
        store.asked.clear()
        away = timed(lambda: capture_file(store.access, store.planned(files[1]), policy), 5)
        return away / here, len(store.asked) / 5


def footer_rate(spark: SparkCaptureRunner, like: Path) -> float:
    """Files per second when counts and bounds are all that is wanted."""
    folder = FOLDER / "small"
    folder.mkdir()
    pq.write_table(pq.ParquetFile(like).read_row_group(0).slice(0, 1000), folder / "0.parquet")
    for number in range(1, SMALL_FILES):
        shutil.copy(folder / "0.parquet", folder / f"{number}.parquet")
    files = sorted(folder.glob("*.parquet"))
    columns = wanted(pq.read_schema(files[0]), sketches=False, pages=False)
    policy = FilePolicy(columns=columns)
    seconds = timed(lambda: segment_of(FOLDER, files, policy, spark, uuid4().hex), 5)
    return len(files) / seconds
