"""Any value of any kind, by way of its *plain* value: the one form that is compared and formatted.

Plain values are bool, int, float, Decimal, str, bytes and UUID; days for DATE, nanoseconds for
TIME, TIMESTAMP and TIMESTAMPTZ; and Arrow's MonthDayNano for INTERVAL.
"""

from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final, TypeAlias
from uuid import UUID

import numpy as np
import pyarrow as pa

from floecat.types.errors import InvalidValueError, shown
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType
from floecat.types.policy import TimestampPolicy
from floecat.types.values.calendar import format_date, python_date, read_date
from floecat.types.values.decimals import format_decimal, read_decimal
from floecat.types.values.floats import canonical_double, canonical_float, read_double, read_float
from floecat.types.values.intervals import format_interval, read_interval
from floecat.types.values.scalars import (
    format_binary,
    format_boolean,
    read_binary,
    read_boolean,
    read_int,
    read_string,
    read_uuid,
)
from floecat.types.values.temporal import (
    Moment,
    format_time,
    format_timestamp,
    python_instant,
    python_time,
    python_wall_clock,
    read_moment,
    read_time,
)

Plain: TypeAlias = bool | int | float | Decimal | str | bytes | UUID | pa.MonthDayNano
Value: TypeAlias = Plain | date | time | datetime | np.datetime64 | Moment
"""What decoding gives: Python's own classes, numpy's in years that Python hasn't, and a Moment
where numpy would lose digits."""


def read_value(logical: LogicalType, value: object, policy: TimestampPolicy) -> Plain:
    """The plain value of anything that stands for a value of the type."""
    reader = _READERS.get(logical.kind)
    if reader is not None:
        return reader(value)
    match logical.kind:
        case Kind.TIMESTAMP:
            return _read_timestamp(value, policy)
        case Kind.TIMESTAMPTZ:
            return _read_timestamptz(value)
        case kind:
            raise InvalidValueError(
                f"{kind.name} values have no canonical string; leave the bound unset"
            )


def format_value(logical: LogicalType, plain: Any) -> str:
    """The canonical string of a plain value. Digits beyond the type's precision are cut off."""
    formatter = _FORMATTERS.get(logical.kind)
    if formatter is not None:
        return formatter(plain)
    if logical.kind is Kind.TIME:
        return format_time(plain, logical.temporal_precision)
    suffix = "Z" if logical.kind is Kind.TIMESTAMPTZ else ""
    return format_timestamp(plain, logical.temporal_precision) + suffix


def python_value(logical: LogicalType, plain: Any) -> Value:
    """The Python value of a plain one."""
    match logical.kind:
        case Kind.DATE:
            return python_date(plain)
        case Kind.TIME:
            return python_time(plain)
        case Kind.TIMESTAMP:
            return python_wall_clock(plain)
        case Kind.TIMESTAMPTZ:
            return python_instant(plain)
        case _:
            value: Value = plain
            return value


def _read_timestamp(value: object, policy: TimestampPolicy) -> int:
    moment = read_moment(value)
    return moment.nanos if moment.is_wall_clock else policy.wall_clock(moment.nanos)


def _read_timestamptz(value: object) -> int:
    moment = read_moment(value)
    if not moment.is_instant:
        raise InvalidValueError(
            f"{shown(value)} has no zone, and TIMESTAMPTZ needs one: add Z or an offset, or make "
            "the column a TIMESTAMP"
        )
    return moment.nanos


_READERS: Final[dict[Kind, Callable[[object], Plain]]] = {
    Kind.BOOLEAN: read_boolean,
    Kind.INT: read_int,
    Kind.FLOAT: read_float,
    Kind.DOUBLE: read_double,
    Kind.DATE: read_date,
    Kind.TIME: read_time,
    Kind.STRING: read_string,
    Kind.BINARY: read_binary,
    Kind.UUID: read_uuid,
    Kind.DECIMAL: read_decimal,
    Kind.INTERVAL: read_interval,
}

_FORMATTERS: Final[dict[Kind, Callable[[Any], str]]] = {
    Kind.BOOLEAN: format_boolean,
    Kind.INT: str,
    Kind.FLOAT: canonical_float,
    Kind.DOUBLE: canonical_double,
    Kind.DATE: format_date,
    Kind.STRING: str,
    Kind.BINARY: format_binary,
    Kind.UUID: str,
    Kind.DECIMAL: format_decimal,
    Kind.INTERVAL: format_interval,
}
