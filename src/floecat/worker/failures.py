"""What went wrong with a job, and whether trying again may help."""

from typing import Final

from ai.floedb.floecat.reconciler.executor_control_pb2 import (
    FCL_OBSOLETE,
    FCL_RETRYABLE,
    FCL_TERMINAL,
    FailureClass,
    LeasedJobFailure,
)
from floecat.connectors.spi.errors import (
    ConnectorError,
    TransientUpstreamError,
    UpstreamGoneError,
)
from floecat.errors import ErrorCode, FloecatError

_TERMINAL: Final = frozenset(
    {
        ErrorCode.INVALID_ARGUMENT,
        ErrorCode.ALREADY_EXISTS,
        ErrorCode.FAILED_PRECONDITION,
        ErrorCode.PERMISSION_DENIED,
        ErrorCode.UNIMPLEMENTED,
    }
)
_MAX_MESSAGE: Final = 2000


def failure_of(error: Exception, correlation_id: str) -> LeasedJobFailure:
    """A failure as the control plane is told of it. What isn't ours to show stays in the log."""
    match error:
        case ConnectorError():
            return _of_upstream(error)
        case FloecatError():
            return _failure(_class_of(error.code), error.message)
        case _:
            return _failure(
                FCL_RETRYABLE,
                f"the worker failed unexpectedly ({type(error).__name__}); its log has the details "
                f"under {correlation_id}",
            )


def is_expected(error: Exception) -> bool:
    """Whether the failure says all there is to say, so that no traceback is needed."""
    return isinstance(error, FloecatError) and error.code is not ErrorCode.INTERNAL


def _of_upstream(error: ConnectorError) -> LeasedJobFailure:
    match error:
        case TransientUpstreamError():
            failure = _failure(FCL_RETRYABLE, error.message)
            if error.retry_after is not None:
                failure.retry_after.FromTimedelta(error.retry_after)
            return failure
        case UpstreamGoneError():
            return _failure(FCL_OBSOLETE, error.message)
        case _:
            return _failure(FCL_TERMINAL, error.message)


def _class_of(code: ErrorCode) -> "FailureClass.ValueType":
    if code is ErrorCode.NOT_FOUND:  # the connector or destination was deleted meanwhile
        return FCL_OBSOLETE
    return FCL_TERMINAL if code in _TERMINAL else FCL_RETRYABLE


def _failure(kind: "FailureClass.ValueType", message: str) -> LeasedJobFailure:
    return LeasedJobFailure(failure_class=kind, message=message[:_MAX_MESSAGE])
