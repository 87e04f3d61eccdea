"""Values in delta logs: of statistics, which are JSON, and of partitions, which are text."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from typing import Any, Final

import numpy as np

from floecat.types.bounds import Bound, lower_bound, upper_bound
from floecat.types.errors import InvalidValueError
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType
from floecat.types.policy import TimestampPolicy

_TRUNCATED_FROM: Final = 32
"""No writer cuts strings of fewer bytes: Spark cuts at 32 characters, others at 64 bytes."""
_DIGITS_OF_DOUBLES: Final = 15
_DOUBLE_ERROR: Final = Decimal(2) ** -52
_EXACT: Final = Context(prec=100)
_MILLISECOND: Final = timedelta(milliseconds=1)
_ZONE: Final = re.compile(r"(?:Z|[+-]\d{2}:?\d{2})$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Both bounds of a column in a file; None where nothing is known."""

    low: Bound | None
    high: Bound | None


def statistic_bounds(
    logical: LogicalType, low: Any, high: Any, *, tight: bool, policy: TimestampPolicy
) -> Bounds:
    """The bounds that a file's statistics state. What can't be read is unknown, not an error."""
    return Bounds(
        _bound(logical, low, smaller=True, tight=tight, policy=policy),
        _bound(logical, high, smaller=False, tight=tight, policy=policy),
    )


def _bound(
    logical: LogicalType, value: Any, *, smaller: bool, tight: bool, policy: TimestampPolicy
) -> Bound | None:
    if value is None or not logical.kind.is_orderable:
        return None
    make = lower_bound if smaller else upper_bound
    try:
        typed, exact = _typed(logical, value, smaller=smaller)
        return make(logical, typed, is_tight=tight and exact, policy=policy)
    except (InvalidValueError, ValueError, TypeError, ArithmeticError):
        return None


def _typed(logical: LogicalType, value: Any, *, smaller: bool) -> tuple[Any, bool]:
    """A value of the type, and whether it is exactly what some row has."""
    match logical.kind:
        case Kind.FLOAT | Kind.DOUBLE:
            return str(value), True  # a float's own text is that float
        case Kind.DECIMAL:
            return _decimal(logical, value, smaller=smaller)
        case Kind.STRING:
            text = _text(value)
            return text, len(text.encode()) < _TRUNCATED_FROM
        case Kind.BINARY:
            return _bytes(value), False
        case Kind.DATE:
            return _date(value), True
        case Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
            return _moment(logical, value, smaller=smaller)
        case _:
            return value, True


def _decimal(logical: LogicalType, value: Any, *, smaller: bool) -> tuple[Decimal, bool]:
    """Some writers pass decimals through doubles, which hold fifteen digits and not always more."""
    number = Decimal(str(value))
    if logical.precision is not None and logical.precision <= _DIGITS_OF_DOUBLES:
        return number, True
    with localcontext(_EXACT):
        slack = abs(number) * _DOUBLE_ERROR
        moved = number - slack if smaller else number + slack
        return _within(logical, moved, smaller=smaller), False


def _within(logical: LogicalType, number: Decimal, *, smaller: bool) -> Decimal:
    """Rounded outwards to the type's digits, but not beyond what the type can hold."""
    if logical.precision is None:
        return number
    step = Decimal(1).scaleb(-(logical.scale or 0))
    rounded = number.quantize(step, ROUND_FLOOR if smaller else ROUND_CEILING)
    largest = Decimal(10**logical.precision - 1) * step
    return max(-largest, min(largest, rounded))


def _bytes(value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError("text, and nothing says which bytes it stands for")
    return value


def widened_floats(low: Any, high: Any) -> tuple[Any, Any]:
    """Bounds of a DOUBLE that was a FLOAT once: in old files `1.1` is the float of that text.

    Which files are old isn't known, so each bound is the wider of its two meanings.
    """
    return _widest(low, min), _widest(high, max)


def _widest(value: Any, choose: Callable[[float, float], float]) -> float | None:
    if value is None:
        return None
    try:
        with np.errstate(over="ignore"):
            as_float = float(np.float32(str(value)))
        return choose(float(value), as_float)
    except ValueError:
        return None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not text")
    return value


def _date(value: Any) -> date:
    return value if isinstance(value, date) else date.fromisoformat(_text(value)[:10])


def _moment(logical: LogicalType, value: Any, *, smaller: bool) -> tuple[datetime, bool]:
    """A time. Writers cut to milliseconds, so a maximum may be up to one later than it says."""
    if isinstance(value, datetime):
        moment, cut = value, value.microsecond % 1000 == 0
    else:
        text = _text(value)
        moment = datetime.fromisoformat(text)
        cut = moment.microsecond % 1000 == 0
    zoned = logical.kind is Kind.TIMESTAMPTZ
    if zoned and moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if not zoned:
        moment = moment.replace(tzinfo=None)
    if not cut:
        return moment, True
    return (moment if smaller else moment + _MILLISECOND), False


@dataclass(frozen=True, slots=True)
class Unclear:
    """A partition's value that writers mean differently: bytes, and times without a zone."""


def partition_value(logical: LogicalType, text: str | None) -> str | Unclear | None:
    """The canonical string of a partition's value; None for NULL."""
    if not text:
        return None  # the format doesn't tell an empty string from NULL
    if logical.kind is Kind.BINARY or (logical.kind is Kind.TIMESTAMPTZ and not _ZONE.search(text)):
        return Unclear()
    try:
        typed = _partition_typed(logical, text)
        bound = lower_bound(logical, typed)
    except (InvalidValueError, ValueError, ArithmeticError):
        return Unclear()
    return bound.encoded if bound else Unclear()


def _partition_typed(logical: LogicalType, text: str) -> Any:
    match logical.kind:
        case Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
            return datetime.fromisoformat(text)
        case Kind.FLOAT | Kind.DOUBLE:
            return float(text)
        case Kind.INT:
            return int(text)
        case _:
            return text
