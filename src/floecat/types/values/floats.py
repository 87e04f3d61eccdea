"""FLOAT and DOUBLE: the text `Float.toString` and `Double.toString` give in a JDK of 19 or newer.

That is the shortest decimal that reads back as the same number: plain from 10⁻³ up to 10⁷, else in
computerised scientific notation, and never fewer than two digits.
"""

import math
import re
from decimal import Decimal
from typing import Final

import numpy as np
import pyarrow as pa

from floecat.types.errors import InvalidValueError, shown
from floecat.types.values.unwrap import unwrap

PLAIN_FROM: Final = 1e-3
PLAIN_BELOW: Final = 1e7

_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?")
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
    """A DOUBLE of a number or its text: the double nearest to it."""
    number = unwrap(value)
    if isinstance(number, float):
        return number
    number = _exact(number)
    nearest = _nearest_double(number)
    if math.isinf(nearest) and nearest != number:
        raise InvalidValueError(f"{shown(value)} is too large for DOUBLE; make it a DECIMAL")
    return nearest


def read_float(value: object) -> float:
    """A FLOAT of a number or its text: the float32 nearest to it, as a Python float."""
    number = _exact(unwrap(value))
    nearest = _nearest_float(number)
    if math.isinf(nearest) and nearest != number:
        raise InvalidValueError(f"{shown(value)} is too large for FLOAT; make the column a DOUBLE")
    return nearest


def enclose_in_doubles(value: object) -> tuple[float, float]:
    """The nearest doubles that aren't above and aren't below a number: the same if it is one.

    A double's own text is that double; other text is the number it says.
    """
    number = _exact(unwrap(value))
    nearest = _nearest_double(number)
    if isinstance(number, Decimal) and number == Decimal(format_double(nearest)):
        return nearest, nearest
    low = math.nextafter(nearest, -math.inf) if nearest > number else nearest
    high = math.nextafter(nearest, math.inf) if nearest < number else nearest
    return low, high


def enclose_in_floats(value: object) -> tuple[float, float]:
    """`enclose_in_doubles`, in float32s."""
    number = _exact(unwrap(value))
    nearest = _nearest_float(number)
    if isinstance(number, Decimal) and number == Decimal(format_float(nearest)):
        return nearest, nearest
    low = _next_float(nearest, -math.inf) if nearest > number else nearest
    high = _next_float(nearest, math.inf) if nearest < number else nearest
    return low, high


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


def _exact(value: object) -> float | Decimal:
    """The number itself, before anything rounds it. Python compares all of these exactly."""
    match value:
        case float():
            return value
        case int() if not isinstance(value, bool):
            return value
        case str() if _NUMBER.fullmatch(value):
            return Decimal(value)
        case str() if _SPECIAL.fullmatch(value):
            return float(value)
        case _:
            raise InvalidValueError(f"{shown(value)} isn't a floating-point number; give a float")


def _nearest_double(number: float | Decimal) -> float:
    """The double nearest to a number; an infinity when all are too small."""
    try:
        return float(number)
    except OverflowError:  # only integers do that
        return math.inf if number > 0 else -math.inf


def _nearest_float(number: float | Decimal) -> float:
    """The float32 nearest to a number; an infinity when all are too small.

    A float64 in between would round twice, so text is left to Arrow's parser, which rounds once.
    """
    if isinstance(number, Decimal):
        return float(pa.scalar(str(number)).cast(pa.float32()).as_py())
    with np.errstate(over="ignore"):
        return float(np.float32(_nearest_double(number)))


def _next_float(value: float, towards: float) -> float:
    with np.errstate(over="ignore"):  # behind the largest comes infinity
        return float(np.nextafter(np.float32(value), np.float32(towards)))
