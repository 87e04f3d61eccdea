"""Catalogs of many tables: all of it is mirrored, and then only what changes is looked at."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.aftermath import aftermath
from tests.support.counting import Calls, counted_calls
from tests.support.lake import Lake, create_connector, mirroring, worker_of
from tests.support.runs import EVERYTHING, ended_run, start_run
from tests.support.service import connected

import floecat
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages

TABLES = 1000 if os.environ.get("SOAK") else 100
SNAPSHOTS = 20
CHANGED = ["copies.t0003", "copies.t0014", "copies.t0015", "copies.t0092", "copies.t0065"]


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake(tmp_path)
    lake.add("sales.orders", snapshots=SNAPSHOTS)
    lake.copy("sales.orders", [f"copies.t{number:04}" for number in range(TABLES - 1)])
    return lake


@pytest.fixture
def calls() -> Iterator[Calls]:
    with counted_calls() as calls:
        yield calls


@pytest.fixture
def clients(lake: Lake, calls: Calls, tmp_path: Path) -> Iterator[floecat.GrpcClients]:
    with (
        mirroring(lake, tmp_path) as service,
        connected(service) as clients,
        worker_of(service, lake, tmp_path),
    ):
        yield clients


def timed_run(
    clients: floecat.GrpcClients, connector: ResourceId, *, full: bool
) -> tuple[messages.ReconcileJob, float]:
    began = time.monotonic()
    mode = messages.METADATA_ONLY
    job = start_run(clients, connector, mode=mode, snapshots=EVERYTHING, full=full)
    ended = ended_run(clients, job, seconds=1200)
    assert ended.state == messages.RJS_SUCCEEDED
    assert not ended.degraded, ended.failures
    return ended, time.monotonic() - began


@pytest.mark.slow
@pytest.mark.parametrize("first_is_full", [True, False])
def test_many_tables_are_mirrored_and_then_left_alone(
    first_is_full: bool, clients: floecat.GrpcClients, lake: Lake, calls: Calls, tmp_path: Path
) -> None:
    connector = create_connector(clients, lake).resource_id
    first, long = timed_run(clients, connector, full=first_is_full)
    assert first.counters.tables_scanned == TABLES
    assert first.counters.snapshots_processed == TABLES * SNAPSHOTS
    found = aftermath(tmp_path)
    assert found.tables == found.mirrors == TABLES
    assert set(found.snapshots.values()) == {TABLES}
    assert len(found.snapshots) == SNAPSHOTS

    calls.clear()
    again, short = timed_run(clients, connector, full=False)
    assert again.counters.jobs_total == 1
    assert described(calls) == []
    assert short <= long / 10
    print(f"{TABLES} tables: {long:.1f} s, then {short:.2f} s and {dict(calls)}")

    for name in CHANGED:
        lake.append(name)
    calls.clear()
    changed, _ = timed_run(clients, connector, full=False)
    assert described(calls) == sorted(name.partition(".")[2] for name in CHANGED)
    assert changed.counters.tables_changed == len(CHANGED)
    assert changed.counters.snapshots_processed == len(CHANGED)
    assert sum(aftermath(tmp_path).snapshots.values()) == TABLES * SNAPSHOTS + len(CHANGED)


def described(calls: Calls) -> list[str]:
    """Tables that somebody looked at; listing them and their revisions is not that."""
    return sorted({call.partition(" ")[2] for call in calls if " " in call})
