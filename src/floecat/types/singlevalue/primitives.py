"""Iceberg's primitive types, as far as a single value of theirs has bytes.

Logical types aren't enough for that: INT says neither `int` nor `long`.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import pyarrow as pa
from typing_extensions import override

from floecat.types import logical as types
from floecat.types.arrays.arrowtypes import is_binary, is_single_float, is_text
from floecat.types.errors import InvalidTypeError, UnsupportedTypeError
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType

_SPELLING: Final = re.compile(
    r"([a-z_]+)\s*(?:[\[(]\s*([0-9]{1,9})\s*(?:,\s*([0-9]{1,9})\s*)?[\])])?"
)
MAX_ICEBERG_PRECISION: Final = 38


class PrimitiveName(StrEnum):
    """The names, as in a table's schema."""

    BOOLEAN = "boolean"
    INT = "int"
    LONG = "long"
    FLOAT = "float"
    DOUBLE = "double"
    DATE = "date"
    TIME = "time"
    TIMESTAMP = "timestamp"
    TIMESTAMPTZ = "timestamptz"
    TIMESTAMP_NS = "timestamp_ns"
    TIMESTAMPTZ_NS = "timestamptz_ns"
    STRING = "string"
    UUID = "uuid"
    FIXED = "fixed"
    BINARY = "binary"
    DECIMAL = "decimal"


@dataclass(frozen=True, slots=True)
class Primitive:
    """One of Iceberg's primitive types; `precision` and `scale` are decimals', `length` fixed's."""

    name: PrimitiveName
    precision: int = 0
    scale: int = 0
    length: int = 0

    @property
    def logical(self) -> LogicalType:
        """The logical type of the values."""
        if self.name is PrimitiveName.DECIMAL:
            return LogicalType(Kind.DECIMAL, precision=self.precision, scale=self.scale)
        return _LOGICAL[self.name]

    @override
    def __str__(self) -> str:
        match self.name:
            case PrimitiveName.DECIMAL:
                return f"decimal({self.precision}, {self.scale})"
            case PrimitiveName.FIXED:
                return f"fixed[{self.length}]"
            case name:
                return str(name)


def find_primitive(text: str) -> Primitive | None:
    """The primitive a schema names, such as `long`, `decimal(9,2)` or `fixed[16]`, or None."""
    found = _SPELLING.fullmatch(text.strip().lower())
    if found is None or found[1] not in set(PrimitiveName):
        return None
    name, first, second = PrimitiveName(found[1]), found[2], found[3]
    match name, first, second:
        case PrimitiveName.DECIMAL, str(), str():
            return _decimal(int(first), int(second))
        case PrimitiveName.FIXED, str(), None:
            return Primitive(name, length=int(first))
        case ((PrimitiveName.DECIMAL | PrimitiveName.FIXED), _, _):
            return None
        case _, None, None:
            return Primitive(name)
        case _:
            return None


def primitive_of_logical(logical: LogicalType, column: str) -> Primitive:
    """The primitive that holds a logical type; JSON is text, as Iceberg has no type for it."""
    if logical.kind is Kind.DECIMAL:
        if logical.precision is None or logical.precision > MAX_ICEBERG_PRECISION:
            raise UnsupportedTypeError(
                f"column {column!r}: Iceberg's decimals have 1 to {MAX_ICEBERG_PRECISION} digits, "
                f"which {logical} doesn't promise"
            )
        return _decimal(logical.precision, logical.scale or 0)
    name = _PRIMITIVE.get(logical.kind)
    if name is None:
        raise UnsupportedTypeError(
            f"column {column!r}: Iceberg has no primitive type for {logical}"
        )
    return Primitive(name)


