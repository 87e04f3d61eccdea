"""Pages: how many rows, where to go on, and tokens that only fit the request they came from."""

import base64
import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Generic, TypeVar

from google.protobuf.message import Message

from ai.floedb.floecat.common import common_pb2
from floecat.errors import InvalidArgumentError

DEFAULT_PAGE_SIZE: Final = 100
MAX_PAGE_SIZE: Final = 1000
MAX_PAGE_BYTES: Final = 3 * 1024 * 1024
_CHECK_BYTES: Final = 8
_MAX_OFFSET_DIGITS: Final = 9

Item = TypeVar("Item")
Row = TypeVar("Row", bound=Message)


@dataclass(frozen=True, slots=True)
class PageCursor:
    """What a request asks of a listing."""

    size: int
    after: str | None
    scope: str
    """What the listing is of (account, parent, filters): tokens of one scope fit no other."""

    def offset(self) -> int:
        """Where to go on in a list that the request itself carries."""
        if self.after is None:
            return 0
        if not self.after.isdecimal() or len(self.after) > _MAX_OFFSET_DIGITS:
            raise bad_token()
        return int(self.after)

    def token(self, last: str) -> str:
        """The token for what follows `last`."""
        payload = last.encode()
        return base64.urlsafe_b64encode(_check(self.scope, payload) + payload).decode().rstrip("=")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some rows of a listing."""

    items: Sequence[Item]
    next_page_token: str = ""

    @property
    def message(self) -> common_pb2.PageResponse:
        return common_pb2.PageResponse(next_page_token=self.next_page_token)


def fitting(sizes: Sequence[int]) -> int:
    """How many of the first rows, by their sizes, fit an answer; at least one: each was let in."""
    if sum(sizes) <= MAX_PAGE_BYTES:
        return len(sizes)
    return max(1, bisect_right(list(accumulate(sizes)), MAX_PAGE_BYTES))


def first_fitting(rows: Iterable[Row]) -> tuple[list[Row], bool]:
    """The first rows that fit an answer, and whether there were others; none behind is looked at.

    At least one: each was let in.
    """
    taken: list[Row] = []
    size = 0
    for row in rows:
        size += row.ByteSize()
        if taken and size > MAX_PAGE_BYTES:
            return taken, True
        taken.append(row)
    return taken, False


def bad_token() -> InvalidArgumentError:
    """The answer to a token that isn't ours, or isn't for this request."""
    return InvalidArgumentError(
        "page_token isn't one that this request gave: start again without it",
        field="page.page_token",
    )


def page_cursor(request: common_pb2.PageRequest, *scope: str) -> PageCursor:
    """Read size and token of a request; a token from elsewhere is refused."""
    if request.page_size < 0:
        raise InvalidArgumentError("page_size is negative", field="page.page_size")
    size = min(request.page_size or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
    joined = "\x00".join(scope)
    return PageCursor(size, _last(request.page_token, joined), joined)


def _check(scope: str, payload: bytes) -> bytes:
    return hashlib.blake2b(payload, digest_size=_CHECK_BYTES, key=_key(scope)).digest()


def _key(scope: str) -> bytes:
    return hashlib.sha256(scope.encode()).digest()


def _last(token: str, scope: str) -> str | None:
    if not token:
        return None
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        payload = raw[_CHECK_BYTES:]
        if raw[:_CHECK_BYTES] == _check(scope, payload):
            return payload.decode()
    except ValueError:
        pass
    raise bad_token()
