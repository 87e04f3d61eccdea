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
    NO_ANSWER,
    AbortedError,
    DeadlineExceededError,
    FailedPreconditionError,
    FloecatError,
    InvalidArgumentError,
    ResourceExhaustedError,
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
    settings = floecat.ClientOptions(**{"retry": QUICK, **options})
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


def test_a_retry_waits_as_told_and_gets_what_is_left_of_the_time() -> None:
    left: list[float] = []

    def behave(_number: int, context: grpc.ServicerContext) -> bytes:
        left.append(context.time_remaining())
        context.abort_with_status(status_of(UnavailableError("come again in a second"), "c"))

    pause = timedelta(milliseconds=300)
    policy = RetryPolicy(attempts=3, base=timedelta(0), longest=pause)
    with misbehaving(behave, retry=policy) as (_, clients), pytest.raises(UnavailableError):
        clients.catalogs.ListCatalogs(LIST, timeout=5)  # gRPC rounds what is much longer
    first, second, third = left
    assert second < first - 0.9 * pause.total_seconds()
    assert third < second - 0.9 * pause.total_seconds()


@pytest.mark.parametrize("error", [AbortedError("busy"), ResourceExhaustedError("full")])
def test_what_does_not_say_when_to_come_again_is_not_tried_again(error: FloecatError) -> None:
    def behave(_number: int, context: grpc.ServicerContext) -> bytes:
        code = grpc.StatusCode[error.code]
        context.abort(code, error.message)

    with misbehaving(behave) as (server, clients):
        with pytest.raises(type(error)):
            clients.catalogs.ListCatalogs(LIST)
        assert server.calls == ["ListCatalogs"]


def test_errors_that_the_client_finds_itself_name_the_call() -> None:
    metadata = (("x-correlation-id", "mine"),)
    with floecat.connect("127.0.0.1:1", floecat.ClientOptions(retry=QUICK)) as clients:
        with pytest.raises(UnavailableError) as silence:
            clients.catalogs.ListCatalogs(LIST, metadata=metadata)
        with pytest.raises(UnavailableError) as made:
            clients.catalogs.ListCatalogs(LIST)
    assert silence.value.metadata["correlation_id"] == "mine"
    assert made.value.metadata["correlation_id"]
    assert {silence.value.reason, made.value.reason} == {NO_ANSWER}


@pytest.mark.parametrize("field", [{"attempts": 0}, {"base": timedelta(seconds=-1)}])
def test_a_policy_that_makes_no_sense_is_refused(field: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        RetryPolicy(**field)


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
