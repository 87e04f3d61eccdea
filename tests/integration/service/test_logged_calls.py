"""What calls leave in the log of a running service: who asked, and one line for every mutation."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from examples.parquet_folder_connector import FACTORY
from tests.support.cli import serving
from tests.support.mutations import CASES, Case
from tests.support.remote import RemoteWorld

from ai.floedb.floecat.catalog.catalog_pb2 import ListCatalogsRequest

ENGINE = (("x-engine-kind", "duckdb"), ("x-engine-version", "1.4"))


@dataclass(frozen=True)
class Logged:
    """A service that logs everything, and what it has logged."""

    channel: grpc.Channel
    log: Path

    def lines(self, correlation_id: str) -> list[dict[str, Any]]:
        lines = [line for line in self.log.read_text().splitlines() if line.startswith("{")]
        read = [json.loads(line) for line in lines]
        return [line for line in read if line.get("correlation_id") == correlation_id]


def with_the_example(folder: Path) -> str:
    """A Python path on which the example's kind of connector is installed."""
    described = folder / "example-1.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: example\nVersion: 1\n")
    (described / "entry_points.txt").write_text(
        f"[floecat.connectors]\n{FACTORY.kind_name} = examples.parquet_folder_connector:FACTORY\n"
    )
    return os.pathsep.join([str(folder), str(Path(__file__).parents[3])])


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Logged]:
    folder = tmp_path_factory.mktemp("logged")
    stores = {"kv": "memory", "blobs": "memory"}
    logs = {"log_format": "json", "log_level": "debug"}
    with (
        serving(folder, python_path=with_the_example(folder), **stores, **logs) as cli,
        grpc.insecure_channel(cli.environment["FLOECAT_CLIENT_SERVER"]) as channel,
    ):
        yield Logged(channel, folder / "log")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.method)
def test_every_mutation_leaves_one_audit_line(logged: Logged, case: Case) -> None:
    world = RemoteWorld(logged.channel, f"for {case.method}")
    request: Any = case.request(world)
    request.idempotency.key = "once"
    account, named = ("x-floe-account", world.account_id), ("x-correlation-id", case.method)
    answer = world.send(case.method, request, account, named, *ENGINE)
    # A replay changes nothing, so it isn't written down.
    assert world.send(case.method, request, account, named) == answer
    lines = logged.lines(case.method)
    (line,) = [line for line in lines if line["log"] == "floecat.audit"]
    assert line["method"].endswith(case.method)
    assert (line["account"], line["subject"]) == (world.account_id, "dev")
    assert (line["engine_kind"], line["engine_version"]) == ("duckdb", "1.4")
    versions = (line["before"], line["after"])
    deleted = list(answer.DESCRIPTOR.fields_by_name) == ["meta"]
    now = answer.meta.version
    assert versions == ((now, None) if deleted else (now - 1, now))


def test_a_call_is_logged_with_the_engine_that_made_it(logged: Logged) -> None:
    world = RemoteWorld(logged.channel, "asked by an engine")
    request = ListCatalogsRequest()
    for number, engine in enumerate([ENGINE, ()]):
        world.send(
            "CatalogService/ListCatalogs", request, ("x-correlation-id", f"{number}"), *engine
        )
    (said,) = logged.lines("0")
    (silent,) = logged.lines("1")
    assert (said["engine_kind"], said["engine_version"]) == ("duckdb", "1.4")
    assert "engine_kind" not in silent


@pytest.mark.parametrize("header", ["x-engine-kind", "x-engine-version"])
def test_an_engine_that_cannot_be_logged_is_refused(logged: Logged, header: str) -> None:
    world = RemoteWorld(logged.channel, f"odd {header}")
    with pytest.raises(grpc.RpcError, match=header) as refusal:
        world.send("CatalogService/ListCatalogs", ListCatalogsRequest(), (header, "x" * 65))
    assert refusal.value.code() is grpc.StatusCode.INVALID_ARGUMENT
