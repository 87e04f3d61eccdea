"""Spark's JVM, its Python or a task dies in the middle of a group, and the result is the same."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
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


def _worker() -> list[int]:
    found = descendants(os.getpid())
    return [pid for pid, command in found.items() if "floecat.cli.main worker" in command]


VICTIMS: dict[str, Callable[[], list[int]]] = {
    "the JVM": lambda: _jvm()[:1],
    # With the tasks that it has: they would go on without it.
    "the Python that tasks come from": _python,
    "a task": lambda: _python()[1:2],
    "the worker": lambda: _worker()[:1],
}
"""Who dies, together."""


@pytest.mark.parametrize("victim", VICTIMS)
def test_killed_in_the_middle(
    victim: str, service: Cli, lake: Lake, expected: Segment, tmp_path: Path
) -> None:
    killed: set[int] = set()
    blobs = tmp_path / "data" / "blobs"
    with floecat.connect(service.environment["FLOECAT_CLIENT_SERVER"]) as clients:
        for name in (
            f"lake{number}" for number in range(3 * KILLS)
        ):  # some end before anybody dies
            connector = create_connector(clients, lake, name)
            current = messages.SnapshotSelection(current=True)
            job = start_run(clients, connector.resource_id, snapshots=current)
            is_over = partial(has_ended, clients, job)
            killed |= _kill(VICTIMS[victim], blobs, KILLS - len(killed), is_over)
            ended = ended_run(clients, job, seconds=300)
            assert ended.state == messages.RJS_SUCCEEDED, ended
            assert not ended.degraded, ended
            _assert_exact(clients, expected, name)
            if len(killed) == KILLS:
                break
        assert len(killed) == KILLS, "they were over too soon for so many to die"
        assert "everything fits together" in service("admin", "check").out
        _assert_orphans_go(service, blobs)
        _assert_exact(clients, expected, name)
    assert "everything fits together" in service("admin", "check").out


def _kill(
    victims: Callable[[], list[int]], blobs: Path, most: int, is_over: Callable[[], bool]
) -> set[int]:
    """Kill whenever some more of a group is done, and some isn't; the first of each who died."""
    killed: set[int] = set()
    seen = set(blobs.glob("captures/**/parts/*"))
    while len(killed) < most and not is_over():
        parts = set(blobs.glob("captures/**/parts/*")) - seen
        found = victims()
        if parts and found and found[0] not in killed:
            seen |= parts
            killed.add(found[0])
            for pid in found:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    return killed


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


def _assert_exact(clients: floecat.GrpcClients, expected: Segment, catalog: str) -> None:
    name = parse_relation(f"{catalog}.sales.orders")
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
