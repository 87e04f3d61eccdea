"""Thrift's compact protocol, as far as parquet uses it: structs as dictionaries by field number.

Lengths and counts are checked against the bytes that are left, and depth is limited, so what
hostile input costs is in proportion to its own size. Footers have hundreds of numbers and every
file has one, so this is written for speed: positions are passed around, and what isn't wanted is
skipped.
"""

import struct
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from floecat.capture.parquet.errors import MalformedParquetError

_STOP: Final = 0
_TRUE, _FALSE = 1, 2
_BYTE: Final = 3
_I16, _I32, _I64 = 4, 5, 6
_DOUBLE: Final = 7
_BINARY: Final = 8
_LIST, _SET = 9, 10
_STRUCT: Final = 12

_MAX_DEPTH: Final = 32
_LONG_LIST: Final = 15
_SHIFTS: Final = tuple(range(7, 71, 7))
"""Of the bytes that follow the first one of a number."""

Struct: TypeAlias = dict[int, Any]
Wanted: TypeAlias = Mapping[int, "Wanted | None"]
"""The fields that matter, and of structs (or lists of them) which of theirs; None is all."""
RAW: Final[Wanted] = {}
"""Instead of a list of structures, the bytes that it was written as."""


def read_struct(data: bytes, wanted: Wanted | None = None) -> Struct:
    """The fields of a struct that are set and wanted, by number."""
    return read_struct_at(data, 0, wanted)[0]


def read_struct_at(data: bytes, at: int, wanted: Wanted | None = None) -> tuple[Struct, int]:
    """The same of a struct that begins somewhere, and where it ends."""
    try:
        return _struct(data, at, 0, wanted)
    except IndexError:
        raise MalformedParquetError("it ends too early") from None


def read_structs(data: bytes) -> list[Struct]:
    """The structures of a list that was kept as it was written."""
    try:
        return _list(data, 0, 0, None)[0]
    except IndexError:
        raise MalformedParquetError("it ends too early") from None


def _struct(data: bytes, at: int, depth: int, wanted: Wanted | None) -> tuple[Struct, int]:
    if depth > _MAX_DEPTH:
        raise MalformedParquetError("structures are nested too deep")
    found: Struct = {}
    field = 0
    while header := data[at]:
        at += 1
        if header >= 16:
            field += header >> 4
        else:
            field, at = _zigzag(data, at)
        kind = header & 0x0F
        # Others that read the same bytes stop here, or take the last of two: they must not be able
        # to understand something else by them.
        if kind == _STOP or field in found:
            raise MalformedParquetError(f"field {field} is there twice, or has no type")
        if kind <= _FALSE:  # the header of a field holds its value
            found[field] = kind == _TRUE
        elif wanted is not None and field not in wanted:
            at = _skip(data, at, kind, depth)
        elif (inner := None if wanted is None else wanted[field]) is RAW:
            start, at = at, _skip(data, at, kind, depth)
            found[field] = _as_written(data, start, at, kind)
        elif _I16 <= kind <= _I64:
            found[field], at = _zigzag(data, at)
        elif kind == _BINARY:
            found[field], at = _binary(data, at)
        else:
            found[field], at = _value(data, at, kind, depth, inner)
    return found, at + 1


def _as_written(data: bytes, start: int, end: int, kind: int) -> bytes:
    if kind != _LIST or data[start] & 0x0F != _STRUCT:
        raise MalformedParquetError("there should be a list of structures")
    return data[start:end]


def _value(data: bytes, at: int, kind: int, depth: int, wanted: Wanted | None) -> tuple[Any, int]:
    """A value that is neither a whole number nor bytes."""
    if kind == _STRUCT:
        return _struct(data, at, depth + 1, wanted)
    if kind in {_LIST, _SET}:
        return _list(data, at, depth + 1, wanted)
    if kind == _DOUBLE:
        return struct.unpack("<d", _bytes(data, at, 8))[0], at + 8
    if kind == _BYTE:
        return data[at], at + 1
    raise MalformedParquetError(f"there is no type {kind}")


