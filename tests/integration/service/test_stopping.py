"""How a service stops: announced first, calls under way finish, silent streams delay nothing."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from prometheus_client import CollectorRegistry
from tests.support.principals import Anyone
from typer.testing import CliRunner

from ai.floedb.floecat.catalog import catalog_pb2
from ai.floedb.floecat.catalog.catalog_pb2_grpc import CatalogServiceStub
from floecat.cli import main, serve
from floecat.service.endpoints import Surroundings
from floecat.service.metrics import CallMetrics
from floecat.service.server import Server, ServerConfig

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
LONG = timedelta(seconds=60)


class Slow:
    """Handlers that answer when they are told to."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.may_end = threading.Event()

    def __getattr__(self, _method: str) -> Callable[..., Any]:
        return self._answer

    def _answer(self, _request: object, _call: object) -> catalog_pb2.ListCatalogsResponse:
        self.begun.set()
        assert self.may_end.wait(LONG.total_seconds())
        return catalog_pb2.ListCatalogsResponse()


@contextmanager
def started(handlers: object) -> Iterator[tuple[Server, grpc.Channel]]:
    service = catalog_pb2.DESCRIPTOR.services_by_name["CatalogService"]
    around = Surroundings(Anyone(), CallMetrics(CollectorRegistry()))
    server = Server(ServerConfig(address="127.0.0.1:0", grace=LONG), {service: handlers}, around)
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        yield server, channel


def watch(channel: grpc.Channel) -> Iterator[int]:
    stub: Any = health_pb2_grpc.HealthStub(channel)
    return (answer.status for answer in stub.Watch(health_pb2.HealthCheckRequest(), timeout=60))


def test_it_is_announced_and_a_call_under_way_finishes() -> None:
    slow = Slow()
    with started(slow) as (server, channel):
        statuses = watch(channel)
        assert next(statuses) == SERVING
        call: Any = CatalogServiceStub(channel).ListCatalogs.future(
            catalog_pb2.ListCatalogsRequest(), timeout=60
        )
        assert slow.begun.wait(LONG.total_seconds())
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        # Watches are ended once nothing new is let in: whatever stopping does to calls, it has.
        assert list(statuses) == [NOT_SERVING]
        slow.may_end.set()
        assert call.result() == catalog_pb2.ListCatalogsResponse()
        stopping.join()


def test_streams_left_open_do_not_delay_it() -> None:
    ended = threading.Event()

    def silence() -> Iterator[reflection_pb2.ServerReflectionRequest]:
        yield reflection_pb2.ServerReflectionRequest(list_services="")
        ended.wait(LONG.total_seconds())

    with started(Slow()) as (server, channel):
        statuses = watch(channel)
        assert next(statuses) == SERVING
        stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
        reflected = stub.ServerReflectionInfo(silence())
        assert next(reflected).HasField("list_services_response")
        began = time.monotonic()
        server.stop()
        assert time.monotonic() - began < LONG.total_seconds() / 2
        ended.set()
        reflected.cancel()


def test_serve_announces_it_before_its_worker_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    @contextmanager
    def worker(_session: object, _settings: object, address: str) -> Iterator[None]:
        os.kill(os.getpid(), signal.SIGTERM)
        yield
        with grpc.insecure_channel(address) as channel:
            stub: Any = health_pb2_grpc.HealthStub(channel)
            seen.append(stub.Check(health_pb2.HealthCheckRequest(), timeout=30).status)

    monkeypatch.setattr(serve, "_worker", worker)
    monkeypatch.setattr(serve, "_leave_threads_behind", lambda: None)
    monkeypatch.chdir(tmp_path)
    environment = {
        "FLOECAT_KV": "memory",
        "FLOECAT_BLOBS": "memory",
        "FLOECAT_SERVER_ADDRESS": "127.0.0.1:0",
        "FLOECAT_METRICS_ADDRESS": "",
        "FLOECAT_LOG_LEVEL": "error",
    }
    before = {name: signal.getsignal(name) for name in (signal.SIGINT, signal.SIGTERM)}
    try:
        ran = CliRunner().invoke(main.app, ["serve"], env=environment)
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
    assert ran.exit_code == 0, ran.output
    assert seen == [NOT_SERVING]
