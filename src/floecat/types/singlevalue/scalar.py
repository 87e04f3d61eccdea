"""Iceberg's single-value bytes, one value at a time: bounds in manifests, and what sketches hash.

Decoding goes by length where Iceberg lets a column be promoted: an old file's bound of a `long` may
be four bytes, and that of a `timestamp` a date.
"""

import math
import struct
from typing import Any, Final

import numpy as np

from floecat.types.errors import InvalidValueError
from floecat.types.policy import TimestampPolicy
from floecat.types.singlevalue.primitives import MAX_ICEBERG_PRECISION, Primitive, PrimitiveName
from floecat.types.values.decimals import scaled, unscaled
from floecat.types.values.plain import Value, python_value, read_value
from floecat.types.values.scalars import read_string, read_uuid
from floecat.types.values.temporal import numpy_moment
from floecat.types.values.units import NANOS_PER_DAY

_POLICY: Final = TimestampPolicy()
_INT64_MAX: Final = (1 << 63) - 1

_LAYOUTS: Final = {
    PrimitiveName.BOOLEAN: {1: "<?"},
    PrimitiveName.INT: {4: "<i"},
    PrimitiveName.LONG: {8: "<q", 4: "<i"},
    PrimitiveName.FLOAT: {4: "<f"},
    PrimitiveName.DOUBLE: {8: "<d", 4: "<f"},
    PrimitiveName.DATE: {4: "<i"},
    PrimitiveName.TIME: {8: "<q"},
    PrimitiveName.TIMESTAMP: {8: "<q", 4: "<i"},
    PrimitiveName.TIMESTAMPTZ: {8: "<q", 4: "<i"},
    PrimitiveName.TIMESTAMP_NS: {8: "<q", 4: "<i"},
    PrimitiveName.TIMESTAMPTZ_NS: {8: "<q", 4: "<i"},
}
"""How many bytes a value may have, and what they are: today's width first, then older ones."""


def encode_single_value(primitive: Primitive, value: object) -> bytes:
    """The bytes of a value. Nanoseconds that the type hasn't are cut off; every NaN is the same."""
    plain: Any = read_value(primitive.logical, value, _POLICY)
    match primitive.name:
        case PrimitiveName.STRING:
            return bytes(plain.encode())
        case PrimitiveName.UUID:
            return bytes(plain.bytes)
        case PrimitiveName.FIXED:
            return check_fixed(primitive, bytes(plain))
        case PrimitiveName.BINARY:
            return bytes(plain)
        case PrimitiveName.DECIMAL:
            return _minimal_big_endian(unscaled(plain, primitive.scale))
        case PrimitiveName.FLOAT | PrimitiveName.DOUBLE:
            return _pack(primitive, math.nan if math.isnan(plain) else plain)
        case PrimitiveName.TIME | PrimitiveName.TIMESTAMP | PrimitiveName.TIMESTAMPTZ:
            return _pack(primitive, plain // 1_000)
        case _:
            return _pack(primitive, plain)


def decode_single_value(primitive: Primitive, data: bytes) -> Value:
    """The value of its bytes. Nanosecond timestamps are numpy's, since Python's have none."""
    match primitive.name:
        case PrimitiveName.STRING:
            return read_string(data)
        case PrimitiveName.UUID:
            return read_uuid(data)
        case PrimitiveName.FIXED:
            return check_fixed(primitive, data)
        case PrimitiveName.BINARY:
            return data
        case PrimitiveName.DECIMAL:
            return _decode_decimal(primitive, data)
        case PrimitiveName.TIME:
            micros = np.timedelta64(_unpack(primitive, data), "us")
            return python_value(primitive.logical, read_value(primitive.logical, micros, _POLICY))
        case PrimitiveName.TIMESTAMP | PrimitiveName.TIMESTAMPTZ:
            return python_value(primitive.logical, _timestamp_nanos(primitive, data, 1_000))
        case PrimitiveName.TIMESTAMP_NS | PrimitiveName.TIMESTAMPTZ_NS:
            return numpy_moment(_timestamp_nanos(primitive, data, 1), "ns")
        case _:
            return python_value(primitive.logical, _unpack(primitive, data))


def wrong_length(primitive: Primitive, length: int) -> InvalidValueError:
    """The error for bytes that can't be a value of the type."""
    return InvalidValueError(f"{length} bytes aren't a value of Iceberg's {primitive}")


def check_fixed(primitive: Primitive, data: bytes) -> bytes:
    """The bytes, unless a `fixed` value has fewer.

    It may have more: writers cut its bounds to their first bytes, sixteen unless told otherwise.
    """
    if len(data) > primitive.length:
        raise wrong_length(primitive, len(data))
    return data


def decimal_width(primitive: Primitive) -> int:
    """The most bytes that a decimal's unscaled value may have."""
    return 16 if primitive.precision <= MAX_ICEBERG_PRECISION else 32


def _pack(primitive: Primitive, number: float) -> bytes:
    layout = next(iter(_LAYOUTS[primitive.name].values()))
    try:
        return struct.pack(layout, number)
    except struct.error:
        raise InvalidValueError(f"{number} doesn't fit Iceberg's {primitive}") from None


def _unpack(primitive: Primitive, data: bytes) -> Any:
    layout = _LAYOUTS[primitive.name].get(len(data))
    if layout is None:
        raise wrong_length(primitive, len(data))
    return struct.unpack(layout, data)[0]


def _timestamp_nanos(primitive: Primitive, data: bytes, unit_nanos: int) -> int:
    count = int(_unpack(primitive, data))
    if len(data) != 4:
        return count * unit_nanos
    if abs(count) > _INT64_MAX // (NANOS_PER_DAY // unit_nanos):
        raise InvalidValueError("a date is too far away for a timestamp of 64 bits")
    return count * NANOS_PER_DAY


def _minimal_big_endian(value: int) -> bytes:
    bits = (value if value >= 0 else ~value).bit_length() + 1
    return value.to_bytes((bits + 7) // 8, "big", signed=True)


def _decode_decimal(primitive: Primitive, data: bytes) -> Value:
    if not 1 <= len(data) <= decimal_width(primitive):
        raise wrong_length(primitive, len(data))
    return scaled(int.from_bytes(data, "big", signed=True), primitive.scale)
