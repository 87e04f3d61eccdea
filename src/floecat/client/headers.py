"""Headers as gRPC can send them: its own complaints about others name neither key nor remedy."""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from floecat.errors import InvalidArgumentError

_KEY: Final = re.compile(r"[0-9a-z_.\-]+")
_OURS_NOT: Final = ("grpc-", ":")
_BINARY: Final = "-bin"


def checked_headers(given: Mapping[str, str]) -> dict[str, str]:
    """The headers with their keys in lower case. InvalidArgumentError names what can't be sent."""
    return {_checked_key(key): _checked_value(key, value) for key, value in given.items()}


def account_header(account: str) -> dict[str, str]:
    """The account by name or id; percent-encoded, since names have every kind of letter."""
    return {"x-floe-account": quote(account, safe="")}


def _checked_key(key: str) -> str:
    lowered = key.lower()
    if not _KEY.fullmatch(lowered) or lowered.startswith(_OURS_NOT) or lowered.endswith(_BINARY):
        raise InvalidArgumentError(
            f"{key!r} can't be a header: use letters, digits, '-', '_' and '.', "
            "neither beginning with grpc- nor ending with -bin",
            field="headers",
        )
    return lowered


def _checked_value(key: str, value: str) -> str:
    if not (value.isascii() and value.isprintable()):
        raise InvalidArgumentError(
            f"the value of the header {key!r} must be printable ASCII text", field="headers"
        )
    return value
