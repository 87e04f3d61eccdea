"""TIME, TIMESTAMP and TIMESTAMPTZ as nanosecond counts, and their ISO text.

Counts are Python integers: no year overflows and no nanosecond is lost before it must be. A bare
number is refused, since nothing says its unit.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Final

import numpy as np
import pyarrow as pa

from floecat.types.errors import InvalidValueError, shown
from floecat.types.values.calendar import DATE_PATTERN, check_day, days_of, format_date
from floecat.types.values.units import (
    NANOS_PER_DAY,
    NANOS_PER_SECOND,
    find_numpy_moment,
    nanos_of_numpy,
    nanos_per,
)
from floecat.types.values.unwrap import unwrap

_TIME_PATTERN: Final = r"([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?"
_ZONE_PATTERN: Final = (
    r"(?:(?P<utc>Z|UTC)|(?P<sign>[+-])(?P<h>[0-9]{2})(?::?(?P<m>[0-9]{2})(?::?(?P<s>[0-9]{2}))?)?)"
)
_TIME: Final = re.compile(_TIME_PATTERN)
# Java appends a zone's name in brackets; the offset before it already says everything.
_TIMESTAMP: Final = re.compile(
    rf"{DATE_PATTERN}[Tt ]{_TIME_PATTERN}(?: ?{_ZONE_PATTERN}(?:\[[^\]]+\])?)?", re.IGNORECASE
)
_PYTHON_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_PYTHON_DAY: Final = days_of(1, 1, 1)
_LAST_PYTHON_DAY: Final = days_of(9999, 12, 31)


@dataclass(frozen=True, slots=True)
class Moment:
    """Nanoseconds since 1970-01-01T00:00:00, and which kinds of timestamp they may be.

    An instant counts from UTC; a wall clock knows no zone. numpy's datetime64 doesn't tell the two
    apart, so it is both. Any year and any nanosecond go together, as they do in no other class.
    """

    nanos: int
    is_instant: bool = True
    is_wall_clock: bool = True

    def __post_init__(self) -> None:
        check_day(self.nanos // NANOS_PER_DAY)


def read_time(value: object) -> int:
    """A TIME, as nanoseconds since midnight, of a time of day or ISO text."""
    value = unwrap(value)
    match value:
        case time() if value.tzinfo is None:
            seconds = (value.hour * 60 + value.minute) * 60 + value.second
            return seconds * NANOS_PER_SECOND + value.microsecond * 1_000
        case pa.Time32Scalar() | pa.Time64Scalar():
            return within_day(int(value.value) * nanos_per(value.type.unit))
        case np.timedelta64():
            return within_day(nanos_of_numpy(value))
        case str():
            return _nanos_of_time_text(value)
        case _:
            raise InvalidValueError(
                f"{shown(value)} isn't a time of day; give a time without a zone or HH:MM:SS"
            )


def read_moment(value: object) -> Moment:
    """A TIMESTAMP or TIMESTAMPTZ of a typed value or ISO text."""
    value = unwrap(value)
    match value:
        case Moment():
            return value
        case datetime():
            return _moment_of_datetime(value)
        case pa.TimestampScalar():
            zoned = value.type.tz is not None
            return Moment(int(value.value) * nanos_per(value.type.unit), zoned, not zoned)
        case np.datetime64():
            return Moment(nanos_of_numpy(value), is_instant=True, is_wall_clock=True)
        case str():
            return _moment_of_text(value)
        case _:
            raise InvalidValueError(
                f"{shown(value)} isn't a timestamp; give a datetime or YYYY-MM-DDTHH:MM:SS "
                "(a number's unit would be a guess)"
            )


def format_time(nanos: int, precision: int | None) -> str:
    """`HH:MM:SS` and the fraction: exactly `precision` digits, or up to six without zeros."""
    seconds, fraction = divmod(nanos, NANOS_PER_SECOND)
    minutes, second = divmod(seconds, 60)
    text = f"{minutes // 60:02d}:{minutes % 60:02d}:{second:02d}"
    digits = f"{fraction:09d}"
    digits = digits[:6].rstrip("0") if precision is None else digits[:precision]
    return f"{text}.{digits}" if digits else text


def format_timestamp(nanos: int, precision: int | None) -> str:
    """`YYYY-MM-DDTHH:MM:SS` and the fraction, as `format_time` has it."""
    days, of_day = divmod(nanos, NANOS_PER_DAY)
    return f"{format_date(days)}T{format_time(of_day, precision)}"


def python_time(nanos: int) -> time:
    """The time of day, to the microsecond."""
    seconds, fraction = divmod(nanos, NANOS_PER_SECOND)
    return time(seconds // 3600, seconds // 60 % 60, seconds % 60, fraction // 1_000)


def python_instant(nanos: int) -> datetime | np.datetime64 | Moment:
    """The aware datetime in UTC, to the microsecond; in years that Python hasn't, numpy's."""
    if _FIRST_PYTHON_DAY <= nanos // NANOS_PER_DAY <= _LAST_PYTHON_DAY:
        return _PYTHON_EPOCH + timedelta(microseconds=nanos // 1_000)
    return numpy_moment(nanos // 1_000 * 1_000, "us")


def python_wall_clock(nanos: int) -> datetime | np.datetime64 | Moment:
    """The naive datetime, to the microsecond; in years that Python hasn't, numpy's."""
    instant = python_instant(nanos)
    return instant.replace(tzinfo=None) if isinstance(instant, datetime) else instant


def numpy_moment(nanos: int, finest: str) -> np.datetime64 | Moment:
    """A datetime64 in the unit `finest` or a coarser one, or a Moment when none is exact."""
    found = find_numpy_moment(nanos, finest)
    return Moment(nanos) if found is None else found


def _moment_of_datetime(value: datetime) -> Moment:
    offset = value.utcoffset()
    since = value.replace(tzinfo=UTC) - _PYTHON_EPOCH - (offset or timedelta())
    micros = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    # pandas' Timestamp is a datetime that keeps nanoseconds beside the microseconds.
    nanos = micros * 1_000 + int(getattr(value, "nanosecond", 0))
    return Moment(nanos, offset is not None, offset is None)


def _moment_of_text(text: str) -> Moment:
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        raise InvalidValueError(
            f"{shown(text)} isn't a timestamp; write YYYY-MM-DDTHH:MM:SS[.ffffff], with Z or an "
            "offset if it is an instant"
        )
    days = days_of(int(found[1]), int(found[2]), int(found[3]))
    nanos = days * NANOS_PER_DAY + _nanos_of_day(text, found[4], found[5], found[6], found[7])
    if found["utc"]:
        return Moment(nanos, is_instant=True, is_wall_clock=False)
    if found["sign"] is None:
        return Moment(nanos, is_instant=False, is_wall_clock=True)
    offset = _nanos_of_day(text, found["h"], found["m"] or "00", found["s"], None)
    nanos += offset if found["sign"] == "-" else -offset
    return Moment(nanos, is_instant=True, is_wall_clock=False)


def _nanos_of_time_text(text: str) -> int:
    found = _TIME.fullmatch(text)
    if found is None:
        raise InvalidValueError(f"{shown(text)} isn't a time of day; write HH:MM:SS[.ffffff]")
    return _nanos_of_day(text, found[1], found[2], found[3], found[4])


def _nanos_of_day(
    text: str, hour: str, minute: str, second: str | None, fraction: str | None
) -> int:
    hours, minutes, seconds = int(hour), int(minute), int(second or 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        raise InvalidValueError(f"{shown(text)}: a time of day is 00:00:00 to 23:59:59.999999")
    whole = ((hours * 60 + minutes) * 60 + seconds) * NANOS_PER_SECOND
    return whole + int((fraction or "").ljust(9, "0"))


def within_day(nanos: int) -> int:
    """The nanoseconds after midnight, if they are within a day."""
    if not 0 <= nanos < NANOS_PER_DAY:
        raise InvalidValueError(
            f"{nanos} ns after midnight isn't a time of day: 00:00:00 to 23:59:59.999999"
        )
    return nanos
