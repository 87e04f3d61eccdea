"""What is the same for every RPC, wrapped around its handler once, when the server is built.

The steps, outermost first: correlation id, measuring and logging, errors into statuses, admission,
authentication, authorisation, the handler, the audit line. All of it runs on the call's own thread:
gRPC's serving thread only looks the wrapped handler up.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Final

import grpc
import structlog
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from floecat.errors import (
    CancelledError,
    FloecatError,
    InvalidArgumentError,
    PermissionDeniedError,
)
from floecat.service.audit import audit, is_mutation
from floecat.service.calls import (
    Call,
    correlation_id_of,
    engine_of,
    headers_of,
    require_waiting,
)
from floecat.service.enums import check_enums
from floecat.service.logs import CORRELATION_ID, ENGINE
from floecat.service.metrics import CallMetrics, MethodMetrics
from floecat.service.permissions import permission_for
from floecat.service.pools import CallPool
from floecat.service.principals import Authenticator
from floecat.service.status import status_of
from floecat.service.uploads import DEFAULT_IDLE, Upload, whole

_LOG: Final = structlog.get_logger(log="floecat.calls")

_READS: Final = ("Get", "List", "Resolve", "Lookup")
"""How the names of RPCs begin that only read: they answer as of a moment after they were asked."""


class InternalError(FloecatError):
    """Something of ours went wrong. The log says what, under the correlation id; the answer not."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What every endpoint needs."""

    authenticator: Authenticator
    metrics: CallMetrics
    glance: Callable[[], AbstractContextManager[None]] = nullcontext
    """What the reads of one answer are made in."""
    idle: timedelta = DEFAULT_IDLE
    """How long a client's stream may bring nothing."""


class Endpoint:
    """One RPC with its handler."""

    def __init__(
        self,
        descriptor: MethodDescriptor,
        handler: Callable[..., Any],
        around: Surroundings,
        pool: CallPool,
    ) -> None:
        self._descriptor = descriptor
        self._handler = handler
        self._around = around
        self._pool = pool
        self._method = f"{descriptor.containing_service.full_name}/{descriptor.name}"
        self._permission = permission_for(descriptor.containing_service.full_name, descriptor.name)
        self._metrics = around.metrics.of_method(self._method)
        self._audited = is_mutation(descriptor)
        self._says_last = "last" in descriptor.input_type.fields_by_name
        self._glance = around.glance if descriptor.name.startswith(_READS) else nullcontext

    def method_handler(self) -> "grpc.RpcMethodHandler[Any, Any]":
        """The handler as gRPC wants it, with the threads it is to run on."""
        kinds = {
            (False, False): (grpc.unary_unary_rpc_method_handler, self._single),
            (True, False): (grpc.stream_unary_rpc_method_handler, self._uploaded),
            (False, True): (grpc.unary_stream_rpc_method_handler, self._streamed),
        }
        streaming = (self._descriptor.client_streaming, self._descriptor.server_streaming)
        make, method = kinds[streaming]
        behaviour: Any = partial(method)  # unlike a method, it can carry an attribute
        behaviour.experimental_thread_pool = self._pool
        return make(
            behaviour,
            request_deserializer=partial(_parsed, GetMessageClass(self._descriptor.input_type)),
            response_serializer=_deterministic,
        )

    def _single(self, request: Any, context: grpc.ServicerContext) -> Message:
        headers = headers_of(context)
        with _Run(self._method, headers, context, self._metrics), self._glance():
            call = self._admit(headers, context)
            response: Message = self._handler(self._checked(request), call)
            self._audit(call, request, response)
            return response

    def _uploaded(self, requests: Iterator[Any], context: grpc.ServicerContext) -> Message:
        headers = headers_of(context)
        with _Run(self._method, headers, context, self._metrics):
            call = self._admit(headers, context)
            with Upload(requests, self._around.idle) as upload:
                received = _Messages(self._messages(upload, context))
                response: Message = self._handler(received, call)
            self._audit(call, received.first, response)
            return response

    def _streamed(self, request: Any, context: grpc.ServicerContext) -> Iterator[Message]:
        headers = headers_of(context)
        with _Run(self._method, headers, context, self._metrics):
            call = self._admit(headers, context)
            for response in self._handler(self._checked(request), call):
                call.require_waiting()
                yield response

    def _messages(self, upload: Upload[Any], context: grpc.ServicerContext) -> Iterator[Any]:
        messages = map(self._checked, upload)
        try:
            yield from whole(messages, context) if self._says_last else messages
        except grpc.RpcError as error:  # how gRPC says that a stream broke off before its end
            raise CancelledError("the client has gone") from error

    def _checked(self, request: Any) -> Any:
        if isinstance(request, _Malformed):
            raise InvalidArgumentError(
                f"the request isn't a {self._descriptor.input_type.name}: its bytes can't be parsed"
            )
        check_enums(request)
        return request

    def _audit(self, call: Call, request: Any, response: Message) -> None:
        if self._audited and not call.replayed:
            audit(call, request, response)

    def _admit(self, headers: dict[str, str], context: grpc.ServicerContext) -> Call:
        self._pool.require_place()
        require_waiting(context)  # it may have waited for this thread for longer than anybody does
        principal = self._around.authenticator.authenticate(headers)
        if not principal.may(self._permission):
            raise PermissionDeniedError(
                f"{principal.subject!r} lacks the permission {self._permission}",
                metadata={"permission": self._permission},
            )
        engine = engine_of(headers)
        ENGINE.set((engine.kind, engine.version))
        return Call(self._method, headers["x-correlation-id"], headers, principal, context, engine)


