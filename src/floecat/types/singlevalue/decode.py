"""Iceberg's single-value bytes to Arrow arrays, equal to `scalar` element by element."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from floecat.types.arrays.iso import all_within_day
from floecat.types.arrays.ragged import Counts, rows_by_length
from floecat.types.arrays.strings import checked_text
from floecat.types.errors import InvalidValueError
from floecat.types.singlevalue.primitives import Primitive, PrimitiveName
from floecat.types.singlevalue.scalar import decimal_width, wrong_length
from floecat.types.values.units import MICROS_PER_DAY, NANOS_PER_DAY

_INT64_MAX: Final = (1 << 63) - 1


def decode_single_values(primitive: Primitive, array: pa.Array) -> pa.Array:
    """The values of an array of bytes, in the primitive's natural Arrow type. NULL stays NULL."""
    array = array.cast(pa.large_binary())
    match primitive.name:
        case PrimitiveName.STRING:
            return _decode_text(array)
        case PrimitiveName.BINARY:
            return array
        case PrimitiveName.FIXED:
            return _decode_fixed(primitive, array)
        case PrimitiveName.UUID:
            return _decode_uuids(primitive, array)
        case PrimitiveName.DECIMAL:
            return _decode_decimals(primitive, array)
        case PrimitiveName.TIMESTAMP | PrimitiveName.TIMESTAMPTZ:
            return _decode_timestamps(primitive, array, MICROS_PER_DAY)
        case PrimitiveName.TIMESTAMP_NS | PrimitiveName.TIMESTAMPTZ_NS:
            return _decode_timestamps(primitive, array, NANOS_PER_DAY)
        case PrimitiveName.TIME:
            return _decode_times(primitive, array)
        case _:
            return _decode_numbers(primitive, array)


def _decode_numbers(primitive: Primitive, array: pa.Array) -> pa.Array:
    arrow_type, widths = _NUMBERS[primitive.name]
    return _with_nulls(array, _gather(primitive, array, widths)).cast(arrow_type)


def _decode_times(primitive: Primitive, array: pa.Array) -> pa.Array:
    times = _with_nulls(array, _gather(primitive, array, {8: "<i8"})).cast(pa.time64("us"))
    if not all_within_day(times):
        raise InvalidValueError("a time of day is 00:00:00 to 23:59:59.999999")
    return times


def _decode_timestamps(primitive: Primitive, array: pa.Array, per_day: int) -> pa.Array:
    """Counts of eight bytes; a value of four is a date, from before the column was promoted."""
    counts = np.zeros(len(array), dtype=np.int64)
    for positions, rows in rows_by_length(array):
        match rows.shape[1]:
            case 8:
                counts[positions] = rows.view("<i8")[:, 0]
            case 4:
                counts[positions] = _counts_of_days(rows.view("<i4")[:, 0], per_day)
            case length:
                raise wrong_length(primitive, length)
    return _with_nulls(array, counts).cast(_timestamp_type(primitive))


def _counts_of_days(days: npt.NDArray[np.int32], per_day: int) -> Counts:
    limit = _INT64_MAX // per_day
    if (np.abs(days.astype(np.int64)) > limit).any():
        raise InvalidValueError("a date is too far away for a timestamp of 64 bits")
    return days.astype(np.int64) * per_day


def _timestamp_type(primitive: Primitive) -> pa.DataType:
    unit = "ns" if primitive.name.endswith("_ns") else "us"
    return pa.timestamp(unit, "UTC" if primitive.name.startswith("timestamptz") else None)


def _decode_decimals(primitive: Primitive, array: pa.Array) -> pa.Array:
    width = decimal_width(primitive)
    of_width = pa.decimal128 if width == 16 else pa.decimal256
    arrow_type = of_width(primitive.precision, primitive.scale)
    values = np.zeros((len(array), width), dtype=np.uint8)
    for positions, rows in rows_by_length(array):
        length = rows.shape[1]
        if not 1 <= length <= width:
            raise wrong_length(primitive, length)
        values[positions, width - length :] = rows
        values[positions, : width - length] = (rows[:, :1] >> 7) * 0xFF
    data = pa.py_buffer(np.ascontiguousarray(values[:, ::-1]))
    decimals = pa.Array.from_buffers(arrow_type, len(array), [None, data])
    return pc.if_else(array.is_valid(), decimals, pa.scalar(None, arrow_type))


def _decode_fixed(primitive: Primitive, array: pa.Array) -> pa.Array:
    longest = pc.max(pc.binary_length(array)).as_py() or 0
    if longest > primitive.length:
        raise wrong_length(primitive, longest)
    return array


def _decode_uuids(primitive: Primitive, array: pa.Array) -> pa.Array:
    for _, rows in rows_by_length(array):
        if rows.shape[1] != 16:
            raise wrong_length(primitive, rows.shape[1])
    return pa.ExtensionArray.from_storage(pa.uuid(), array.cast(pa.binary(16)))


def _decode_text(array: pa.Array) -> pa.Array:
    try:
        return checked_text(array)
    except pa.ArrowInvalid:
        raise InvalidValueError("a string's bytes aren't UTF-8") from None


def _gather(primitive: Primitive, array: pa.Array, widths: dict[int, str]) -> npt.NDArray[Any]:
    """Numbers of any of the widths, in the type of the widest."""
    values = np.zeros(len(array), dtype=widths[max(widths)])
    for positions, rows in rows_by_length(array):
        if rows.shape[1] not in widths:
            raise wrong_length(primitive, rows.shape[1])
        values[positions] = rows.view(widths[rows.shape[1]])[:, 0]
    return values


def _with_nulls(source: pa.Array, values: npt.NDArray[Any]) -> pa.Array:
    return pa.array(values, mask=source.is_null().to_numpy(zero_copy_only=False))


_NUMBERS: Final = {
    PrimitiveName.BOOLEAN: (pa.bool_(), {1: "u1"}),
    PrimitiveName.INT: (pa.int32(), {4: "<i4"}),
    PrimitiveName.LONG: (pa.int64(), {4: "<i4", 8: "<i8"}),
    PrimitiveName.FLOAT: (pa.float32(), {4: "<f4"}),
    PrimitiveName.DOUBLE: (pa.float64(), {4: "<f4", 8: "<f8"}),
    PrimitiveName.DATE: (pa.date32(), {4: "<i4"}),
}
