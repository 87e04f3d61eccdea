"""Spark's JVM, its Python or a task dies in the middle of a group, and the result is the same."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyiceberg.io.pyarrow import _dataframe_to_data_files
from tests.support.captures import wanted
from tests.support.cli import Cli, serving
from tests.support.lake import Lake, create_connector
from tests.support.processes import descendants
from tests.support.runs import ended_run, has_ended, start_run
from tests.support.segmenting import segment_of

import floecat
from ai.floedb.floecat.catalog.directory_pb2 import ResolveTableRequest
from ai.floedb.floecat.catalog.stats_pb2 import SR_NDV, GetTargetStatsRequest
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.statistics.statistics_pb2 import (
    ColumnStatsTarget,
    StatsTarget,
    TableStatsTarget,
)
from floecat.artifacts.segments import Segment
from floecat.capture.columns import FilePolicy
from floecat.client.names import parse_relation

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FILES = 24
ROWS = 120_000
KILLS = 10 if os.environ.get("SOAK") else 1


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    lake = Lake(tmp_path_factory.mktemp("killed"))
    rng = np.random.default_rng(11)
    schema = pa.schema([("id", pa.int64()), ("price", pa.float64()), ("name", pa.string())])
    lake.catalog.create_namespace("sales")
    table = lake.catalog.create_table("sales.orders", schema)
    with table.transaction() as change, change.update_snapshot().fast_append() as append:
        for _ in range(FILES):
            ids = rng.integers(0, 2**60, ROWS)
            rows = pa.table(
                {"id": ids, "price": rng.normal(size=ROWS), "name": [f"n{n}" for n in ids]}, schema
            )
            for file in _dataframe_to_data_files(change.table_metadata, rows, table.io):
                append.append_data_file(file)
    return lake


@pytest.fixture(scope="module")
def expected(lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> Segment:
    """The same files, captured where nobody dies."""
    files = sorted(lake.folder.glob("data/sales/orders/data/*.parquet"))
    schema = lake.catalog.load_table("sales.orders").schema().as_arrow()
    folder = tmp_path_factory.mktemp("expected")
    return segment_of(folder, files, FilePolicy(columns=wanted(schema)))


@pytest.fixture
def service(lake: Lake, tmp_path: Path) -> Iterator[Cli]:
    with serving(
        tmp_path,
        outbound_file_roots=str(lake.folder),
        reconciler_max_parallelism="1",
        reconciler_job_store_lease_ms="4000",
        reconciler_job_store_base_backoff_ms="100",
        reconciler_job_store_max_backoff_ms="500",
        reconciler_job_store_max_attempts="60",
        capture_engine="spark",
        spark_master="local[2]",
    ) as cli:
        yield cli


def _jvm() -> list[int]:
    return [pid for pid, command in descendants(os.getpid()).items() if "java" in command]


def _python() -> list[int]:
    """The process that Spark forks tasks from, and the tasks; the oldest first."""
    found = descendants(os.getpid())
    return sorted(pid for pid, command in found.items() if "pyspark.daemon" in command)


VICTIMS: dict[str, Callable[[], list[int]]] = {
    "the JVM": lambda: _jvm()[:1],
    "the Python that tasks come from": lambda: _python()[:1],
    "a task": lambda: _python()[1:2],
}


@pytest.mark.parametrize("victim", VICTIMS)
def test_killed_in_the_middle(
    victim: str, service: Cli, lake: Lake, expected: Segment, tmp_path: Path
) -> None:
    with floecat.connect(service.environment["FLOECAT_CLIENT_SERVER"]) as clients:
        connector = create_connector(clients, lake)
        current = messages.SnapshotSelection(current=True)
        job = start_run(clients, connector.resource_id, snapshots=current)
        blobs = tmp_path / "data" / "blobs"
        killed: set[int] = set()
        seen: set[Path] = set()
        while len(killed) < KILLS and not has_ended(clients, job):
            parts = set(blobs.glob("captures/**/parts/*")) - seen
            victims = [pid for pid in VICTIMS[victim]() if pid not in killed]
            if parts and victims:  # some of the group is done, and some isn't
                seen |= parts
                with suppress(ProcessLookupError):
                    os.kill(victims[0], signal.SIGKILL)
                    killed.add(victims[0])
            time.sleep(0.02)
        assert len(killed) == KILLS, "it was over too soon for so many to die"
        ended = ended_run(clients, job, seconds=300)
        assert ended.state == messages.RJS_SUCCEEDED, ended
        assert not ended.degraded, ended
        _assert_exact(clients, expected)
        assert "everything fits together" in service("admin", "check").out
        _assert_orphans_go(service, blobs)
        _assert_exact(clients, expected)
    assert "everything fits together" in service("admin", "check").out


def _assert_orphans_go(service: Cli, blobs: Path) -> None:
    """Nothing stays of what was written under leases that were lost."""
    for _ in range(2):  # the first pass only takes note
        service("admin", "gc", "--grace", "0s")
    epochs: dict[Path, list[int]] = {}
    for folder in blobs.glob("captures/*/*/*"):
        if any(folder.rglob("*/*")):
            epochs.setdefault(folder.parent, []).append(int(folder.name))
    assert epochs
    assert all(len(kept) == 1 for kept in epochs.values()), epochs


def _assert_exact(clients: floecat.GrpcClients, expected: Segment) -> None:
    name = parse_relation("lake.sales.orders")
    table_id = clients.directory.ResolveTable(ResolveTableRequest(name=name)).resource_id
    request = GetTargetStatsRequest(table_id=table_id, target=StatsTarget(table=TableStatsTarget()))
    table = clients.statistics.GetTargetStats(request).record.table
    assert (table.row_count, table.data_file_count) == (FILES * ROWS, FILES)
    for column_id in (1, 2, 3):
        target = StatsTarget(column=ColumnStatsTarget(column_id=column_id))
        asked = GetTargetStatsRequest(table_id=table_id, target=target, include_sketches=True)
        found = clients.statistics.GetTargetStats(asked).record.scalar
        row = expected.partials.row(column_id, 0)
        assert row is not None
        assert (found.value_count, found.min, found.max) == (
            row.value_count,
            row.minimum,
            row.maximum,
        )
        [theta] = [sketch.data for sketch in found.sketches if sketch.role == SR_NDV]
        assert theta == row.theta
