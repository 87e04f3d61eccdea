"""How Avro's values are passed over: each function gives the place behind what it skips.

What manifests have most of, maps of numbers by column, is skipped by a regular expression: a number
ends with the first byte below 128.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Final

from floecat.connectors.iceberg.values import checked_branch, items_that_follow, read_number

Skip = Callable[[bytes, int], int]

_CHUNK: Final = 256


def skip_number(data: bytes, place: int) -> int:
    """Past a number."""
    while data[place] > 127:
        place += 1
    return place + 1


def skip_bytes(data: bytes, place: int) -> int:
    """Past bytes or text of a length."""
    size, place = read_number(data, place)
    if size < 0:
        raise ValueError("an Avro value has a negative size")
    return place + size


def skip_size(size: int) -> Skip:
    """Past so many bytes."""
    return lambda _data, place: place + size


def skip_all(parts: list[Skip]) -> Skip:
    """Past several things in turn."""

    def skip(data: bytes, place: int) -> int:
        for part in parts:
            place = part(data, place)
        return place

    return skip


def skip_union(options: list[Skip], null: int | None) -> Skip:
    """Past one of several types; mostly a type or nothing."""
    if null is None:

        def skip_any(data: bytes, place: int) -> int:
            chosen, place = read_number(data, place)
            return options[checked_branch(chosen, options)](data, place)

        return skip_any
    nothing, something, inner = null * 2, 2 - null * 2, options[1 - null]

    def skip_optional(data: bytes, place: int) -> int:
        chosen = data[place]
        if chosen == something:
            return inner(data, place + 1)
        if chosen != nothing:
            raise ValueError("an Avro union has no such branch")
        return place + 1

    return skip_optional


def skip_blocks(item: Skip) -> Skip:
    """Past a list or map, item by item."""

    def skip(data: bytes, place: int) -> int:
        while True:
            count, place = items_that_follow(data, place)
            if not count:
                return place
            for _ in range(count):
                place = item(data, place)

    return skip


def skip_numbers(each: int) -> Skip:
    """Items of so many numbers each."""

    def skip(data: bytes, place: int) -> int:
        while data[place]:
            count, place = items_that_follow(data, place)
            left = count * each
            while left:
                part = min(left, _CHUNK)
                found = _run_of(part).match(data, place)
                if found is None:
                    raise EOFError("an Avro array ends behind its block")
                place = found.end()
                left -= part
        return place + 1

    return skip


@cache
def _run_of(count: int) -> "re.Pattern[bytes]":
    """Written out: a counted repetition takes twice as long."""
    return re.compile(rb"[\x80-\xff]*+[\x00-\x7f]" * count)


def skip_pairs(data: bytes, place: int) -> int:
    """Pairs of a number and bytes: bounds by column."""
    while data[place]:
        count, place = items_that_follow(data, place)
        for _ in range(count):
            step = _STEPS[data[place + 1]]
            if step and data[place] < 128:
                place += step
            else:
                place = skip_bytes(data, skip_number(data, place))
    return place + 1


_STEPS: Final = tuple(2 + (size >> 1) if size < 128 and not size & 1 else 0 for size in range(256))
"""How far it is to the next pair, by the byte of this one's size; 0 when that isn't all of it."""
