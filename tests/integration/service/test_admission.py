"""A service that is too busy: what waits, what is refused, and what nobody waits for any more."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status
from prometheus_client import CollectorRegistry
from tests.support.principals import Anyone
from tests.support.waiting import PATIENCE_SECONDS

import floecat
from ai.floedb.floecat.catalog import catalog_pb2, catalog_pb2_grpc
from floecat.client.retries import RetryPolicy
from floecat.errors import ResourceExhaustedError
from floecat.service.calls import Call
from floecat.service.endpoints import Surroundings
from floecat.service.metrics import CallMetrics
from floecat.service.server import Server, ServerConfig

CREATE = catalog_pb2.CreateCatalogRequest()


class Blocked:
    """Every RPC stays until it is let go."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.calls = 0
        self.go = threading.Event()

    def __getattr__(self, name: str) -> Callable[[Any, Call], Any]:
        def handle(_request: Any, _call: Call) -> Any:
            self.calls += 1
            self.begun.release()
            assert self.go.wait(PATIENCE_SECONDS)
            return catalog_pb2.CreateCatalogResponse()

        return handle


class Busy:
    """A server with one thread and room for some more calls."""

    def __init__(self, waiting: int) -> None:
        self.handler = Blocked()
        self._registry = CollectorRegistry()
        config = ServerConfig(
            address="127.0.0.1:0",
            unary_threads=1,
            unary_waiting=waiting,
            grace=timedelta(seconds=1),
        )
        service = catalog_pb2.DESCRIPTOR.services_by_name["CatalogService"]
        around = Surroundings(Anyone(), CallMetrics(self._registry))
        self.server = Server(config, {service: self.handler}, around)
        self.server.start()
        self.address = f"127.0.0.1:{self.server.port}"
        self.channel = grpc.insecure_channel(self.address)
        self.stub = catalog_pb2_grpc.CatalogServiceStub(self.channel)

    def occupy(self) -> list[Any]:
        """One call on the thread and one that waits."""
        running = self.stub.CreateCatalog.future(CREATE)
        assert self.handler.begun.acquire(timeout=PATIENCE_SECONDS)
        waiting = self.stub.CreateCatalog.future(CREATE)
        until(lambda: self.server._unary._places.qsize() == 0)
        return [running, waiting]

    def heard(self) -> None:
        """Until the server has heard what was said before, on the same connection."""
        health: Any = health_pb2_grpc.HealthStub(self.channel)
        for _ in range(3):
            health.Check(health_pb2.HealthCheckRequest(), timeout=PATIENCE_SECONDS)

    def refused(self) -> float:
        """How many calls were."""
        labels = {
            "method": "ai.floedb.floecat.catalog.CatalogService/CreateCatalog",
            "status": "RESOURCE_EXHAUSTED",
        }
        return self._registry.get_sample_value("floecat_calls_total", labels) or 0

    def close(self) -> None:
        self.handler.go.set()
        self.channel.close()
        self.server.stop()


def until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.001)


@contextmanager
def busy_server(waiting: int = 1) -> Iterator[Busy]:
    busy = Busy(waiting)
    try:
        yield busy
    finally:
        busy.close()


def test_what_finds_the_queue_full_is_refused_at_once_and_told_when_to_come_again() -> None:
    with busy_server() as busy:
        occupying = busy.occupy()
        with pytest.raises(grpc.RpcError) as refusal:
            busy.stub.CreateCatalog(CREATE, timeout=PATIENCE_SECONDS)
        failed: Any = refusal.value  # a grpc.Call as well
        status = rpc_status.from_call(failed)
        details = {detail.TypeName(): detail for detail in status.details}
        info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
        assert details["google.rpc.ErrorInfo"].Unpack(info)
        assert details["google.rpc.RetryInfo"].Unpack(retry)
        assert failed.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert info.reason == "OVERLOADED"
        assert retry.retry_delay.ToTimedelta() > timedelta(0)
        assert "x-correlation-id" in dict(failed.trailing_metadata())
        # Others have threads of their own.
        check = health_pb2.HealthCheckRequest()
        health: Any = health_pb2_grpc.HealthStub(busy.channel)
        answer = health.Check(check, timeout=PATIENCE_SECONDS)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
        assert busy.handler.calls == 1
        busy.handler.go.set()
        for call in occupying:
            call.result(PATIENCE_SECONDS)
        busy.stub.CreateCatalog(CREATE, timeout=PATIENCE_SECONDS)  # there is room again


def test_the_client_comes_again_even_with_what_it_may_not_repeat() -> None:
    with busy_server() as busy, ThreadPoolExecutor(1) as pool:
        occupying = busy.occupy()
        retry = RetryPolicy(attempts=1000, longest=timedelta(milliseconds=10))
        with floecat.connect(busy.address, floecat.ClientOptions(retry=retry)) as clients:
            created = pool.submit(clients.catalogs.CreateCatalog, CREATE)  # has no key
            until(lambda: busy.refused() > 1)
            busy.handler.go.set()
            created.result(PATIENCE_SECONDS)
        for call in occupying:
            call.result(PATIENCE_SECONDS)
        assert busy.handler.calls == 3


def test_the_client_gives_up_in_the_end() -> None:
    with busy_server() as busy:
        occupying = busy.occupy()
        retry = RetryPolicy(attempts=3, longest=timedelta(milliseconds=10))
        with (
            floecat.connect(busy.address, floecat.ClientOptions(retry=retry)) as clients,
            pytest.raises(ResourceExhaustedError, match="busy"),
        ):
            clients.catalogs.CreateCatalog(CREATE)
        assert busy.refused() == 3
        assert not any(call.done() for call in occupying)


def test_what_nobody_waits_for_any_more_is_not_begun() -> None:
    with busy_server(waiting=10) as busy:
        first = busy.stub.CreateCatalog.future(CREATE)
        assert busy.handler.begun.acquire(timeout=PATIENCE_SECONDS)
        late = busy.stub.CreateCatalog.future(CREATE, timeout=0.1)
        cancelled = busy.stub.CreateCatalog.future(CREATE)
        assert late.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        cancelled.cancel()
        busy.heard()
        busy.handler.go.set()
        first.result(PATIENCE_SECONDS)
        busy.stub.CreateCatalog(CREATE, timeout=PATIENCE_SECONDS)  # behind the two in the queue
        assert busy.handler.calls == 2
