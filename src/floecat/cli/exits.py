"""Exit codes, by the kind of failure. Documented in `docs/cli.md`."""

from collections.abc import Mapping
from typing import Final

from floecat.errors import ErrorCode, FloecatError

OTHER_FAILURE: Final = 1

EXIT_CODES: Final[Mapping[ErrorCode, int]] = {
    ErrorCode.INVALID_ARGUMENT: 2,
    ErrorCode.NOT_FOUND: 3,
    ErrorCode.ALREADY_EXISTS: 4,
    ErrorCode.FAILED_PRECONDITION: 5,
    ErrorCode.ABORTED: 5,
    ErrorCode.UNAUTHENTICATED: 6,
    ErrorCode.PERMISSION_DENIED: 6,
    ErrorCode.UNAVAILABLE: 7,
    ErrorCode.DEADLINE_EXCEEDED: 7,
    ErrorCode.RESOURCE_EXHAUSTED: 7,
}


def exit_code(error: FloecatError) -> int:
    """The process's exit code for a failure."""
    return EXIT_CODES.get(error.code, OTHER_FAILURE)
