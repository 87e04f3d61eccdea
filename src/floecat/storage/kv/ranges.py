"""Which sorts a scan covers, as one interval: what a prefix, `after` and a direction come to.

Code points and UTF-8 bytes order strings alike, so the same bounds serve text and bytes.
"""

import sys
from dataclasses import dataclass
from typing import Final

_FIRST_SURROGATE: Final = 0xD800
_AFTER_SURROGATES: Final = 0xE000
_ABOVE_ALL_UTF8: Final = b"\xff"


@dataclass(frozen=True, slots=True)
class SortRange:
    """Sorts from `low` up to, and without, `high`; None stands for no end."""

    low: str
    high: str | None

    @property
    def empty(self) -> bool:
        """Whether no sort can lie in the interval."""
        return self.high is not None and self.low >= self.high

    def holds(self, sort: str) -> bool:
        """Whether a sort lies in the interval."""
        return self.low <= sort and (self.high is None or sort < self.high)

    def encoded(self) -> tuple[bytes, bytes]:
        """The same interval over UTF-8 bytes."""
        return self.low.encode(), _ABOVE_ALL_UTF8 if self.high is None else self.high.encode()


def sort_range(prefix: str, after: str | None, *, reverse: bool) -> SortRange:
    """The interval of a scan; `after` narrows it from the end where the scan begins."""
    end = _first_beyond(prefix)
    if after is None:
        return SortRange(prefix, end)
    if reverse:
        return SortRange(prefix, after if end is None else min(after, end))
    return SortRange(max(prefix, next_sort(after)), end)


def next_sort(sort: str) -> str:
    """The very next string: nothing lies between a string and itself with a NUL behind it."""
    return sort + "\0"


def _first_beyond(prefix: str) -> str | None:
    """The smallest string above every string with this prefix; None when there is none."""
    stem = prefix.rstrip(chr(sys.maxunicode))
    if not stem:
        return None
    following = ord(stem[-1]) + 1
    if following == _FIRST_SURROGATE:  # surrogates have no UTF-8; the next character is after them
        following = _AFTER_SURROGATES
    return stem[:-1] + chr(following)
