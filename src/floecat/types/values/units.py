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


def numpy_moment(nanos: int, finest: str) -> np.datetime64:
    """A moment in numpy's unit `finest`, or the next coarser one whose 64 bits reach that far."""
    units = _MOMENT_UNITS[_MOMENT_UNITS.index(finest) :]
    unit = next(unit for unit in units if abs(nanos // _NANOS[unit]) < 1 << 63)
    moment: np.datetime64 = np.int64(nanos // _NANOS[unit]).astype(f"datetime64[{unit}]")
    return moment


def nanos_of_numpy(value: np.datetime64 | np.timedelta64) -> int:
    """The count of a numpy value in nanoseconds, exact whatever the year."""
    if np.isnat(value):
        raise InvalidValueError("NaT is numpy's NULL; leave the bound unset")
    unit, step = np.datetime_data(value.dtype)
    if unit in {"Y", "M"} and isinstance(value, np.datetime64):
        value, unit, step = value.astype("datetime64[D]"), "D", 1
    if unit not in _NANOS:
        raise InvalidValueError(
            f"{shown(value)} counts in {unit!r}; use nanoseconds or a coarser unit"
        )
    return int(value.astype(np.int64)) * step * _NANOS[unit]
