"""INTERVAL: months, days and nanoseconds apart, since none converts into another.

Intervals have no order here. A bound that others supply is kept, as an ISO 8601 duration.
"""

import re
from datetime import timedelta
from typing import Final

import numpy as np
import pyarrow as pa

from floecat.types.errors import InvalidValueError, shown
from floecat.types.values.units import NANOS_PER_DAY, NANOS_PER_SECOND, nanos_of_numpy, nanos_per
from floecat.types.values.unwrap import unwrap

_NUMBER: Final = r"([+-]?[0-9]{1,18})"
_DURATION: Final = re.compile(
    rf"([+-]?)P(?=[0-9T+-])(?:{_NUMBER}Y)?(?:{_NUMBER}M)?(?:{_NUMBER}W)?(?:{_NUMBER}D)?"
    rf"(?:T(?=[0-9+-])(?:{_NUMBER}H)?(?:{_NUMBER}M)?"
    r"(?:([+-]?)([0-9]{1,18})(?:[.,]([0-9]{1,9}))?S)?)?",
    re.IGNORECASE,
)


def read_interval(value: object) -> pa.MonthDayNano:
    """An INTERVAL of a timedelta, a numpy or pyarrow duration, or an ISO 8601 duration."""
    value = unwrap(value)
    match value:
        case pa.MonthDayNano():
            return interval_of_parts(*value)
        case timedelta():
            return _of_nanos(value // timedelta(microseconds=1) * 1_000)
        case pa.DurationScalar():
            return _of_nanos(int(value.value) * nanos_per(value.type.unit))
        case np.timedelta64():
            return _of_numpy(value)
        case str():
            return _of_text(value)
        case _:
            raise InvalidValueError(
                f"{shown(value)} isn't an interval; give a timedelta or a duration such as P1DT2H"
            )


def interval_of_parts(months: int, days: int, nanos: int) -> pa.MonthDayNano:
    """An INTERVAL; parts that are too large for it are refused."""
    if not (_fits(months, 32) and _fits(days, 32) and _fits(nanos, 64)):
        raise InvalidValueError("the interval is longer than 32-bit months and days can say")
    return pa.MonthDayNano([months, days, nanos])


def format_interval(interval: pa.MonthDayNano) -> str:
    """An ISO 8601 duration: `P1Y2M`, `P3DT4H`, `PT-0.5S`; nothing at all is `PT0S`."""
    months, days, nanos = interval
    years, months = _towards_zero(months, 12)
    seconds, fraction = _towards_zero(nanos, NANOS_PER_SECOND)
    hours, seconds = _towards_zero(seconds, 3_600)
    minutes, seconds = _towards_zero(seconds, 60)
    date = _parts((years, "Y"), (months, "M"), (days, "D"))
    clock = _parts((hours, "H"), (minutes, "M")) + _seconds(seconds, fraction)
    return f"P{date}T{clock}" if clock else f"P{date}" if date else "PT0S"


def _of_text(text: str) -> pa.MonthDayNano:
    found = _DURATION.fullmatch(text)
    if found is None:
        raise InvalidValueError(
            f"{shown(text)} isn't an ISO 8601 duration, such as P1Y2M or P1DT2H3.5S"
        )
    sign = -1 if found[1] == "-" else 1
    years, months, weeks, days, hours, minutes = (int(found[i] or 0) for i in range(2, 8))
    seconds = int(found[9] or 0) * NANOS_PER_SECOND + int((found[10] or "").ljust(9, "0"))
    nanos = (hours * 60 + minutes) * 60 * NANOS_PER_SECOND
    nanos += -seconds if found[8] == "-" else seconds
    return interval_of_parts(sign * (years * 12 + months), sign * (weeks * 7 + days), sign * nanos)


def _of_numpy(value: np.timedelta64) -> pa.MonthDayNano:
    unit, step = np.datetime_data(value.dtype)
    if unit in {"Y", "M"} and not np.isnat(value):
        months = int(value.astype(np.int64)) * step * (12 if unit == "Y" else 1)
        return interval_of_parts(months, 0, 0)
    return _of_nanos(nanos_of_numpy(value))


def _of_nanos(nanos: int) -> pa.MonthDayNano:
    """A duration's days, and what is left of it, both with its sign: -1 s isn't P-1DT23H59M59S."""
    return interval_of_parts(0, *_towards_zero(nanos, NANOS_PER_DAY))


def _fits(number: int, bits: int) -> bool:
    return -(1 << (bits - 1)) <= number < 1 << (bits - 1)


def _towards_zero(count: int, size: int) -> tuple[int, int]:
    """Quotient and remainder that both have the sign of `count`."""
    quotient, remainder = divmod(abs(count), size)
    return (quotient, remainder) if count >= 0 else (-quotient, -remainder)


def _parts(*parts: tuple[int, str]) -> str:
    return "".join(f"{count}{letter}" for count, letter in parts if count)


def _seconds(seconds: int, fraction: int) -> str:
    if not seconds and not fraction:
        return ""
    sign = "-" if seconds < 0 or fraction < 0 else ""
    digits = f"{abs(fraction):09d}".rstrip("0")
    return f"{sign}{abs(seconds)}{'.' if digits else ''}{digits}S"
