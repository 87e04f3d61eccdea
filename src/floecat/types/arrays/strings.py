"""Arrow arrays to canonical strings, equal element by element to the scalar encoding.

A pair of logical and Arrow type without a vectorised way goes through the scalar code, which is
also what refuses the values that aren't of the type.
"""

from collections.abc import Callable

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
from floecat.types.arrays.iso import all_within_day, date_strings, time_strings, timestamp_strings
from floecat.types.arrays.ragged import Bytes, fixed_width_values, whole_rows, with_nulls_of
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType
from floecat.types.policy import TimestampPolicy
from floecat.types.values.decimals import format_decimal
from floecat.types.values.floats import PLAIN_BELOW, PLAIN_FROM, format_double, format_float
from floecat.types.values.plain import format_value, read_value
from floecat.types.values.scalars import format_binary
from floecat.types.values.unwrap import unwrap_array


def encode_array(logical: LogicalType, array: pa.Array, policy: TimestampPolicy) -> pa.Array:
    """The canonical strings of an array, as large_string. NULL stays NULL."""
    array = unwrap_array(array)
    if array.null_count == len(array):
        return pa.nulls(len(array), pa.large_string())
    strings = _vectorised(logical, array)
    return _one_by_one(logical, array, policy) if strings is None else strings


def checked_text(array: pa.Array) -> pa.Array:
    """The array as large_string, or `pa.ArrowInvalid` when it isn't all UTF-8."""
    # Only a cast from binary looks at the bytes.
    return array.cast(pa.large_binary()).cast(pa.large_string())


def _one_by_one(logical: LogicalType, array: pa.Array, policy: TimestampPolicy) -> pa.Array:
    strings = (
        format_value(logical, read_value(logical, scalar, policy)) if scalar.is_valid else None
        for scalar in array
    )
    return pa.array(strings, pa.large_string())


def _vectorised(logical: LogicalType, array: pa.Array) -> pa.Array | None:
    arrow_type = array.type
    match logical.kind:
        case Kind.BOOLEAN if pa.types.is_boolean(arrow_type):
            return array.cast(pa.large_string())
        case Kind.INT | Kind.DECIMAL if pa.types.is_integer(arrow_type):
            return array.cast(pa.large_string())
        case Kind.DECIMAL if pa.types.is_decimal(arrow_type):
            return _decimal_strings(array)
        case Kind.FLOAT if is_single_float(arrow_type):
            return _float_strings(array.cast(pa.float32()), format_float)
        case Kind.DOUBLE if pa.types.is_floating(arrow_type):
            return _float_strings(array.cast(pa.float64()), format_double)
        case Kind.STRING:
            return _text_strings(array)
        case Kind.BINARY if is_binary(arrow_type):
            return _binary_strings(array)
        case Kind.UUID if arrow_type == pa.binary(16):
            return _uuid_strings(array)
        case _:
            return _vectorised_temporal(logical, array)


def _vectorised_temporal(logical: LogicalType, array: pa.Array) -> pa.Array | None:
    arrow_type = array.type
    precision = logical.temporal_precision
    match logical.kind:
        case Kind.DATE if pa.types.is_date(arrow_type):
            return date_strings(array)
        case Kind.DATE if arrow_type in {pa.int8(), pa.int16(), pa.int32()}:
            return date_strings(array)
        case Kind.TIME if pa.types.is_time(arrow_type) and all_within_day(array):
            return time_strings(array, precision)
        case Kind.TIMESTAMP if is_wall_clock(arrow_type):
            return timestamp_strings(array, precision, "")
        case Kind.TIMESTAMPTZ if is_instant(arrow_type):
            return timestamp_strings(array, precision, "Z")
        case _:
            return None


def _decimal_strings(array: pa.Array) -> pa.Array:
    text = array.cast(pa.large_string())
    # Arrow writes an exponent when the scale is negative or the number very small.
    with_exponent = pc.match_substring(text, "E")
    others = [format_decimal(value) for value in array.filter(with_exponent).to_pylist()]
    if array.type.scale > 0:
        text = pc.ascii_rtrim(pc.ascii_rtrim(text, "0"), ".")
    return _replace(text, with_exponent, others)


def _float_strings(array: pa.Array, format_one: Callable[[float], str]) -> pa.Array:
    array = pc.add(array, pa.scalar(0.0, array.type))  # -0.0 becomes 0.0
    magnitude = pc.abs(array)
    is_plain = pc.or_(
        pc.and_(pc.greater_equal(magnitude, PLAIN_FROM), pc.less(magnitude, PLAIN_BELOW)),
        pc.equal(magnitude, 0.0),
    )
    text = array.cast(pa.large_string())
    whole = pc.binary_join_element_wise(text, _large(".0"), _large(""))
    text = pc.if_else(pc.match_substring(text, "."), text, whole)
    is_other = pc.invert(is_plain)
    others = [format_one(value) for value in array.filter(is_other).to_pylist()]
    return _replace(text, is_other, others)


def _text_strings(array: pa.Array) -> pa.Array | None:
    if not (is_text(array.type) or is_binary(array.type)):
        return None
    try:
        return checked_text(array)
    except pa.ArrowInvalid:
        return None


def _binary_strings(array: pa.Array) -> pa.Array:
    values = array.to_pylist()
    encoded = [None if value is None else format_binary(value) for value in values]
    return pa.array(encoded, pa.large_string())


def _uuid_strings(array: pa.Array) -> pa.Array:
    """Two hexadecimal digits for every byte, and hyphens between the five groups."""
    values = fixed_width_values(array)
    digits = _hexadecimal(values)
    rows = np.full((len(values), 36), ord("-"), dtype=np.uint8)
    for hyphens, (start, end) in enumerate(((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))):
        rows[:, start + hyphens : end + hyphens] = digits[:, start:end]
    return with_nulls_of(array, whole_rows(rows, pa.large_string()))


def _hexadecimal(values: Bytes) -> Bytes:
    letters = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)
    digits = np.empty((len(values), 2 * values.shape[1]), dtype=np.uint8)
    digits[:, 0::2] = letters[values >> 4]
    digits[:, 1::2] = letters[values & 15]
    return digits


def _large(text: str) -> pa.Scalar:
    return pa.scalar(text, pa.large_string())


def _replace(text: pa.Array, mask: pa.Array, others: list[str]) -> pa.Array:
    replacements = pa.array(others, pa.large_string())
    return pc.replace_with_mask(text, pc.fill_null(mask, False), replacements)
