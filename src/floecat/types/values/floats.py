"""FLOAT and DOUBLE: the text `Float.toString` and `Double.toString` give in a JDK of 19 or newer.

That is the shortest decimal that reads back as the same number: plain from 10⁻³ up to 10⁷, else in
computerised scientific notation, and never fewer than two digits.
"""

import math
import re
from typing import Final

import numpy as np
import pyarrow as pa

from floecat.types.errors import InvalidValueError, shown
from floecat.types.values.unwrap import unwrap

PLAIN_FROM: Final = 1e-3
PLAIN_BELOW: Final = 1e7

_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPECIAL: Final = re.compile(r"([+-]?)(nan|inf(?:inity)?)", re.IGNORECASE)


def format_double(value: float) -> str:
    """What `Double.toString` says."""
    shortest = repr(value)
    return shortest if _is_plain(value) else _special_or_scientific(value, shortest)


def format_float(value: float) -> str:
    """What `Float.toString` says of a value that a float32 holds exactly."""
    single = np.float32(value)
    if _is_plain(value):
        return np.format_float_positional(single, unique=True, trim="0")
    return _special_or_scientific(value, str(single))


def canonical_double(value: float) -> str:
    """The canonical string: Java's, but `-0.0` is `0.0`."""
    return format_double(value + 0.0)


def canonical_float(value: float) -> str:
    """The canonical string: Java's, but `-0.0` is `0.0`."""
    return format_float(value + 0.0)


def read_double(value: object) -> float:
    """A DOUBLE of a number or its text."""
    value = unwrap(value)
    match value:
        case float():
            return value
        case int() if not isinstance(value, bool):
            return _exact_double(value)
        case str():
            return _number(value)
        case _:
            raise InvalidValueError(f"{shown(value)} isn't a floating-point number; give a float")


def read_float(value: object) -> float:
    """A FLOAT of a number or its text: the float32 nearest to it, as a Python float."""
    value = unwrap(value)
    if isinstance(value, str):
        return _nearest_float_of_text(value)
    double = read_double(value)
    with np.errstate(over="ignore"):
        nearest = float(np.float32(double))
    if math.isinf(nearest) and not math.isinf(double):
        raise InvalidValueError(f"{shown(double)} is too large for FLOAT; make the column a DOUBLE")
    return nearest


def order_of_float(value: float) -> tuple[bool, float]:
    """A sort key: NaN comes after everything else and equals itself, as in Java."""
    return (True, 0.0) if math.isnan(value) else (False, value)


def _is_plain(value: float) -> bool:
    return PLAIN_FROM <= abs(value) < PLAIN_BELOW or value == 0


def _special_or_scientific(value: float, shortest: str) -> str:
    if math.isfinite(value):
        return _scientific(value, shortest)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _scientific(value: float, shortest: str) -> str:
    sign = "-" if value < 0 else ""
    plain, _, power = shortest.lstrip("-").partition("e")
    whole, _, fraction = plain.partition(".")
    if power and fraction:
        return f"{sign}{plain}E{int(power)}"
    digits = (whole + fraction).lstrip("0")
    exponent = int(power or 0) + len(whole) - 1 - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if len(digits) == 1:
        # Of the decimals with two digits the nearest counts, so 4.9E-324 and not 5.0E-324.
        mantissa, _, power = f"{abs(value):.1e}".partition("e")
        return f"{sign}{mantissa}E{int(power)}"
    return f"{sign}{digits[0]}.{digits[1:]}E{exponent}"


def _exact_double(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        raise InvalidValueError("the integer is too large for DOUBLE") from None


def _number(text: str) -> float:
    if _NUMBER.fullmatch(text) or _SPECIAL.fullmatch(text):
        return float(text)
    raise InvalidValueError(f"{shown(text)} isn't a floating-point number")


def _nearest_float_of_text(text: str) -> float:
    """Reading a float32 by way of a float64 would round twice; Arrow's parser rounds once."""
    double = _number(text)
    if not math.isfinite(double):
        if _SPECIAL.fullmatch(text):
            return double
    else:
        nearest = float(pa.scalar(text.lstrip("+")).cast(pa.float32()).as_py())
        if math.isfinite(nearest):
            return nearest
    raise InvalidValueError(f"{shown(text)} is too large for FLOAT; make the column a DOUBLE")
