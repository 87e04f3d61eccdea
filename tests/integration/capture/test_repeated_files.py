"""A snapshot that lists a data file twice is refused, in words that tell which file it is."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyiceberg.manifest import DataFile
from pyiceberg.table import Table
from tests.support.lake import (
    ROWS,
    Lake,
    capture,
    connected,
    create_connector,
    mirroring,
    worker_of,
)

import floecat
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake(tmp_path)
    lake.add("sales.orders")
    lake.add("sales.items")
    return lake


@pytest.fixture(params=["inline", "native"])
def clients(
    request: pytest.FixtureRequest, lake: Lake, tmp_path: Path
) -> Iterator[floecat.GrpcClients]:
    with (
        mirroring(lake, tmp_path) as service,
        connected(service) as clients,
        worker_of(service, lake, tmp_path, capture_engine=request.param),
    ):
        yield clients


def listed_again(table: Table, times: int) -> str:
    """List the table's first file once more, or more often, in one snapshot; its path."""
    file: DataFile = next(iter(table.scan().plan_files())).file
    with table.transaction() as change, change.update_snapshot().fast_append() as append:
        for _ in range(times):
            append.append_data_file(file)
    return file.file_path


def require_refused(job: messages.ReconcileJob, path: str) -> None:
    """One snapshot failed, and said why; the other table's was captured."""
    [failure] = job.failures
    assert f"lists the data file {path} more than once" in failure.message
    assert "add it once" in failure.message
    assert job.degraded
    assert job.counters.stats_processed == 1, "the other table's"
    assert job.counters.file_groups_total == 1, "nothing is read in vain"


@pytest.mark.parametrize("times", [1, 2])
def test_the_file_is_named(clients: floecat.GrpcClients, lake: Lake, times: int) -> None:
    table = lake.catalog.load_table("sales.orders")
    path = listed_again(table, times)
    assert table.scan().to_arrow().num_rows == (1 + times) * ROWS.num_rows, "readers count it so"
    require_refused(capture(clients, create_connector(clients, lake)), path)


def test_a_file_that_is_known_already_is_refused_just_so(
    clients: floecat.GrpcClients, lake: Lake
) -> None:
    connector = create_connector(clients, lake)
    assert not capture(clients, connector).degraded
    lake.append("sales.items")
    path = listed_again(lake.catalog.load_table("sales.orders"), 1)
    require_refused(capture(clients, connector), path)


def test_once_it_is_mended_it_is_captured(clients: floecat.GrpcClients, lake: Lake) -> None:
    connector = create_connector(clients, lake)
    table = lake.catalog.load_table("sales.orders")
    path = listed_again(table, 2)
    capture(clients, connector)
    table.delete()
    table.add_files([path])
    assert table.scan().to_arrow().num_rows == ROWS.num_rows
    job = capture(clients, connector)
    assert not job.degraded, job
    assert job.counters.files_completed == 1
