"""How an upstream can fail, so that the caller knows whether to wait, to give up, or to go on.

    ConnectorError                    something about the upstream; `problem` says what
    ├── TransientUpstreamError        it may work later: wait (`retry_after`, if it said) and retry
    ├── PermanentUpstreamError        it won't work until a person changes something
    ├── BrokenTableError              this one relation can't be read; its neighbours can
    ├── UpstreamGoneError             the relation or snapshot isn't there (any more)
    └── UnsupportedByConnectorError   the connector's capabilities say that it can't

Messages are for people: what happened and what to do. They never hold a secret.
"""

from datetime import timedelta
from enum import StrEnum

from floecat.errors import ErrorCode, FloecatError


class UpstreamProblem(StrEnum):
    """What stands between us and the upstream."""

    BAD_SPEC = "BAD_SPEC"
    NAME_NOT_RESOLVED = "NAME_NOT_RESOLVED"
    CONNECTION_REFUSED = "CONNECTION_REFUSED"
    TIMEOUT = "TIMEOUT"
    TLS = "TLS"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    NO_SUCH_WAREHOUSE = "NO_SUCH_WAREHOUSE"
    ADDRESS_NOT_ALLOWED = "ADDRESS_NOT_ALLOWED"
    NOT_SUPPORTED_YET = "NOT_SUPPORTED_YET"
    UPSTREAM_ERROR = "UPSTREAM_ERROR"


class ConnectorError(FloecatError):
    """Something about the upstream."""

    code = ErrorCode.FAILED_PRECONDITION
    default_reason = "CONNECTOR_ERROR"

    def __init__(
        self, message: str, problem: UpstreamProblem = UpstreamProblem.UPSTREAM_ERROR
    ) -> None:
        super().__init__(message, metadata={"problem": problem.value})
        self.problem = problem


class TransientUpstreamError(ConnectorError):
    """It may work later."""

    code = ErrorCode.UNAVAILABLE
    default_reason = "UPSTREAM_UNAVAILABLE"

    def __init__(
        self,
        message: str,
        problem: UpstreamProblem = UpstreamProblem.UPSTREAM_ERROR,
        *,
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(message, problem)
        self.retry_after = retry_after


class PermanentUpstreamError(ConnectorError):
    """It won't work until a person changes something."""

    default_reason = "UPSTREAM_REFUSED"


class BrokenTableError(ConnectorError):
    """One relation can't be read: a broken or unknown metadata file, a type nobody knows."""

    code = ErrorCode.DATA_LOSS
    default_reason = "BROKEN_TABLE"


class UpstreamGoneError(ConnectorError):
    """No such relation or snapshot upstream."""

    code = ErrorCode.NOT_FOUND
    default_reason = "UPSTREAM_GONE"


class UnsupportedByConnectorError(ConnectorError):
    """Asked for something that the connector says it can't do."""

    code = ErrorCode.UNIMPLEMENTED
    default_reason = "UNSUPPORTED_BY_CONNECTOR"

    def __init__(self, message: str) -> None:
        super().__init__(message, UpstreamProblem.NOT_SUPPORTED_YET)
