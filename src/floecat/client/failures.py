"""gRPC failures back into the errors they were."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, cast

import grpc
from grpc_status import rpc_status

from ai.floedb.floecat.common import common_pb2
from floecat import errors
from floecat.errors import NO_ANSWER, ErrorCode, FloecatError

_SILENCE: Final = frozenset({ErrorCode.UNAVAILABLE, ErrorCode.DEADLINE_EXCEEDED})
_TOO_LARGE: Final = re.compile(
    r"(?:CLIENT: Sent|SERVER: Received) message larger than max \((\d+) vs\. (\d+)\)"
)
"""How gRPC says that a request is too large, whichever side noticed."""

_ERRORS: Final[Mapping[ErrorCode, type[FloecatError]]] = {
    cls.code: cls
    for cls in (
        errors.InvalidArgumentError,
        errors.NotFoundError,
        errors.AlreadyExistsError,
        errors.FailedPreconditionError,
        errors.AbortedError,
        errors.PermissionDeniedError,
        errors.UnauthenticatedError,
        errors.ResourceExhaustedError,
        errors.UnavailableError,
        errors.DeadlineExceededError,
        errors.CancelledError,
        errors.UnimplementedError,
        errors.DataLossError,
    )
}


@dataclass(frozen=True, slots=True)
class RemoteFailure:
    """A failed call: the error it was, and when the service thinks it may succeed."""

    error: FloecatError
    retry_after: timedelta | None = None


def failure_of(call: BaseException, correlation_id: str) -> RemoteFailure:
    """What a failed call says. Without our details: its status, and the id it was sent with."""
    if not isinstance(call, grpc.RpcError):
        return RemoteFailure(errors.FailedPreconditionError(f"the call wasn't made: {call}"))
    code = _code_of(call)
    described = _described(call)
    if described is None:
        return RemoteFailure(_undescribed(call, code, {"correlation_id": correlation_id}))
    error = _ERRORS.get(code, FloecatError)(
        described.message,
        reason=described.reason,
        metadata={**described.metadata, "correlation_id": described.correlation_id},
    )
    if isinstance(error, errors.InvalidArgumentError) and described.field_violations:
        error.field = described.field_violations[0].field
    after = described.retry_after.ToTimedelta() if described.HasField("retry_after") else None
    return RemoteFailure(error, after)


def _undescribed(call: grpc.RpcError, code: ErrorCode, metadata: Mapping[str, str]) -> FloecatError:
    """An error that gRPC made: of our services nobody had a word in it."""
    too_large = _TOO_LARGE.search(call.details() or "")
    if too_large:
        size, limit = (f"{int(number):,}" for number in too_large.groups())
        return errors.InvalidArgumentError(
            f"the request has {size} bytes, and {limit} fit into one: send less at once. "
            "Attachments of any size go one by one (floecat snapshot attach, or "
            "WriteSnapshotAttachment)",
            reason="MESSAGE_TOO_LARGE",
            metadata=metadata,
        )
    reason = NO_ANSWER if code in _SILENCE else None
    return _ERRORS.get(code, FloecatError)(_plain_message(call), reason=reason, metadata=metadata)


def _code_of(call: grpc.RpcError) -> ErrorCode:
    name = call.code().name
    return ErrorCode(name) if name in ErrorCode.__members__ else ErrorCode.INTERNAL


def _plain_message(call: grpc.RpcError) -> str:
    details = call.details() or "the call failed"
    if call.code() is grpc.StatusCode.UNAVAILABLE:
        return f"the service doesn't answer ({details}): is 'floecat serve' running there?"
    return details


def _described(call: grpc.RpcError) -> common_pb2.Error | None:
    try:
        status = rpc_status.from_call(cast("grpc.Call", call))
    except ValueError:
        return None
    for detail in status.details if status else ():
        described = common_pb2.Error()
        if detail.Unpack(described):
            return described
    return None
