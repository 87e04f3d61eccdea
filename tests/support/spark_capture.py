"""A capture on some Spark, compared with one without: run as a program by tests of clusters."""

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.support.captures import wanted
from tests.support.segmenting import segment_of

from floecat.capture.columns import FilePolicy
from floecat.capture.spark.runner import SparkCaptureRunner
from floecat.capture.spark.sessions import SparkOptions, SparkSessions
from floecat.storage.blobs.opening import FilesystemBlobConfig, open_blob_store


def main() -> None:
    """Capture twice and compare."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--remote")
    chosen = parser.parse_args()
    files = _files(chosen.folder / "files")
    policy = FilePolicy(columns=wanted(pq.read_schema(files[0])))
    expected = segment_of(chosen.folder / "expected", files, policy)
    folder = chosen.folder / "found"
    blobs = open_blob_store(FilesystemBlobConfig(folder / "blobs"))
    options = SparkOptions(folder=folder / "spark", master=chosen.master, remote=chosen.remote)
    runner = SparkCaptureRunner(SparkSessions(options), blobs)
    found = segment_of(folder, files, policy, runner)
    for column_id in sorted(expected.columns):
        one, other = found.partials.row(column_id, 0), expected.partials.row(column_id, 0)
        assert one is not None
        assert other is not None
        assert one.theta == other.theta
        assert (one.value_count, one.minimum, one.maximum) == (
            other.value_count,
            other.minimum,
            other.maximum,
        )
    runner.close()
    print("same")


def _files(folder: Path) -> list[Path]:
    folder.mkdir(parents=True)
    rng = np.random.default_rng(1)
    paths = []
    for number in range(12):
        table = pa.table({"id": rng.integers(0, 10**9, 5000), "price": rng.normal(size=5000)})
        paths.append(folder / f"{number:03}.parquet")
        pq.write_table(table, paths[-1])
    return paths


if __name__ == "__main__":
    main()
