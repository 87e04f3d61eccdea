"""Iceberg's `compute_table_stats` and our capture count the same files: they agree."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fixtures.making import environment
from tests.support.connectors import open_connector

from ai.floedb.floecat.catalog.stats_pb2 import SR_NDV, FileIdentity
from ai.floedb.floecat.execution.capture_pb2 import CapturePolicy, PlannedFile
from floecat.capture.files import capture_file
from floecat.capture.policies import file_policy
from floecat.connectors.spi.columns import ColumnScope
from floecat.connectors.spi.connector import FloecatConnector
from floecat.sketches.theta import ThetaSketch

pytestmark = pytest.mark.interop("Iceberg on Spark, compute_table_stats")

TABLE = (("counted",), "values")
COLUMNS = 10


@pytest.fixture(scope="module")
def connector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FloecatConnector]:
    """Of a warehouse with one table, written and counted by Spark."""
    root = tmp_path_factory.mktemp("counted")
    variables = environment.prepare()
    module = "tests.fixtures.making.computed_statistics"
    program = [str(environment.PYTHON), "-m", module, str(root)]
    subprocess.run(program, env=variables, cwd=environment.CHECKOUT, check=True)
    with open_connector(
        "iceberg-filesystem", f"file:{root}/warehouse", roots=[Path(root)]
    ) as opened:
        yield opened


@pytest.fixture(scope="module")
def theirs(connector: FloecatConnector) -> dict[int, ThetaSketch]:
    """Iceberg's sketches, by column."""
    records = connector.capture_snapshot_target_stats(*TABLE, _snapshot(connector), _everything())
    return {
        record.target.column.column_id: ThetaSketch.from_bytes(sketch.data)
        for record in records
        for sketch in record.scalar.sketches
        if sketch.role == SR_NDV
    }


@pytest.fixture(scope="module")
def ours(connector: FloecatConnector) -> dict[int, ThetaSketch]:
    """Those of our own capture, file by file and then united."""
    bundle = connector.plan_snapshot_files(*TABLE, _snapshot(connector))
    access = connector.file_access(*TABLE)
    policy = file_policy(CapturePolicy(), _everything().selected(bundle.columns))
    found: dict[int, list[ThetaSketch]] = {}
    for file in bundle.data_files:
        identity = FileIdentity(file_path=file.file_path, size_bytes=file.file_size_bytes)
        captured = capture_file(access, PlannedFile(file=file, identity=identity), policy)
        for column_id, row in captured.rows.items():
            found.setdefault(column_id, []).append(ThetaSketch.from_bytes(row.theta or b""))
    return {column_id: ThetaSketch.union(parts) for column_id, parts in found.items()}


def test_every_column_was_counted(
    theirs: dict[int, ThetaSketch], ours: dict[int, ThetaSketch]
) -> None:
    assert theirs.keys() == ours.keys() == set(range(1, COLUMNS + 1))


@pytest.mark.parametrize("column_id", range(1, COLUMNS + 1))
def test_the_sketches_overlap_fully(
    column_id: int, theirs: dict[int, ThetaSketch], ours: dict[int, ThetaSketch]
) -> None:
    mine, other = ours[column_id], theirs[column_id]
    # Below the smaller theta both have kept every hash that they have seen.
    theta = min(mine.theta, other.theta)
    kept = [set(sketch.hashes[sketch.hashes < theta].tolist()) for sketch in (mine, other)]
    assert kept[0]
    assert kept[0] == kept[1]


@pytest.mark.parametrize("column_id", range(1, COLUMNS + 1))
def test_the_numbers_agree(
    column_id: int, theirs: dict[int, ThetaSketch], ours: dict[int, ThetaSketch]
) -> None:
    low, high = ours[column_id].bounds(3)
    assert low <= theirs[column_id].estimate <= high


def _snapshot(connector: FloecatConnector) -> int:
    current = connector.describe(*TABLE).current_snapshot_id
    assert current is not None
    return current


def _everything() -> ColumnScope:
    return ColumnScope((), {})
