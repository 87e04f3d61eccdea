"""Units of time: how many nanoseconds each has."""

from types import MappingProxyType
from typing import Final

import numpy as np

from floecat.types.errors import InvalidValueError, shown

NANOS_PER_SECOND: Final = 1_000_000_000
NANOS_PER_DAY: Final = 86_400 * NANOS_PER_SECOND
MICROS_PER_DAY: Final = 86_400_000_000

_NANOS: Final = MappingProxyType(
    {
        "ns": 1,
        "us": 1_000,
        "ms": 1_000_000,
        "s": NANOS_PER_SECOND,
        "m": 60 * NANOS_PER_SECOND,
        "h": 3_600 * NANOS_PER_SECOND,
        "D": NANOS_PER_DAY,
        "W": 7 * NANOS_PER_DAY,
    }
)


_MOMENT_UNITS: Final = ("ns", "us", "ms", "s")


def nanos_per(unit: str) -> int:
    """Nanoseconds in one `unit`, by numpy's and pyarrow's names (`s`, `ms`, `us`, `ns`, …)."""
    return _NANOS[unit]


def find_numpy_moment(nanos: int, finest: str) -> np.datetime64 | None:
    """A moment in numpy's unit `finest` or a coarser one, exactly; None when no unit holds it.

    Numpy's 64 bits reach far or count finely, and not both.
    """
    for unit in _MOMENT_UNITS[_MOMENT_UNITS.index(finest) :]:
        count, lost = divmod(nanos, _NANOS[unit])
        if not lost and abs(count) < 1 << 63:
            moment: np.datetime64 = np.int64(count).astype(f"datetime64[{unit}]")
            return moment
    return None


def nanos_of_numpy(value: np.datetime64 | np.timedelta64) -> int:
    """The count of a numpy value in nanoseconds, exact whatever the year."""
    if np.isnat(value):
        raise InvalidValueError("NaT is numpy's NULL; leave the bound unset")
    unit, step = np.datetime_data(value.dtype)
    if unit in {"Y", "M"} and isinstance(value, np.datetime64):
        value, unit, step = _first_day(value), "D", 1
    if unit not in _NANOS:
        raise InvalidValueError(
            f"{shown(value)} counts in {unit!r}; use nanoseconds or a coarser unit"
        )
    return int(value.astype(np.int64)) * step * _NANOS[unit]


def _first_day(value: np.datetime64) -> np.datetime64:
    """The first day of a year or month."""
    day: np.datetime64 = value.astype("datetime64[D]")
    if day.astype(value.dtype) != value:  # numpy wraps around instead of refusing
        raise InvalidValueError(f"{shown(value)} is further away than days can count")
    return day
