"""The logical order of values and of canonical strings, which isn't the order of characters.

False before true; numbers by size, NaN last and equal to itself; times from past to future; text
by code points (so by UTF-8 bytes); bytes and UUIDs as unsigned bytes. Other kinds have no order,
and bounds of theirs are ignored.
"""

from collections.abc import Callable
from typing import Any, Final

from floecat.types.errors import NotOrderableError
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType
from floecat.types.policy import TimestampPolicy
from floecat.types.values.floats import order_of_float, read_double, read_float
from floecat.types.values.plain import read_value

SortKey = Callable[[object], Any]
Comparator = Callable[[object, object], int]

_DEFAULT_POLICY: Final = TimestampPolicy()


def sort_key(logical: LogicalType, policy: TimestampPolicy = _DEFAULT_POLICY) -> SortKey:
    """A key for `sorted`, `min` and `max` over values, canonical strings, or a mix of the two."""
    if not logical.kind.is_orderable:
        raise NotOrderableError(f"{logical} has no order; ignore bounds of such columns")
    if logical.kind is Kind.FLOAT:
        return lambda value: order_of_float(read_float(value))
    if logical.kind is Kind.DOUBLE:
        return lambda value: order_of_float(read_double(value))
    return lambda value: read_value(logical, value, policy)


def comparator(logical: LogicalType, policy: TimestampPolicy = _DEFAULT_POLICY) -> Comparator:
    """Negative, zero or positive as the first is less than, equal to or greater than the second.

    Both may be values or canonical strings.
    """
    key = sort_key(logical, policy)

    def compare(first: object, second: object) -> int:
        left, right = key(first), key(second)
        return int(left > right) - int(left < right)

    return compare
