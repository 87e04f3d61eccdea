"""Errors into gRPC statuses: the one place that knows both."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc import code_pb2, error_details_pb2
from google.rpc.status_pb2 import Status
from grpc_status import rpc_status

from ai.floedb.floecat.common import common_pb2
from floecat.catalog.mutations import PreconditionFailedError
from floecat.errors import ContentionError, ErrorCode, FloecatError, InvalidArgumentError

DOMAIN: Final = "floecat"

_RETRY_AFTER_SECONDS: Final = 1
_LONGEST_TEXT: Final = 400

STATUS_CODES: Final[Mapping[ErrorCode, int]] = {
    ErrorCode.INVALID_ARGUMENT: code_pb2.INVALID_ARGUMENT,
    ErrorCode.NOT_FOUND: code_pb2.NOT_FOUND,
    ErrorCode.ALREADY_EXISTS: code_pb2.ALREADY_EXISTS,
    ErrorCode.FAILED_PRECONDITION: code_pb2.FAILED_PRECONDITION,
    ErrorCode.ABORTED: code_pb2.ABORTED,
    ErrorCode.PERMISSION_DENIED: code_pb2.PERMISSION_DENIED,
    ErrorCode.UNAUTHENTICATED: code_pb2.UNAUTHENTICATED,
    ErrorCode.RESOURCE_EXHAUSTED: code_pb2.RESOURCE_EXHAUSTED,
    ErrorCode.UNAVAILABLE: code_pb2.UNAVAILABLE,
    ErrorCode.DEADLINE_EXCEEDED: code_pb2.DEADLINE_EXCEEDED,
    ErrorCode.CANCELLED: code_pb2.CANCELLED,
    ErrorCode.UNIMPLEMENTED: code_pb2.UNIMPLEMENTED,
    ErrorCode.DATA_LOSS: code_pb2.DATA_LOSS,
    ErrorCode.INTERNAL: code_pb2.INTERNAL,
}

_RETRYABLE: Final = frozenset({ErrorCode.UNAVAILABLE, ErrorCode.RESOURCE_EXHAUSTED})


@dataclass(frozen=True, slots=True)
class _Status(grpc.Status):
    """A status with what we send along."""

    code: grpc.StatusCode
    details: str
    trailing_metadata: tuple[tuple[str, str | bytes], ...]


def status_of(error: FloecatError, correlation_id: str) -> grpc.Status:
    """The status a client gets for an error, with everything it may want to know in the details."""
    described = _described(error, correlation_id)
    details: list[Message] = [
        error_details_pb2.ErrorInfo(
            reason=error.reason, domain=DOMAIN, metadata=described.metadata
        ),
        described,
    ]
    if described.field_violations:
        details.append(
            error_details_pb2.BadRequest(
                field_violations=[
                    error_details_pb2.BadRequest.FieldViolation(
                        field=violation.field, description=violation.description
                    )
                    for violation in described.field_violations
                ]
            )
        )
    if described.HasField("retry_after"):
        details.append(error_details_pb2.RetryInfo(retry_delay=described.retry_after))
    status = rpc_status.to_status(
        Status(
            code=STATUS_CODES[error.code],
            message=described.message,
            details=[_packed(detail) for detail in details],
        )
    )
    echoed = ("x-correlation-id", correlation_id)
    return _Status(status.code, status.details, (*status.trailing_metadata, echoed))


def _described(error: FloecatError, correlation_id: str) -> common_pb2.Error:
    described = common_pb2.Error(
        code=common_pb2.ErrorCode.Value(f"EC_{error.code}"),
        message=_clipped(error.message),
        reason=error.reason,
        correlation_id=correlation_id,
        metadata={key: _clipped(value) for key, value in error.metadata.items()},
    )
    if isinstance(error, InvalidArgumentError) and error.field:
        field = _clipped(error.field)
        described.field_violations.add(field=field, description=described.message)
    if isinstance(error, PreconditionFailedError):
        described.current.CopyFrom(error.current)
    if error.code in _RETRYABLE or isinstance(error, ContentionError):
        described.retry_after.CopyFrom(Duration(seconds=_RETRY_AFTER_SECONDS))
    return described


def _clipped(text: str) -> str:
    """Details travel in headers, which have little room: what a caller sent may not fill them."""
    encoded = text.encode(errors="replace")
    if len(encoded) <= _LONGEST_TEXT:
        return text
    return encoded[:_LONGEST_TEXT].decode(errors="ignore") + "…"


def _packed(message: Message) -> AnyMessage:
    packed = AnyMessage()
    packed.Pack(message)
    return packed
