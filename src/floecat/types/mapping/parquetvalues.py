"""Values in Parquet's plain encoding, as footers and page indexes hold minima and maxima.

The unit comes from the column's annotation, never from a number's size. Counts of a timestamp that
isn't adjusted to UTC are read off as a wall clock; no session zone shifts them.
"""

import struct
from typing import Any, Final
from uuid import UUID

import numpy as np
import pyarrow as pa

from floecat.types.errors import InvalidValueError
from floecat.types.mapping.parquet import ParquetColumn
from floecat.types.values.calendar import python_date
from floecat.types.values.decimals import scaled
from floecat.types.values.plain import Value
from floecat.types.values.scalars import read_string
from floecat.types.values.temporal import numpy_moment
from floecat.types.values.units import NANOS_PER_DAY, nanos_per

_JULIAN_EPOCH: Final = 2_440_588
_LAYOUTS: Final = {"BOOLEAN": "<?", "INT32": "<i", "INT64": "<q", "FLOAT": "<f", "DOUBLE": "<d"}
_UNSIGNED_LAYOUTS: Final = {"INT32": "<I", "INT64": "<Q"}


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
            return scaled(_unscaled(column, data), annotation.scale)
        case "DATE":
            return python_date(_number(column, data))
        case "TIME":
            return np.timedelta64(_number(column, data) * nanos_per(annotation.unit), "ns")
        case "TIMESTAMP":
            return numpy_moment(_number(column, data) * nanos_per(annotation.unit), "ns")
        case "FLOAT16":
            return float(struct.unpack("<e", data)[0])
        case "UUID":
            return UUID(bytes=bytes(struct.unpack("16s", data)[0]))
        case "STRING" | "ENUM" | "JSON":
            return read_string(data)
        case "INTERVAL":
            months, days, millis = struct.unpack("<III", data)
            return pa.MonthDayNano([months, days, millis * 1_000_000])
        case _:
            return _physical(column, data)


def _physical(column: ParquetColumn, data: bytes) -> Value:
    match column.physical:
        case "INT96":
            nanos, julian_day = struct.unpack("<qi", data)
            return numpy_moment((julian_day - _JULIAN_EPOCH) * NANOS_PER_DAY + nanos, "ns")
        case "BYTE_ARRAY" | "FIXED_LEN_BYTE_ARRAY":
            return data
        case _:
            number: Value = _number(column, data)
            return number


def _number(column: ParquetColumn, data: bytes) -> Any:
    layouts = _LAYOUTS if column.annotation.is_signed else _UNSIGNED_LAYOUTS
    layout = layouts.get(column.physical)
    if layout is None:
        raise InvalidValueError(f"{column.annotation.name} in {column.physical} isn't Parquet")
    return struct.unpack(layout, data)[0]


def _unscaled(column: ParquetColumn, data: bytes) -> int:
    """Decimals are integers in INT32 and INT64, else big-endian bytes."""
    if column.physical in {"INT32", "INT64"}:
        return int(_number(column, data))
    if not data:
        raise InvalidValueError("no bytes at all aren't a decimal")
    return int.from_bytes(data, "big", signed=True)