def _list(data: bytes, at: int, depth: int, wanted: Wanted | None) -> tuple[list[Any], int]:
    kind, size, at = _list_header(data, at, depth)
    if kind <= _FALSE:
        return [byte == _TRUE for byte in _bytes(data, at, size)], at + size
    found: list[Any] = []
    read = _PLAIN.get(kind)
    for _ in range(size):
        if read is not None:
            value, at = read(data, at)
        elif kind == _STRUCT:
            value, at = _struct(data, at, depth + 1, wanted)
        else:
            value, at = _value(data, at, kind, depth, wanted)
        found.append(value)
    return found, at


def _list_header(data: bytes, at: int, depth: int) -> tuple[int, int, int]:
    if depth > _MAX_DEPTH:
        raise MalformedParquetError("lists are nested too deep")
    header = data[at]
    kind, size, at = header & 0x0F, header >> 4, at + 1
    if size == _LONG_LIST:
        size, at = _varint(data, at)
    if size > len(data) - at:  # every element takes a byte at least
        raise MalformedParquetError(f"a list says it has {size} elements, which don't fit in")
    return kind, size, at


def _skip(data: bytes, at: int, kind: int, depth: int) -> int:
    """Where a value ends that nobody wants."""
    if _I16 <= kind <= _I64:
        while data[at] >= 0x80:
            at += 1
        return at + 1
    if kind == _BINARY:
        return _binary(data, at)[1]
    if kind == _STRUCT:
        return _skip_struct(data, at, depth + 1)
    if kind in {_LIST, _SET}:
        kind, size, at = _list_header(data, at, depth + 1)
        if kind <= _FALSE:
            return at + size
        for _ in range(size):
            at = _skip(data, at, kind, depth + 1)
        return at
    if kind in {_DOUBLE, _BYTE}:
        return at + (8 if kind == _DOUBLE else 1)
    raise MalformedParquetError(f"there is no type {kind}")


def _skip_struct(data: bytes, at: int, depth: int) -> int:
    if depth > _MAX_DEPTH:
        raise MalformedParquetError("structures are nested too deep")
    while header := data[at]:
        at += 1
        if header < 16:
            _, at = _zigzag(data, at)
        kind = header & 0x0F
        if kind == _STOP:
            raise MalformedParquetError("a field has no type")
        if kind > _FALSE:
            at = _skip(data, at, kind, depth)
    return at + 1


def _binary(data: bytes, at: int) -> tuple[bytes, int]:
    length = data[at]
    at += 1
    if length >= 0x80:
        length, at = _more(data, at, length)
    end = at + length
    if end > len(data):
        raise MalformedParquetError(f"{length} bytes are announced, and fewer are left")
    return data[at:end], end


def _bytes(data: bytes, at: int, length: int) -> bytes:
    if length > len(data) - at:
        raise MalformedParquetError(f"{length} bytes are announced, and fewer are left")
    return data[at : at + length]


def _zigzag(data: bytes, at: int) -> tuple[int, int]:
    number = data[at]
    at += 1
    if number >= 0x80:
        number, at = _more(data, at, number)
    return (number >> 1) ^ -(number & 1), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = data[at]
    return (number, at + 1) if number < 0x80 else _more(data, at + 1, number)


def _more(data: bytes, at: int, number: int) -> tuple[int, int]:
    """A number of which the first byte says that there are more."""
    number &= 0x7F
    for shift in _SHIFTS:
        byte = data[at]
        at += 1
        if byte < 0x80:
            return number | byte << shift, at
        number |= (byte & 0x7F) << shift
    raise MalformedParquetError("a number is too long")


_PLAIN: Final = {_I16: _zigzag, _I32: _zigzag, _I64: _zigzag, _BINARY: _binary}
"""How the values of most lists are read."""
