"""Upstreams that answer late, refuse, or tell nonsense: what can be done is done, and the rest says
why it isn't."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.support.aftermath import aftermath
from tests.support.http_server import Answer, answering
from tests.support.lake import Lake, mirroring, worker_of
from tests.support.rest_lake import (
    Fault,
    RestLake,
    always,
    at_first,
    busy,
    create_rest_connector,
    slowly,
)
from tests.support.runs import ended_run, start_run
from tests.support.service import connected

import floecat
from ai.floedb.floecat.connector import connector_pb2
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from floecat.connectors.opening import ConnectorOpener

pytestmark = pytest.mark.slow
ATTEMPTS = 3
PATIENCE = timedelta(seconds=1)
GOOD = ("good", "fine", "well")
SETTINGS = {
    "outbound_private_addresses": "true",
    "reconciler_job_store_max_attempts": str(ATTEMPTS),
    "reconciler_job_store_base_backoff_ms": "20",
    "reconciler_job_store_max_backoff_ms": "100",
}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake(tmp_path)
    lake.add("sales.good")
    lake.copy("sales.good", ["sales.fine", "sales.well", "sales.odd"])
    return lake


@pytest.fixture
def upstream(lake: Lake) -> RestLake:
    return RestLake(lake)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Upstreams have a second to answer, so that a test needn't wait for half a minute."""
    opened = ConnectorOpener.open
    monkeypatch.setattr(
        ConnectorOpener, "open", lambda opener, config: opened(opener, config, PATIENCE)
    )


@pytest.fixture
def clients(lake: Lake, tmp_path: Path, impatient: None) -> Iterator[floecat.GrpcClients]:
    with (
        mirroring(lake, tmp_path, **SETTINGS) as service,
        connected(service) as clients,
        worker_of(service, lake, tmp_path, **SETTINGS),
    ):
        yield clients


@pytest.fixture
def connector(
    clients: floecat.GrpcClients, upstream: RestLake
) -> Iterator[connector_pb2.Connector]:
    with answering(upstream) as (uri, _):
        yield create_rest_connector(clients, uri)


def run(clients: floecat.GrpcClients, connector: connector_pb2.Connector) -> messages.ReconcileJob:
    return ended_run(clients, start_run(clients, connector.resource_id))


class Odd(NamedTuple):
    """How one table misbehaves, and what comes of it."""

    fault: Fault
    reason: str
    attempts: int


ODDITIES = {
    "late": Odd(slowly(3), "didn't answer in time", ATTEMPTS),
    "429": Odd(always(busy("0")), "answered 429", ATTEMPTS),
    "500": Odd(always(Answer({}, 500)), "answered 500", ATTEMPTS),
    "503": Odd(always(Answer({}, 503)), "answered 503", ATTEMPTS),
    "nonsense": Odd(always(Answer(body=b"<html>")), "other than JSON", 1),
    "broken": Odd(always(Answer({"metadata": {"format-version": 99}})), "odd", 1),
    "forbidden": Odd(always(Answer({}, 403)), "doesn't allow", 1),
}


@pytest.mark.parametrize("odd", ODDITIES.values(), ids=ODDITIES)
def test_one_table_that_fails_says_why_and_the_rest_completes(
    odd: Odd,
    clients: floecat.GrpcClients,
    connector: connector_pb2.Connector,
    upstream: RestLake,
    tmp_path: Path,
) -> None:
    upstream.faults["odd"] = odd.fault
    ended = run(clients, connector)
    assert ended.state == messages.RJS_SUCCEEDED
    assert ended.degraded
    assert [failure.target.source.name for failure in ended.failures] == ["odd"]
    assert odd.reason in ended.failures[0].message
    assert len(upstream.asked_at["odd"]) == odd.attempts
    assert ended.counters.stats_processed == len(GOOD)
    found = aftermath(tmp_path)
    assert found.tables == len(GOOD)
    assert sum(found.finalized.values()) == len(GOOD)
    assert not found.left_behind


@pytest.mark.parametrize(
    ("place", "answer"),
    [
        ("config", Answer({}, 503)),
        ("namespaces", busy("0")),
        ("tables", Answer({}, 500)),
        ("odd", busy("0")),
    ],
    ids=["config", "namespaces", "tables", "odd"],
)
def test_what_passes_is_as_if_it_hadnt_been(
    clients: floecat.GrpcClients,
    connector: connector_pb2.Connector,
    upstream: RestLake,
    place: str,
    answer: Answer,
) -> None:
    upstream.faults[place] = at_first(answer, ATTEMPTS - 1)
    ended = run(clients, connector)
    assert ended.state == messages.RJS_SUCCEEDED
    assert not ended.degraded, ended.failures
    assert ended.counters.stats_processed == len(GOOD) + 1


@pytest.mark.parametrize("place", ["namespaces", "odd"])
@pytest.mark.parametrize("as_date", [False, True])
def test_nobody_asks_before_the_upstream_said(
    clients: floecat.GrpcClients,
    connector: connector_pb2.Connector,
    upstream: RestLake,
    place: str,
    as_date: bool,
) -> None:
    told = time.monotonic()

    def refuse(request: int) -> Answer | None:
        nonlocal told
        if request > 1:
            return None
        told = time.monotonic()
        # Dates are whole seconds: one more, so that at least two are left.
        date = datetime.now(UTC) + timedelta(seconds=3)
        return busy(format_datetime(date, usegmt=True) if as_date else "2")

    upstream.faults[place] = refuse
    ended = run(clients, connector)
    assert ended.state == messages.RJS_SUCCEEDED
    assert not ended.degraded, ended.failures
    assert upstream.asked_at[place][1] - told >= 2


def test_an_upstream_that_is_away_fails_the_run_and_says_so(
    clients: floecat.GrpcClients, connector: connector_pb2.Connector, upstream: RestLake
) -> None:
    upstream.faults["config"] = always(Answer({}, 503))
    ended = run(clients, connector)
    assert ended.state == messages.RJS_FAILED
    assert "answered 503" in ended.message
    assert f"given up after {ATTEMPTS} attempts" in ended.message
    assert len(upstream.asked_at["config"]) == ATTEMPTS
