"""One root error and one code per way to fail. Knows no transport.

    FloecatError
    ├── InvalidArgumentError          the request is wrong; sending it again won't help
    │   ├── LimitExceededError        … because it is larger than every backend promises to take
    │   └── InvalidSettingsError      … because a setting is unknown, malformed or contradictory
    ├── NotFoundError                 no such thing, or not yours: the two read the same
    ├── AlreadyExistsError            the name or key is taken
    ├── FailedPreconditionError       the world isn't in the state the request expects
    │   └── IncompatibleStoreError    the store was made by another version of Floecat
    ├── AbortedError                  a concurrent change won; read again and retry
    │   ├── ConflictError             … a key-value commit's expectation didn't hold
    │   └── ContentionError           … again and again; nothing was changed: retry as is
    ├── PermissionDeniedError         known caller, not allowed
    ├── UnauthenticatedError          unknown caller
    ├── ResourceExhaustedError        full: disk, queue, quota; retry later
    ├── UnavailableError              a dependency doesn't answer; retry later
    ├── DeadlineExceededError         the caller's time is up
    ├── CancelledError                the caller gave up
    ├── UnimplementedError            promised by the contract, not served yet
    └── DataLossError                 stored bytes aren't the bytes that were written

A domain error is raised where the problem is known. The status a client sees is chosen once, in
`service`, from `code`.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar, Final

NO_ANSWER: Final = "NO_ANSWER"
"""The reason when a client found out by itself that nobody answers: the service said nothing."""


class ErrorCode(StrEnum):
    """Why something failed, in the words of the gRPC status codes (but not their numbers)."""

    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    NOT_FOUND = "NOT_FOUND"
    ALREADY_EXISTS = "ALREADY_EXISTS"
    FAILED_PRECONDITION = "FAILED_PRECONDITION"
    ABORTED = "ABORTED"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    RESOURCE_EXHAUSTED = "RESOURCE_EXHAUSTED"
    UNAVAILABLE = "UNAVAILABLE"
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
    CANCELLED = "CANCELLED"
    UNIMPLEMENTED = "UNIMPLEMENTED"
    DATA_LOSS = "DATA_LOSS"
    INTERNAL = "INTERNAL"


class FloecatError(Exception):
    """The root. `reason` is a stable UPPER_SNAKE word for machines, `metadata` its parameters."""

    code: ClassVar[ErrorCode] = ErrorCode.INTERNAL
    default_reason: ClassVar[str] = "INTERNAL"

    def __init__(
        self, message: str, *, reason: str | None = None, metadata: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason or self.default_reason
        self.metadata = dict(metadata or {})


class InvalidArgumentError(FloecatError):
    """The request is wrong in itself; `field` is the path of the field that makes it so."""

    code = ErrorCode.INVALID_ARGUMENT
    default_reason = "INVALID_ARGUMENT"

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        reason: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message, reason=reason, metadata=metadata)
        self.field = field


class LimitExceededError(InvalidArgumentError):
    """Larger than what every backend promises to take."""

    default_reason = "LIMIT_EXCEEDED"


class InvalidSettingsError(InvalidArgumentError):
    """Settings that can't be used, every problem listed."""

    default_reason = "INVALID_SETTINGS"


class NotFoundError(FloecatError):
    """Nothing there, or nothing of the caller's."""

    code = ErrorCode.NOT_FOUND
    default_reason = "NOT_FOUND"


class AlreadyExistsError(FloecatError):
    """The name or key is taken."""

    code = ErrorCode.ALREADY_EXISTS
    default_reason = "ALREADY_EXISTS"


class FailedPreconditionError(FloecatError):
    """The world isn't in the state the request expects; retrying as is won't help."""

    code = ErrorCode.FAILED_PRECONDITION
    default_reason = "FAILED_PRECONDITION"


class IncompatibleStoreError(FailedPreconditionError):
    """A store written by a version of Floecat (or of its engine) that this one can't open."""

    default_reason = "INCOMPATIBLE_STORE"


class AbortedError(FloecatError):
    """A concurrent change won; reading again and retrying may succeed."""

    code = ErrorCode.ABORTED
    default_reason = "ABORTED"


class ConflictError(AbortedError):
    """A key-value commit's expectation didn't hold; nothing was changed."""

    default_reason = "CONFLICT"

    def __init__(self, partition: str, sort: str, expected: str) -> None:
        super().__init__(
            f"{partition!r} {sort!r} isn't {expected} any more",
            metadata={"partition": partition, "sort": sort, "expected": expected},
        )
        self.partition = partition
        self.sort = sort


class ContentionError(AbortedError):
    """Others were quicker every time; nothing was changed, and the same call may succeed later."""

    default_reason = "CONTENTION"


class PermissionDeniedError(FloecatError):
    """A known caller who may not do this."""

    code = ErrorCode.PERMISSION_DENIED
    default_reason = "PERMISSION_DENIED"


class UnauthenticatedError(FloecatError):
    """An unknown caller."""

    code = ErrorCode.UNAUTHENTICATED
    default_reason = "UNAUTHENTICATED"


class ResourceExhaustedError(FloecatError):
    """Something is full: a disk, a queue, a quota."""

    code = ErrorCode.RESOURCE_EXHAUSTED
    default_reason = "RESOURCE_EXHAUSTED"


class UnavailableError(FloecatError):
    """A dependency doesn't answer; the same call may succeed later."""

    code = ErrorCode.UNAVAILABLE
    default_reason = "UNAVAILABLE"


class DeadlineExceededError(FloecatError):
    """The caller's time is up."""

    code = ErrorCode.DEADLINE_EXCEEDED
    default_reason = "DEADLINE_EXCEEDED"


class CancelledError(FloecatError):
    """The caller gave up."""

    code = ErrorCode.CANCELLED
    default_reason = "CANCELLED"


class UnimplementedError(FloecatError):
    """In the contract, but not served by this version."""

    code = ErrorCode.UNIMPLEMENTED
    default_reason = "UNIMPLEMENTED"


class DataLossError(FloecatError):
    """Stored bytes aren't the bytes that were written."""

    code = ErrorCode.DATA_LOSS
    default_reason = "DATA_LOSS"
