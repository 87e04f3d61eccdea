"""The client against a server that misbehaves on purpose: retries, deadlines, errors."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import grpc
import pytest

import floecat
from ai.floedb.floecat.catalog import catalog_pb2
from floecat.client.retries import RetryPolicy, may_repeat
from floecat.errors import (
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    UnavailableError,
)
from floecat.service.status import status_of

LIST = catalog_pb2.ListCatalogsRequest()
QUICK = RetryPolicy(base=timedelta(milliseconds=1), longest=timedelta(milliseconds=5))


class Misbehaving(grpc.GenericRpcHandler):
    """Answers every call with whatever `behave` does, and remembers the calls."""

    def __init__(self, behave: Callable[[int, grpc.ServicerContext], bytes]) -> None:
        self.calls: list[str] = []
        self._behave = behave

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        def answer(_request: bytes, context: grpc.ServicerContext) -> bytes:
            self.calls.append(details.method.rpartition("/")[2])
            return self._behave(len(self.calls), context)

        return grpc.unary_unary_rpc_method_handler(
            answer, request_deserializer=bytes, response_serializer=bytes
        )


@contextmanager
def misbehaving(
    behave: Callable[[int, grpc.ServicerContext], bytes], **options: Any
) -> Iterator[tuple[Misbehaving, floecat.GrpcClients]]:
    handler = Misbehaving(behave)
    server = grpc.server(ThreadPoolExecutor(2), handlers=[handler])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    settings = floecat.ClientOptions(retry=QUICK, **options)
    try:
        with floecat.connect(f"127.0.0.1:{port}", settings) as clients:
            yield handler, clients
    finally:
        server.stop(0).wait()


def fails_until(attempt: int) -> Callable[[int, grpc.ServicerContext], bytes]:
    def behave(number: int, context: grpc.ServicerContext) -> bytes:
        if number < attempt:
            context.abort_with_status(status_of(UnavailableError("busy"), "c"))
        return b""

    return behave


def test_reads_are_tried_again_until_they_succeed() -> None:
    with misbehaving(fails_until(3)) as (server, clients):
        clients.catalogs.ListCatalogs(LIST)
    assert server.calls == ["ListCatalogs"] * 3


def test_there_is_an_end_to_it() -> None:
    with misbehaving(fails_until(99)) as (server, clients), pytest.raises(UnavailableError):
        clients.catalogs.ListCatalogs(LIST)
    assert len(server.calls) == QUICK.attempts


@pytest.mark.parametrize(("key", "calls"), [("", 1), ("k", 3)])
def test_a_mutation_is_tried_again_only_under_a_key(key: str, calls: int) -> None:
    request = catalog_pb2.CreateCatalogRequest()
    request.idempotency.key = key
    with misbehaving(fails_until(3)) as (server, clients):
        try:
            clients.catalogs.CreateCatalog(request)
        except UnavailableError:
            assert not key
    assert len(server.calls) == calls


def test_what_will_not_pass_is_not_tried_again() -> None:
    def behave(_number: int, context: grpc.ServicerContext) -> bytes:
        error = InvalidArgumentError("no", field="spec.display_name")
        context.abort_with_status(status_of(error, "c7"))

    with misbehaving(behave) as (server, clients):
        with pytest.raises(InvalidArgumentError) as refusal:
            clients.catalogs.ListCatalogs(LIST)
        assert server.calls == ["ListCatalogs"]
    assert refusal.value.field == "spec.display_name"
    assert refusal.value.metadata["correlation_id"] == "c7"


def test_a_deadline_holds_over_all_attempts() -> None:
    def behave(_number: int, context: grpc.ServicerContext) -> bytes:
        while context.is_active():
            pass
        return b""

    timeout = timedelta(milliseconds=200)
    with misbehaving(behave, timeout=timeout) as (_, clients), pytest.raises(DeadlineExceededError):
        clients.catalogs.ListCatalogs(LIST)


def test_a_closed_client_says_so() -> None:
    clients = floecat.connect("127.0.0.1:1")
    clients.close()
    with pytest.raises(FailedPreconditionError, match="closed"):
        clients.catalogs.ListCatalogs(LIST)


@pytest.mark.parametrize(
    ("method", "repeats"),
    [("x/GetTable", True), ("x/ResolveTable", True), ("x/CreateTable", False), ("x/StartX", False)],
)
def test_which_calls_may_be_repeated(method: str, repeats: bool) -> None:
    assert may_repeat(method, LIST) == repeats
