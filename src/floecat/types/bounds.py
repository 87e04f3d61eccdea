"""Bounds: a canonical string that no value passes, and whether a value is exactly there."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from floecat.types.kinds import Kind
from floecat.types.logical import MAX_TEMPORAL_PRECISION, LogicalType
from floecat.types.policy import TimestampPolicy
from floecat.types.values.plain import format_value, read_value
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

    Time beyond the type's precision is cut off towards the past, and the bound is then not tight.
    """
    return _bound(logical, value, _round_down, policy, is_tight=is_tight)


def upper_bound(
    logical: LogicalType,
    value: object,
    *,
    is_tight: bool = True,
    policy: TimestampPolicy = _DEFAULT_POLICY,
) -> Bound | None:
    """The bound for a maximum, or None when the type or the value has none.

    Time beyond the type's precision is rounded towards the future, and the bound then not tight.
    """
    return _bound(logical, value, _round_up, policy, is_tight=is_tight)


def _bound(
    logical: LogicalType,
    value: object,
    round_to_unit: Callable[[int, int], int],
    policy: TimestampPolicy,
    *,
    is_tight: bool,
) -> Bound | None:
    if not logical.kind.is_orderable:
        return None
    plain = rounded = read_value(logical, value, policy)
    if isinstance(plain, float) and math.isnan(plain):
        return None  # NaN is counted, and bounds nothing
    if logical.kind.is_temporal and isinstance(plain, int):
        rounded = round_to_unit(plain, _unit_nanos(logical))
    if logical.kind is Kind.TIME and rounded == NANOS_PER_DAY:
        return None  # a time of day has no 24:00:00, and anything less would leave a value out
    return Bound(format_value(logical, rounded), is_tight and rounded == plain)


def _round_down(count: int, unit: int) -> int:
    return count // unit * unit


def _round_up(count: int, unit: int) -> int:
    return -(-count // unit) * unit


def _unit_nanos(logical: LogicalType) -> int:
    precision = logical.temporal_precision
    digits = MAX_TEMPORAL_PRECISION if precision is None else precision
    return int(NANOS_PER_SECOND // 10**digits)