class _Run:
    """The time around one call: measured, logged, and its errors turned into a status."""

    def __init__(
        self,
        method: str,
        headers: dict[str, str],
        context: grpc.ServicerContext,
        metrics: MethodMetrics,
    ) -> None:
        self._method = method
        self._context = context
        self._metrics = metrics
        self._correlation_id = headers["x-correlation-id"] = correlation_id_of(headers)
        self._started = time.perf_counter()

    def __enter__(self) -> None:
        # Every call has a context of its own, so nobody else sees this, and nothing needs undoing.
        CORRELATION_ID.set(self._correlation_id)
        # At the end rather than at the beginning, where it would cost a message of its own.
        self._context.set_trailing_metadata((("x-correlation-id", self._correlation_id),))
        self._metrics.begin()

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        seconds = time.perf_counter() - self._started
        if error is None:
            self._metrics.end("OK", seconds)
            _LOG.debug("call", method=self._method, status="OK", ms=round(seconds * 1000, 2))
            return
        failure = self._failure(error)
        self._metrics.end(failure.code, seconds)
        _log_failure(self._method, failure.code, seconds, error)
        if not isinstance(error, GeneratorExit):
            self._context.abort_with_status(status_of(failure, self._correlation_id))

    def _failure(self, error: BaseException) -> FloecatError:
        match error:
            case FloecatError():
                return error
            case GeneratorExit():
                return CancelledError("the client has gone")
            case _:
                return InternalError(
                    "something went wrong here; the server's log says what, under correlation id "
                    f"{self._correlation_id}"
                )


def _log_failure(method: str, status: str, seconds: float, error: BaseException) -> None:
    milliseconds = round(seconds * 1000, 2)
    if isinstance(error, FloecatError | GeneratorExit):
        reason = str(error)
        _LOG.info("call", method=method, status=status, ms=milliseconds, error=reason)
    else:
        _LOG.error("call", method=method, status=status, ms=milliseconds, exc_info=error)


class _Messages(Iterator[Any]):
    """The messages of a stream. The first is the one that says what it is about."""

    first: Any = None

    def __init__(self, messages: Iterator[Any]) -> None:
        self._messages = messages

    def __next__(self) -> Any:
        message = next(self._messages)
        if self.first is None:
            self.first = message
        return message


class _Malformed:
    """Stands for a request that couldn't be parsed."""


def _parsed(request_type: type[Message], data: bytes) -> Message | _Malformed:
    """The request. Raising here if it isn't one would end as an internal error, so it doesn't."""
    try:
        return request_type.FromString(data)
    except DecodeError:
        return _Malformed()


def _deterministic(message: Message) -> bytes:
    """A replayed answer must be the same bytes as the first one, maps included."""
    return message.SerializeToString(deterministic=True)
