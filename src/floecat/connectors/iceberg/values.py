"""How Avro's values are read from bytes: each function gives the value and the place behind it."""

import struct
from collections.abc import Callable
from typing import Any, Final

Read = Callable[[bytes, int], tuple[Any, int]]


def read_number(data: bytes, place: int) -> tuple[int, int]:
    """A zig-zag number of variable length."""
    byte = data[place]
    place += 1
    if byte < 128:
        return (byte >> 1) ^ -(byte & 1), place
    value, shift = byte & 127, 7
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return (value >> 1) ^ -(value & 1), place
        shift += 7
        if shift > 63:
            raise ValueError("an Avro number is too long")


def _read_bytes(data: bytes, place: int) -> tuple[bytes, int]:
    size, place = read_number(data, place)
    end = place + size
    if size < 0 or end > len(data):
        raise EOFError("an Avro value ends behind its block")
    return data[place:end], end


def read_text(data: bytes, place: int) -> tuple[str, int]:
    """Text of a length."""
    found, place = _read_bytes(data, place)
    return found.decode(), place


def _read_null(_data: bytes, place: int) -> tuple[None, int]:
    return None, place


def _read_boolean(data: bytes, place: int) -> tuple[bool, int]:
    return data[place] != 0, place + 1


def _read_float(data: bytes, place: int) -> tuple[float, int]:
    return struct.unpack_from("<f", data, place)[0], place + 4


def _read_double(data: bytes, place: int) -> tuple[float, int]:
    return struct.unpack_from("<d", data, place)[0], place + 8


PRIMITIVES: Final[dict[str, Read]] = {
    "null": _read_null,
    "boolean": _read_boolean,
    "int": read_number,
    "long": read_number,
    "enum": read_number,
    "float": _read_float,
    "double": _read_double,
    "bytes": _read_bytes,
    "string": read_text,
}


def read_fixed(size: int) -> Read:
    """So many bytes."""

    def read(data: bytes, place: int) -> tuple[bytes, int]:
        end = place + size
        if end > len(data):
            raise EOFError("an Avro value ends behind its block")
        return data[place:end], end

    return read


def read_union(options: list[Read], null: int | None) -> Read:
    """One of several types; mostly a type or nothing."""
    if null is None:

        def read_any(data: bytes, place: int) -> tuple[Any, int]:
            chosen, place = read_number(data, place)
            return options[checked_branch(chosen, options)](data, place)

        return read_any
    nothing, something, inner = null * 2, 2 - null * 2, options[1 - null]

    def read_optional(data: bytes, place: int) -> tuple[Any, int]:
        chosen = data[place]
        if chosen == nothing:
            return None, place + 1
        if chosen != something:
            raise ValueError("an Avro union has no such branch")
        return inner(data, place + 1)

    return read_optional


def read_array(item: Read) -> Read:
    """A list, in any number of blocks."""

    def read(data: bytes, place: int) -> tuple[list[Any], int]:
        found: list[Any] = []
        while True:
            count, place = items_that_follow(data, place)
            if not count:
                return found, place
            for _ in range(count):
                value, place = item(data, place)
                found.append(value)

    return read


def read_keyed(key_of: Read, value_of: Read) -> Read:
    """A map, in any number of blocks."""

    def read(data: bytes, place: int) -> tuple[dict[Any, Any], int]:
        found: dict[Any, Any] = {}
        while True:
            count, place = items_that_follow(data, place)
            if not count:
                return found, place
            for _ in range(count):
                key, place = key_of(data, place)
                found[key], place = value_of(data, place)

    return read


def items_that_follow(data: bytes, place: int) -> tuple[int, int]:
    """How many items follow. A negative count has the block's size behind it."""
    count = data[place]
    if count < 128 and not count & 1:
        return count >> 1, place + 1
    count, place = read_number(data, place)
    if count < 0:
        _, place = read_number(data, place)
        count = -count
    if count > len(data):  # every item of ours has bytes
        raise ValueError(f"an Avro block claims {count} items")
    return count, place


def checked_branch(chosen: int, options: list[Any]) -> int:
    """The branch of a union, if there is such a one."""
    if not 0 <= chosen < len(options):
        raise ValueError("an Avro union has no such branch")
    return chosen
