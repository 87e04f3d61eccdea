"""Bounds: a canonical string that no value passes, and whether a value is exactly there."""

import math
from dataclasses import dataclass
from typing import Any, Final

from floecat.types.kinds import Kind
from floecat.types.logical import MAX_TEMPORAL_PRECISION, LogicalType
from floecat.types.policy import TimestampPolicy
from floecat.types.values.floats import enclose_in_doubles, enclose_in_floats
from floecat.types.values.plain import Plain, format_value, read_value
from floecat.types.values.temporal import read_moment
from floecat.types.values.units import NANOS_PER_DAY, NANOS_PER_SECOND

_DEFAULT_POLICY: Final = TimestampPolicy()


@dataclass(frozen=True, slots=True)
class Bound:
    """A minimum or maximum. It is tight when it is a value of the column, not only beyond all."""

    encoded: str
    is_tight: bool


def lower_bound(
    logical: LogicalType,
    value: object,
    *,
    is_tight: bool = True,
    policy: TimestampPolicy = _DEFAULT_POLICY,
) -> Bound | None:
    """The bound for a minimum, or None when the type or the value has none.

    What the type can't hold exactly is rounded down, and the bound is then not tight.
    """
    if not logical.kind.is_orderable:
        return None
    low, high = _enclose(logical, value, policy)
    return _bound(logical, low, is_tight=is_tight and low == high)


def upper_bound(
    logical: LogicalType,
    value: object,
    *,
    is_tight: bool = True,
    policy: TimestampPolicy = _DEFAULT_POLICY,
) -> Bound | None:
    """The bound for a maximum, or None when the type or the value has none.

    What the type can't hold exactly is rounded up, and the bound is then not tight.
    """
    if not logical.kind.is_orderable:
        return None
    low, high = _enclose(logical, value, policy)
    return _bound(logical, high, is_tight=is_tight and low == high)


def _bound(logical: LogicalType, plain: Plain, *, is_tight: bool) -> Bound | None:
    if isinstance(plain, float) and math.isnan(plain):
        return None  # NaN is counted, and bounds nothing
    if logical.kind is Kind.TIME and plain == NANOS_PER_DAY:
        return None  # a time of day has no 24:00:00, and anything less would leave a value out
    return Bound(format_value(logical, plain), is_tight)


def _enclose(logical: LogicalType, value: object, policy: TimestampPolicy) -> tuple[Plain, Plain]:
    """The plain values, exact in the type's strings, that are below and above a value.

    Nothing from the value on is below the first, and nothing up to it above the second. Both are
    the value itself when that can be said of it.
    """
    match logical.kind:
        case Kind.FLOAT:
            return enclose_in_floats(value)
        case Kind.DOUBLE:
            return enclose_in_doubles(value)
        case Kind.TIMESTAMP:
            moment = read_moment(value)
            if moment.is_wall_clock:
                return _whole_units(logical, moment.nanos, moment.nanos)
            # A clock that is put back shows some times twice, and not in the order of instants.
            low, high = policy.earliest_from(moment.nanos), policy.latest_until(moment.nanos)
            return _whole_units(logical, low, high)
        case Kind.TIME | Kind.TIMESTAMPTZ:
            nanos: Any = read_value(logical, value, policy)
            return _whole_units(logical, nanos, nanos)
        case _:
            plain = read_value(logical, value, policy)
            return plain, plain


def _whole_units(logical: LogicalType, low: int, high: int) -> tuple[int, int]:
    """The times rounded outwards to the last digit that is written."""
    precision = logical.temporal_precision
    digits = MAX_TEMPORAL_PRECISION if precision is None else precision
    unit = int(NANOS_PER_SECOND // 10**digits)
    return low // unit * unit, -(-high // unit) * unit
