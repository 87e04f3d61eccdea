"""Values in Parquet's plain encoding, as footers and page indexes hold minima and maxima.

The unit comes from the column's annotation, never from a number's size. Counts of a timestamp that
isn't adjusted to UTC are read off as a wall clock; no session zone shifts them.
"""

import struct
from typing import Final
from uuid import UUID

import numpy as np

from floecat.types.errors import InvalidValueError
from floecat.types.mapping.parquet import ParquetColumn
from floecat.types.values.calendar import check_day, python_date
from floecat.types.values.decimals import read_decimal, scaled
from floecat.types.values.intervals import interval_of_parts
from floecat.types.values.plain import Value
from floecat.types.values.scalars import read_string
from floecat.types.values.temporal import numpy_moment, within_day
from floecat.types.values.units import NANOS_PER_DAY, nanos_per

_JULIAN_EPOCH: Final = 2_440_588
_BYTES: Final = frozenset({"BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"})
_LAYOUTS: Final = {"BOOLEAN": "<?", "FLOAT": "<f", "DOUBLE": "<d"}
_SIGNED_LAYOUTS: Final = {"INT32": "<i", "INT64": "<q"}
_UNSIGNED_LAYOUTS: Final = {"INT32": "<I", "INT64": "<Q"}
_MAX_DECIMAL_BYTES: Final = 400
"""About as many digits as `read_decimal` takes; the footer may claim any number of bytes."""


def decode_parquet_value(column: ParquetColumn, data: bytes) -> Value | np.timedelta64:
    """The typed value of a statistic's bytes, ready for `ValueEncoders` and bounds.

    Times are numpy's, which keep nanoseconds, or a `Moment` where numpy would lose them. Raises
    `InvalidValueError` naming the column when the bytes can't be a value of it.
    """
    try:
        return _decode(column, data)
    except struct.error:
        raise InvalidValueError(
            f"{len(data)} bytes aren't a value of Parquet's {column.physical}"
        ).in_column(column.path) from None
    except InvalidValueError as error:
        raise error.in_column(column.path) from None


def _decode(column: ParquetColumn, data: bytes) -> Value | np.timedelta64:
    annotation = column.annotation
    match annotation.name:
        case "DECIMAL":
            return read_decimal(scaled(_unscaled(column, data), annotation.scale))
        case "INT":
            return _integer(column, data)
        case "FLOAT16":
            return float(struct.unpack("<e", data)[0])
        case "UUID":
            return UUID(bytes=bytes(struct.unpack("16s", data)[0]))
        case "STRING" | "ENUM" | "JSON":
            return read_string(data)
        case "BSON" | "GEOMETRY" | "GEOGRAPHY" if column.physical not in _BYTES:
            raise _not_parquet(column)
        case _:
            return _temporal(column, data)


def _temporal(column: ParquetColumn, data: bytes) -> Value | np.timedelta64:
    match column.annotation.name:
        case "DATE":
            return python_date(check_day(_integer(column, data)))
        case "TIME":
            return np.timedelta64(within_day(_nanos(column, data)), "ns")
        case "TIMESTAMP":
            return numpy_moment(_nanos(column, data), "ns")
        case "INTERVAL":
            months, days, millis = struct.unpack("<III", data)
            return interval_of_parts(months, days, millis * 1_000_000)
        case _:
            return _physical(column, data)


def _physical(column: ParquetColumn, data: bytes) -> Value:
    match column.physical:
        case "INT32" | "INT64":
            return _integer(column, data)
        case "INT96":
            nanos, julian_day = struct.unpack("<qi", data)
            return numpy_moment((julian_day - _JULIAN_EPOCH) * NANOS_PER_DAY + nanos, "ns")
        case physical if physical in _BYTES:
            return data
        case physical if physical in _LAYOUTS:
            number: Value = struct.unpack(_LAYOUTS[physical], data)[0]
            return number
        case _:
            raise _not_parquet(column)


def _integer(column: ParquetColumn, data: bytes) -> int:
    layouts = _SIGNED_LAYOUTS if column.annotation.is_signed else _UNSIGNED_LAYOUTS
    layout = layouts.get(column.physical)
    if layout is None:
        raise _not_parquet(column)
    return int(struct.unpack(layout, data)[0])


def _nanos(column: ParquetColumn, data: bytes) -> int:
    if not column.annotation.unit:
        raise InvalidValueError(f"a {column.annotation.name} without a unit says nothing")
    return _integer(column, data) * nanos_per(column.annotation.unit)


def _unscaled(column: ParquetColumn, data: bytes) -> int:
    """Decimals are integers in INT32 and INT64, else big-endian bytes."""
    if column.physical in _SIGNED_LAYOUTS:
        return _integer(column, data)
    if column.physical not in _BYTES:
        raise _not_parquet(column)
    if not 1 <= len(data) <= _MAX_DECIMAL_BYTES:
        raise InvalidValueError(f"{len(data)} bytes aren't a decimal")
    return int.from_bytes(data, "big", signed=True)


def _not_parquet(column: ParquetColumn) -> InvalidValueError:
    return InvalidValueError(f"{column.annotation.name} in {column.physical} isn't Parquet")
