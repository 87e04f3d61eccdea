"""DECIMAL: exact, plain digits, no exponent, no zeros that don't count."""

import re
from decimal import Decimal
from typing import Final

from floecat.types.errors import InvalidValueError, shown
from floecat.types.values.unwrap import unwrap

MAX_DIGITS: Final = 1_000
"""As many before the point, and as many after it. An exponent is short to write and could ask for
gigabytes of zeros."""

_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?")


def read_decimal(value: object) -> Decimal:
    """A DECIMAL of a Decimal, an int or text. A float is refused: it isn't exactly what it shows.

    The type's precision and scale aren't enforced: files hold values outside them, and a bound
    that left those out would be wrong.
    """
    value = unwrap(value)
    match value:
        case Decimal() if value.is_finite():
            number = value
        case int() if not isinstance(value, bool) and value.bit_length() <= 4 * MAX_DIGITS:
            number = Decimal(value)
        case str() if _NUMBER.fullmatch(value):
            number = Decimal(value)
        case float():
            raise InvalidValueError(
                f"{shown(value)} is a float; give a Decimal or its digits as text"
            )
        case _:
            raise InvalidValueError(
                f"{shown(value)} isn't a decimal; give a finite Decimal or its text"
            )
    if number and (number.adjusted() >= MAX_DIGITS or _fraction_digits(number) > MAX_DIGITS):
        raise InvalidValueError(
            f"a decimal of more than {MAX_DIGITS} digits before or after the point has no "
            "canonical form"
        )
    return number


def format_decimal(value: Decimal) -> str:
    """Plain digits: `-0.00` is `0`, `1.50` is `1.5`, `1E+2` is `100`."""
    text = f"{value:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" or not value else text


def _fraction_digits(number: Decimal) -> int:
    return -int(number.as_tuple().exponent)


def unscaled(value: Decimal, scale: int) -> int:
    """The integer that is `value` × 10^`scale`; a value with more fraction digits is refused."""
    sign, digits, exponent = value.as_tuple()
    magnitude = int("".join(map(str, digits)))
    shift = int(exponent) + scale
    if shift >= 0:
        magnitude *= int(10**shift)
    else:
        magnitude, lost = divmod(magnitude, 10**-shift)
        if lost:
            raise InvalidValueError(f"{shown(value)} has more than {scale} digits after the point")
    return -magnitude if sign else magnitude


def scaled(unscaled_value: int, scale: int) -> Decimal:
    """The inverse of `unscaled`, exact at any size (the decimal context doesn't round it)."""
    digits = tuple(map(int, str(abs(unscaled_value))))
    return Decimal((int(unscaled_value < 0), digits, -scale))
