"""DATE: days since 1970-01-01 in the proleptic Gregorian calendar, and their ISO text.

Python's `date` ends at the years 1 and 9999; sources don't. The calendar repeats every 400 years,
so any year is computed as one of Python's and shifted.
"""

import re
from datetime import date, datetime
from decimal import Decimal
from typing import Final

import numpy as np
import pyarrow as pa

from floecat.types.errors import InvalidValueError, shown
from floecat.types.values.units import NANOS_PER_DAY, nanos_of_numpy
from floecat.types.values.unwrap import unwrap

DATE_PATTERN: Final = r"([+-]?[0-9]{4,12})-([0-9]{2})-([0-9]{2})"
MIN_FOUR_DIGIT_DAY: Final = -719_528
"""0000-01-01: from here to 9999-12-31 a year has four digits and no sign."""
MAX_FOUR_DIGIT_DAY: Final = 2_932_896

MILLIS_PER_DAY: Final = 86_400_000
_EPOCH: Final = date(1970, 1, 1).toordinal()
_CYCLE_YEARS: Final = 400
_CYCLE_DAYS: Final = 146_097
_DATE: Final = re.compile(DATE_PATTERN)
_MAX_EPOCH_DAY: Final = 1 << 48
"""More than any 64-bit count of seconds reaches, and a year of twelve digits at most."""


def read_date(value: object) -> int:
    """A DATE, as days since the epoch, of a date, whole epoch days or ISO text."""
    return check_day(_read_days(unwrap(value)))


def check_day(days: int) -> int:
    """The days since the epoch, unless they are so many that their text couldn't be read back."""
    if abs(days) > _MAX_EPOCH_DAY:
        raise InvalidValueError(f"{shown(days)} days from 1970-01-01 is too far away")
    return days


def _read_days(value: object) -> int:
    match value:
        case datetime():
            raise InvalidValueError(f"{shown(value)} is a timestamp; give its date for a DATE")
        case date():
            return value.toordinal() - _EPOCH
        case np.datetime64():
            return _whole_days_of_numpy(value)
        case pa.Date32Scalar():
            return int(value.value)
        case pa.Date64Scalar():
            return int(value.value) // MILLIS_PER_DAY
        case bool():
            raise InvalidValueError(f"{shown(value)} isn't a date")
        case int() | float() | Decimal():
            return _whole_days(value)
        case str():
            return _days_of_text(value)
        case _:
            raise InvalidValueError(f"{shown(value)} isn't a date; give a date or YYYY-MM-DD")


def format_date(days: int) -> str:
    """ISO text; years outside 0000 to 9999 carry a sign, as ISO 8601 wants."""
    cycles, day = divmod(days + _EPOCH - 1, _CYCLE_DAYS)
    within = date.fromordinal(day + 1)
    year = within.year + cycles * _CYCLE_YEARS
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04d}-{within.month:02d}-{within.day:02d}"


def days_of(year: int, month: int, day: int) -> int:
    """Days since the epoch of a date in any year; a day that doesn't exist is refused."""
    cycles, within = divmod(year - 1, _CYCLE_YEARS)
    try:
        ordinal = date(within + 1, month, day).toordinal()
    except ValueError:
        raise InvalidValueError(f"there is no day {year:04d}-{month:02d}-{day:02d}") from None
    return ordinal - _EPOCH + cycles * _CYCLE_DAYS


def python_date(days: int) -> date | np.datetime64:
    """The date; in years that Python's class hasn't, numpy's."""
    ordinal = days + _EPOCH
    if 1 <= ordinal <= date.max.toordinal():
        return date.fromordinal(ordinal)
    return np.datetime64(days, "D")


def _days_of_text(text: str) -> int:
    found = _DATE.fullmatch(text)
    if found is None:
        raise InvalidValueError(f"{shown(text)} isn't a date; write YYYY-MM-DD")
    return days_of(int(found[1]), int(found[2]), int(found[3]))


def _whole_days(value: float | Decimal) -> int:
    number = Decimal(value)
    is_countable = number.is_finite() and abs(number) <= _MAX_EPOCH_DAY
    if not is_countable or number != number.to_integral_value():
        raise InvalidValueError(f"{shown(value)} isn't a whole number of days since 1970-01-01")
    return int(number)


def _whole_days_of_numpy(value: np.datetime64) -> int:
    days, rest = divmod(nanos_of_numpy(value), NANOS_PER_DAY)
    if rest:
        raise InvalidValueError(f"{shown(value)} has a time of day; give its date for a DATE")
    return days