def primitive_of_arrow(arrow_type: pa.DataType) -> Primitive | None:
    """The primitive whose bytes an Arrow column's values have, or None when there is none.

    Unsigned 64-bit integers don't fit a long, so they are `decimal(20, 0)`.
    """
    if pa.types.is_decimal(arrow_type):
        holder = types.decimal_type(arrow_type.precision, arrow_type.scale)
        return Primitive(PrimitiveName.DECIMAL, holder.precision or 0, holder.scale or 0)
    if arrow_type == pa.uint64():
        return _decimal(20, 0)
    if pa.types.is_timestamp(arrow_type):
        suffix = "_ns" if arrow_type.unit == "ns" else ""
        zone = "tz" if arrow_type.tz is not None else ""
        return Primitive(PrimitiveName(f"timestamp{zone}{suffix}"))
    if pa.types.is_fixed_size_binary(arrow_type):
        return Primitive(PrimitiveName.FIXED, length=arrow_type.byte_width)
    return next((Primitive(name) for test, name in _ARROW if test(arrow_type)), None)


def _decimal(precision: int, scale: int) -> Primitive:
    if not (1 <= precision <= MAX_ICEBERG_PRECISION and 0 <= scale <= precision):
        raise InvalidTypeError(f"decimal({precision}, {scale}) isn't one of Iceberg's decimals")
    return Primitive(PrimitiveName.DECIMAL, precision, scale)


def _is_uuid(arrow_type: pa.DataType) -> bool:
    return bool(arrow_type == pa.uuid())


def _is_narrow_integer(arrow_type: pa.DataType) -> bool:
    return bool(pa.types.is_integer(arrow_type) and arrow_type.bit_width < 32)


_ARROW: Final = (
    (_is_uuid, PrimitiveName.UUID),
    (pa.types.is_boolean, PrimitiveName.BOOLEAN),
    (_is_narrow_integer, PrimitiveName.INT),
    (pa.types.is_int32, PrimitiveName.INT),
    (pa.types.is_integer, PrimitiveName.LONG),
    (is_single_float, PrimitiveName.FLOAT),
    (pa.types.is_float64, PrimitiveName.DOUBLE),
    (pa.types.is_date, PrimitiveName.DATE),
    (pa.types.is_time, PrimitiveName.TIME),
    (is_text, PrimitiveName.STRING),
    (is_binary, PrimitiveName.BINARY),
)

_LOGICAL: Final = {
    PrimitiveName.BOOLEAN: types.BOOLEAN,
    PrimitiveName.INT: types.INT,
    PrimitiveName.LONG: types.INT,
    PrimitiveName.FLOAT: types.FLOAT,
    PrimitiveName.DOUBLE: types.DOUBLE,
    PrimitiveName.DATE: types.DATE,
    PrimitiveName.TIME: types.TIME,
    PrimitiveName.TIMESTAMP: types.TIMESTAMP,
    PrimitiveName.TIMESTAMPTZ: types.TIMESTAMPTZ,
    PrimitiveName.TIMESTAMP_NS: types.TIMESTAMP,
    PrimitiveName.TIMESTAMPTZ_NS: types.TIMESTAMPTZ,
    PrimitiveName.STRING: types.STRING,
    PrimitiveName.UUID: types.UUID,
    PrimitiveName.FIXED: types.BINARY,
    PrimitiveName.BINARY: types.BINARY,
}

_PRIMITIVE: Final = {
    Kind.BOOLEAN: PrimitiveName.BOOLEAN,
    Kind.INT: PrimitiveName.LONG,
    Kind.FLOAT: PrimitiveName.FLOAT,
    Kind.DOUBLE: PrimitiveName.DOUBLE,
    Kind.DATE: PrimitiveName.DATE,
    Kind.TIME: PrimitiveName.TIME,
    Kind.TIMESTAMP: PrimitiveName.TIMESTAMP,
    Kind.TIMESTAMPTZ: PrimitiveName.TIMESTAMPTZ,
    Kind.STRING: PrimitiveName.STRING,
    Kind.JSON: PrimitiveName.STRING,
    Kind.BINARY: PrimitiveName.BINARY,
    Kind.UUID: PrimitiveName.UUID,
}
