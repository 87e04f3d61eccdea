"""Arrow arrays to Iceberg's single-value bytes, equal to `scalar` element by element.

What has no vectorised way, or holds a value that doesn't fit, goes through the scalar code.
"""

import math
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from floecat.types.arrays.arrowtypes import (
    is_binary,
    is_instant,
    is_single_float,
    is_text,
    is_wall_clock,
)
from floecat.types.arrays.iso import all_within_day, counts_of
from floecat.types.arrays.ragged import (
    Bytes,
    fixed_width_values,
    last_bytes,
    whole_rows,
    with_nulls_of,
)
from floecat.types.arrays.strings import checked_text
from floecat.types.singlevalue.primitives import Primitive, PrimitiveName
from floecat.types.singlevalue.scalar import encode_single_value
from floecat.types.values.units import nanos_per
from floecat.types.values.unwrap import unwrap_array

_INT64_MAX: Final = (1 << 63) - 1
_MAX_INTEGER_DIGITS: Final = 20


def encode_single_values(primitive: Primitive, array: pa.Array) -> pa.Array:
    """The bytes of every element, as large_binary. NULL stays NULL."""
    array = unwrap_array(array)
    if array.null_count == len(array):
        return pa.nulls(len(array), pa.large_binary())
    try:
        encoded = _encode_vectorised(primitive, array)
    except pa.ArrowInvalid:
        encoded = None  # the scalar code finds the value that doesn't fit, and names it
    if encoded is None:
        values = (encode_single_value(primitive, x) if x.is_valid else None for x in array)
        return pa.array(values, pa.large_binary())
    return with_nulls_of(array, encoded)


def _encode_vectorised(primitive: Primitive, array: pa.Array) -> pa.Array | None:
    arrow_type = array.type
    match primitive.name:
        case PrimitiveName.BOOLEAN if pa.types.is_boolean(arrow_type):
            return _little_endian(array.cast(pa.uint8()))
        case PrimitiveName.INT if pa.types.is_integer(arrow_type):
            return _little_endian(array.cast(pa.int32()))
        case PrimitiveName.LONG if pa.types.is_integer(arrow_type):
            return _little_endian(array.cast(pa.int64()))
        case PrimitiveName.FLOAT if is_single_float(arrow_type):
            return _little_endian(_with_one_nan(array.cast(pa.float32())))
        case PrimitiveName.DOUBLE if pa.types.is_floating(arrow_type):
            return _little_endian(_with_one_nan(array.cast(pa.float64())))
        case PrimitiveName.STRING if is_text(arrow_type) or is_binary(arrow_type):
            return checked_text(array).cast(pa.large_binary())
        case PrimitiveName.BINARY | PrimitiveName.FIXED | PrimitiveName.UUID:
            return array.cast(pa.large_binary()) if _is_as_it_is(primitive, array) else None
        case PrimitiveName.DECIMAL:
            return _encode_decimals(primitive, array)
        case _:
            return _encode_temporal(primitive, array)


def _is_as_it_is(primitive: Primitive, array: pa.Array) -> bool:
    """Whether the array's values already are the bytes."""
    if primitive.name is PrimitiveName.UUID:
        return bool(array.type == pa.binary(16))
    if not is_binary(array.type):
        return False
    has_any_length = primitive.name is PrimitiveName.BINARY
    return has_any_length or bool(pc.max(pc.binary_length(array)).as_py() <= primitive.length)


def _encode_temporal(primitive: Primitive, array: pa.Array) -> pa.Array | None:
    arrow_type = array.type
    match primitive.name:
        case PrimitiveName.DATE if pa.types.is_date32(arrow_type):
            return _little_endian(array.view(pa.int32()))
        case PrimitiveName.TIME if pa.types.is_time(arrow_type) and all_within_day(array):
            return _encode_counts(array, 1_000)
        case PrimitiveName.TIMESTAMP if is_wall_clock(arrow_type):
            return _encode_counts(array, 1_000)
        case PrimitiveName.TIMESTAMP_NS if is_wall_clock(arrow_type):
            return _encode_counts(array, 1)
        case PrimitiveName.TIMESTAMPTZ if is_instant(arrow_type):
            return _encode_counts(array, 1_000)
        case PrimitiveName.TIMESTAMPTZ_NS if is_instant(arrow_type):
            return _encode_counts(array, 1)
        case _:
            return None


def _encode_counts(array: pa.Array, target_nanos: int) -> pa.Array | None:
    """Counts of the array's unit as counts of another, or None when one doesn't fit."""
    counts = counts_of(array)
    unit_nanos = nanos_per(array.type.unit)
    if unit_nanos < target_nanos:
        counts = counts // (target_nanos // unit_nanos)
    elif unit_nanos > target_nanos:
        factor = unit_nanos // target_nanos
        limit = _INT64_MAX // factor
        if len(counts) and (counts.max() > limit or counts.min() < -limit):
            return None
        counts = counts * factor
    return _little_endian(pa.array(counts))


def _encode_decimals(primitive: Primitive, array: pa.Array) -> pa.Array | None:
    if pa.types.is_integer(array.type):
        array = array.cast(pa.decimal128(_MAX_INTEGER_DIGITS, 0))
    if not pa.types.is_decimal(array.type) or array.type.scale != primitive.scale:
        return None
    rows = fixed_width_values(array)[:, ::-1]
    return last_bytes(rows, _minimal_lengths(rows), pa.large_binary())


def _minimal_lengths(rows: Bytes) -> Bytes:
    """How many bytes of big-endian numbers count: the sign's copies in front don't."""
    sign = rows[:, :1] >> 7
    is_copy = (rows[:, :-1] == sign * 0xFF) & (rows[:, 1:] >> 7 == sign)
    copies = np.logical_and.accumulate(is_copy, axis=1).sum(axis=1)
    lengths: Bytes = (rows.shape[1] - copies).astype(np.uint8)
    return lengths


def _with_one_nan(array: pa.Array) -> pa.Array:
    return pc.if_else(pc.is_nan(array), pa.scalar(math.nan, array.type), array)


def _little_endian(array: pa.Array) -> pa.Array:
    return whole_rows(fixed_width_values(array), pa.large_binary())
