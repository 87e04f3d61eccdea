"""Which names a blob may have: the same on a disk, in S3 and in memory."""

import unicodedata
from typing import Final

from floecat.errors import InvalidArgumentError, LimitExceededError

MAX_NAME_BYTES: Final = 900
"""S3's keys have 1,024, and the store's own prefix needs some of them."""

MAX_PART_BYTES: Final = 255
"""What a file system takes between two slashes."""


def checked_name(name: str) -> str:
    """The name, if every backend can store a blob under it."""
    _check_text(name)
    for part in name.split("/"):
        if not part:
            raise InvalidArgumentError(f"a blob's name is relative, without empty parts: {name!r}")
        _check_part(part, name)
    return name


def check_listing(prefix: str, after: str | None, limit: int) -> None:
    """Refuse a listing that not every backend can give."""
    if limit < 1:
        raise InvalidArgumentError(f"the limit of a listing is at least 1, not {limit}")
    _check_beginning(prefix)
    _check_beginning(after or "")


def _check_beginning(prefix: str) -> None:
    """The beginning of a name may stop anywhere."""
    _check_text(prefix)
    *folders, last = prefix.split("/")
    for part in folders:
        if not part:
            raise InvalidArgumentError(f"no blob's name starts with {prefix!r}")
        _check_part(part, prefix)
    if last:
        _check_part(last, prefix)


def _check_text(name: str) -> None:
    try:
        size = len(name.encode())
    except UnicodeEncodeError as error:
        raise InvalidArgumentError("a blob's name holds a lone surrogate") from error
    if size > MAX_NAME_BYTES:
        raise LimitExceededError(f"a blob's name has at most {MAX_NAME_BYTES} bytes: {name[:80]!r}")
    if any(unicodedata.category(character) == "Cc" for character in name):
        raise InvalidArgumentError(f"a blob's name holds a control character: {name!r}")


def _check_part(part: str, name: str) -> None:
    # Leading dots are ours: `.` and `..` must not lead anywhere, and temporaries hide behind one.
    if part.startswith("."):
        raise InvalidArgumentError(f"no part of a blob's name starts with a dot: {name!r}")
    if len(part.encode()) > MAX_PART_BYTES:
        raise LimitExceededError(f"a part of a name has at most {MAX_PART_BYTES} bytes: {name!r}")
