"""Failures of files, in Floecat's words: for every backend that has some."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from floecat.errors import (
    FailedPreconditionError,
    FloecatError,
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnavailableError,
)

_FULL: Final = {errno.ENOSPC, errno.EDQUOT}
_NO_HARD_LINKS: Final = {errno.EMLINK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Turn what the operating system raises inside into one of our errors."""
    try:
        yield
    except OSError as error:
        raise _translate(error, what) from error


def _translate(error: OSError, what: str) -> FloecatError:
    if error.errno in _FULL:
        return ResourceExhaustedError(f"no space left for {what}")
    if error.errno in _NO_HARD_LINKS:
        return FailedPreconditionError(f"the file system of {what} has no hard links")
    match error:
        case FileNotFoundError():
            return NotFoundError(f"there is no {what}")
        case NotADirectoryError() | IsADirectoryError() | FileExistsError():
            return InvalidArgumentError(f"{what} would be a blob and a folder at once")
        case PermissionError():
            return PermissionDeniedError(f"{what} isn't ours to use: {error}")
        case _:
            return UnavailableError(f"{what} can't be read or written: {error}")
