"""The kinds of logical types, by the numbers the contract gives them."""

from enum import IntEnum
from typing import Final


class Kind(IntEnum):
    """What a column's values mean. All integer widths are INT: 64 bits, signed."""

    BOOLEAN = 1
    INT = 2
    FLOAT = 3
    DOUBLE = 4
    DATE = 5
    TIME = 6
    TIMESTAMP = 7
    TIMESTAMPTZ = 8
    STRING = 9
    BINARY = 10
    UUID = 11
    DECIMAL = 12
    INTERVAL = 13
    JSON = 14
    ARRAY = 15
    MAP = 16
    STRUCT = 17
    VARIANT = 18

    @property
    def is_orderable(self) -> bool:
        """Whether values have a logical order, and so bounds."""
        return self not in _UNORDERED

    @property
    def is_temporal(self) -> bool:
        """Whether values have a fraction of a second."""
        return self in _TEMPORAL


class IntervalRange(IntEnum):
    """Which fields an INTERVAL has."""

    UNSPECIFIED = 0
    YEAR_TO_MONTH = 1
    DAY_TO_SECOND = 2


_UNORDERED: Final = frozenset(
    {Kind.INTERVAL, Kind.JSON, Kind.ARRAY, Kind.MAP, Kind.STRUCT, Kind.VARIANT}
)
_TEMPORAL: Final = frozenset({Kind.TIME, Kind.TIMESTAMP, Kind.TIMESTAMPTZ})
