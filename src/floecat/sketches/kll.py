"""The bytes of a KLL sketch of doubles, looked over before the library takes them.

It believes what they say of their levels, and reads beyond its memory if that isn't so; and anybody
may put a sketch.
"""

import struct
from itertools import pairwise
from typing import Final

LEAST: Final = 8
"""Values that even the lowest level has room for."""
_EMPTY: Final = 1
_SINGLE: Final = 4
_SHORT: Final = 8
"""Bytes in front of a single value, and all of an empty sketch."""
_HEAD: Final = struct.Struct("<BBBBHBx")
_MORE: Final = struct.Struct("<QHBx")
_LEVEL: Final = 4
_VALUE: Final = 8
_MOST_LEVELS: Final = 60


def is_whole(content: bytes) -> bool:
    """Whether the bytes are as long as they say, and their levels can be so."""
    if len(content) < _SHORT:
        return False
    _, _, _, flags, k, least = _HEAD.unpack_from(content)
    if flags & _EMPTY:
        return len(content) == _SHORT
    if flags & _SINGLE:
        return len(content) == _SHORT + _VALUE
    if len(content) < _SHORT + _MORE.size or not k:
        return False
    count, _, levels = _MORE.unpack_from(content, _SHORT)
    at = _SHORT + _MORE.size
    if not 0 < levels <= _MOST_LEVELS or len(content) < at + _LEVEL * levels:
        return False
    starts = struct.unpack_from(f"<{levels}I", content, at)
    ends = (*starts, total_capacity(k, levels, least))
    sizes = [end - start for start, end in pairwise(ends)]
    length = at + _LEVEL * levels + _VALUE * (2 + sum(sizes))
    if min(sizes) < 0 or len(content) != length:
        return False
    return bool(sum(size << level for level, size in enumerate(sizes)) == count)


def total_capacity(k: int, levels: int, least: int = LEAST) -> int:
    """What so many levels have room for together."""
    return sum(_capacity(k, depth, least) for depth in range(levels))


def _capacity(k: int, depth: int, least: int) -> int:
    """What a level has room for: two thirds of the level above it, rounded."""
    return max(least, ((2 * k << depth) // int(3**depth) + 1) >> 1)
