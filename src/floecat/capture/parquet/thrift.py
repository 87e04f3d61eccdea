"""Thrift's compact protocol, as far as parquet uses it: structs as dictionaries by field number.

Lengths and counts are checked against the bytes that are left, and depth is limited, so hostile
input costs no more than its own size.
"""

import struct
from typing import Any, Final, TypeAlias

from floecat.errors import DataLossError

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
_MAX_VARINT_BITS: Final = 70

Struct: TypeAlias = dict[int, Any]


class MalformedThriftError(DataLossError):
    """These bytes aren't what they should be."""


class CompactReader:
    """Reads one value after another from bytes."""

    def __init__(self, data: bytes | memoryview, position: int = 0) -> None:
        self._data = bytes(data)
        self._end = len(self._data)
        self.position = position

    def read_struct(self, depth: int = 0) -> Struct:
        """The fields of a struct that are set, by number."""
        if depth > _MAX_DEPTH:
            raise MalformedThriftError("structures are nested too deep")
        found: Struct = {}
        field = 0
        while (header := self._byte()) != _STOP:
            kind, delta = header & 0x0F, header >> 4
            field = field + delta if delta else self._zigzag()
            found[field] = self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in {_TRUE, _FALSE}:
            return kind == _TRUE  # the header of a field holds its value
        if kind in {_I32, _I64, _I16}:
            return self._zigzag()
        if kind == _BINARY:
            return self._binary()
        if kind == _STRUCT:
            return self.read_struct(depth + 1)
        if kind in {_LIST, _SET}:
            return self._list(depth + 1)
        if kind == _DOUBLE:
            return struct.unpack("<d", self._take(8))[0]
        if kind == _BYTE:
            return self._byte()
        raise MalformedThriftError(f"there is no type {kind}")

    def _list(self, depth: int) -> list[Any]:
        if depth > _MAX_DEPTH:
            raise MalformedThriftError("lists are nested too deep")
        header = self._byte()
        kind, size = header & 0x0F, header >> 4
        if size == _LONG_LIST:
            size = self._varint()
        if size > self._end - self.position:  # every element takes a byte at least
            raise MalformedThriftError(f"a list says it has {size} elements, which don't fit in")
        if kind in {_TRUE, _FALSE}:
            return [byte == _TRUE for byte in self._take(size)]
        # Asked for once, not for each element: lists of these two are most of a page index.
        if kind == _BINARY:
            return [self._binary() for _ in range(size)]
        if kind in {_I32, _I64}:
            return [self._zigzag() for _ in range(size)]
        return [self._value(kind, depth) for _ in range(size)]

    def _binary(self) -> bytes:
        return self._take(self._varint())

    def _zigzag(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)

    def _varint(self) -> int:
        data, position, end = self._data, self.position, self._end
        result = shift = 0
        while position < end:
            byte = data[position]
            position += 1
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                self.position = position
                return result
            shift += 7
            if shift > _MAX_VARINT_BITS:
                raise MalformedThriftError("a number is too long")
        raise MalformedThriftError("it ends in the middle of a number")

    def _byte(self) -> int:
        if self.position >= self._end:
            raise MalformedThriftError("it ends too early")
        byte = self._data[self.position]
        self.position += 1
        return byte

    def _take(self, length: int) -> bytes:
        start, end = self.position, self.position + length
        if end > self._end:
            raise MalformedThriftError(f"{length} bytes are announced, and fewer are left")
        self.position = end
        return self._data[start:end]
