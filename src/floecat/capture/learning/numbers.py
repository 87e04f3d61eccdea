"""Forms of numbers: how values that are whole numbers inside are counted, hashed and written.

INT, BOOLEAN, DATE, TIME, TIMESTAMP and DECIMAL are: days, microseconds, unscaled digits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any, Final

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds
from numpy.typing import NDArray

from floecat.capture.columns import WantedColumn
from floecat.sketches.hashing import Integers, hash_bytes, hash_decimals, hash_integers
from floecat.sketches.murmur import Words
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType

_NANOS: Final = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
_DAY_MICROS: Final = 86_400_000_000
_DAY_MILLIS: Final = 86_400_000
_MAX_PRECISION: Final = 38
_ALL_DIGITS: Final = Context(prec=100)
_NUMBERS: Final = frozenset(
    {Kind.BOOLEAN, Kind.INT, Kind.DATE, Kind.TIME, Kind.TIMESTAMP, Kind.TIMESTAMPTZ, Kind.DECIMAL}
)


class WrongTypeError(ValueError):
    """A file's values aren't of the column's type."""


@dataclass(frozen=True, slots=True)
class NumberForm:
    """How one column's values in one file become numbers, and numbers values again."""

    logical: LogicalType
    unit: str
    """Of times, in the file: s, ms, us or ns."""
    hashed_unit: str
    """Of times, in the schema."""
    width: int
    """Bytes of a value; of an INT or a time also what is hashed."""
    in_words: bool = False
    """Whether the file has a word or less for each value, so no decimal in it is longer."""

    @property
    def has_ranks(self) -> bool:
        """Whether quantiles mean something."""
        return self.logical.kind is not Kind.BOOLEAN

    @property
    def written_step(self) -> int:
        """How many numbers in a row share a canonical string: those have no nanoseconds."""
        return _NANOS["us"] if self.unit == "ns" else 1

    def numbers(self, array: pa.Array) -> Integers | None:
        """The numbers of an array without nulls; None if some don't fit a word."""
        kind = array.type
        if self.logical.kind is Kind.DECIMAL and kinds.is_integer(kind):
            # A column that was made wider: whole numbers have no scale of their own.
            return self._unscaled(array.cast(pa.decimal128(_MAX_PRECISION, 0)))
        if kinds.is_decimal(kind):
            return self._unscaled(array, in_words=self.in_words)
        if kinds.is_boolean(kind):
            array = array.cast(pa.uint8())
        elif kinds.is_date64(kind):
            return _integers(array.view(pa.int64())) // _DAY_MILLIS
        elif kinds.is_date32(kind) and self.logical.kind is not Kind.DATE:
            return _integers(array.view(pa.int32())) * _DAY_MICROS
        elif kinds.is_temporal(kind):
            array = array.view(pa.int32() if kind.bit_width == 32 else pa.int64())
        elif not kinds.is_integer(kind):
            raise WrongTypeError(f"it is {kind} in the file, and {self.logical} in the schema")
        elif kinds.is_uint64(kind):
            return self._unsigned(array)
        return _integers(array)

    def hashes(self, numbers: Integers) -> Words:
        """The hashes of numbers."""
        if self.logical.kind is Kind.DECIMAL:
            return hash_decimals(numbers)
        factor = _NANOS[self.unit] / _NANOS[self.hashed_unit]
        if factor > 1:
            numbers = numbers * int(factor)
        elif factor < 1:
            numbers = numbers // int(1 / factor)
        return hash_integers(numbers, self.width)

    def doubles(self, numbers: Integers) -> NDArray[np.float64]:
        """What quantiles are made of: days, microseconds, or the numbers themselves."""
        doubles = numbers.astype(np.float64)
        if self.logical.kind is Kind.DECIMAL:
            doubles /= 10.0 ** (self.logical.scale or 0)
        elif self.logical.kind in {Kind.TIME, Kind.TIMESTAMP, Kind.TIMESTAMPTZ}:
            doubles *= _NANOS[self.unit] / _NANOS["us"]
        return doubles

    def value(self, number: int) -> Any:
        """The typed value of a number, as bounds and canonical strings are made from."""
        match self.logical.kind:
            case Kind.BOOLEAN:
                return bool(number)
            case Kind.DATE:
                return pa.scalar(number, pa.date32())
            case Kind.TIME:
                return _time(number, self.unit)
            case Kind.TIMESTAMP:
                return pa.scalar(number, pa.timestamp(self.unit))
            case Kind.TIMESTAMPTZ:
                return pa.scalar(number, pa.timestamp(self.unit, "UTC"))
            case Kind.DECIMAL:
                return Decimal(number).scaleb(-(self.logical.scale or 0), _ALL_DIGITS)
            case _:
                return number

    def long_numbers(self, array: pa.Array) -> dict[int, int]:
        """Numbers and how often each is there, when some don't fit a word."""
        if self.logical.kind is not Kind.DECIMAL:
            counted = pc.value_counts(array).to_pylist()
            return {entry["values"]: entry["counts"] for entry in counted}
        scale = self.logical.scale or 0
        if kinds.is_integer(array.type):
            array = array.cast(pa.decimal128(_MAX_PRECISION, 0))
        counted = pc.value_counts(_rescaled(array, scale))
        return {
            int(entry["values"].scaleb(scale, _ALL_DIGITS)): entry["counts"]
            for entry in counted.to_pylist()
        }

    def long_hashes(self, numbers: Sequence[int]) -> Words:
        """The hashes of such numbers."""
        if self.logical.kind is Kind.DECIMAL:
            return hash_bytes(pl.Series(map(shortest_bytes, numbers)))
        # An INT has no more than eight bytes to hash: the same ones that the file has.
        return hash_integers(np.array(numbers, np.uint64).view(np.int64), self.width)

    def _unsigned(self, array: pa.Array) -> Integers | None:
        words = array.to_numpy(zero_copy_only=False)
        if int(words.max()) < 1 << 63:
            return np.ascontiguousarray(words).view(np.int64)
        if self.logical.kind is not Kind.INT:
            raise WrongTypeError(
                f"it is {array.type} in the file, and {self.logical} in the schema"
            )
        return None

    def _unscaled(self, array: pa.Array, *, in_words: bool = False) -> Integers | None:
        if self.logical.kind is not Kind.DECIMAL:
            raise WrongTypeError(f"it is {array.type} in the file, and {self.logical} elsewhere")
        rescaled = _rescaled(array, self.logical.scale or 0)
        if not kinds.is_decimal128(rescaled.type):
            return None
        words = np.frombuffer(rescaled.buffers()[1], np.int64)
        words = words[2 * rescaled.offset : 2 * (rescaled.offset + len(rescaled))]
        low, high = np.ascontiguousarray(words[0::2]), words[1::2]
        if in_words and rescaled is array:
            return low
        # The high half of what fits a word is nothing but its sign.
        return low if bool((high == low >> 63).all()) else None


def number_form(
    column: WantedColumn, file_type: pa.DataType, *, in_words: bool = False
) -> NumberForm | None:
    """The form of a column's values in a file; None if they aren't numbers inside.

    `in_words`: the file has four or eight bytes for each.
    """
    logical = column.logical_type
    if logical.kind not in _NUMBERS:
        return None
    unit = "us"
    match logical.kind:
        case Kind.BOOLEAN:
            width = 1
        case Kind.INT:
            width = 4 if column.is_narrow else 8
        case Kind.DATE:
            width = 4
        case Kind.DECIMAL:
            precision = logical.precision or _MAX_PRECISION
            width = 4 if precision <= 9 else 8 if precision <= 18 else 16
        case _:
            width = 8
            unit = getattr(file_type, "unit", unit)
            return NumberForm(logical, unit, column.hashed_unit, width)
    return NumberForm(logical, unit, unit, width, in_words)


def shortest_bytes(number: int) -> bytes:
    """The shortest two's complement of a number, big-endian."""
    magnitude = ~number if number < 0 else number
    return number.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)


def _rescaled(array: pa.Array, scale: int) -> pa.Array:
    """Decimals of the scale that the schema says, in 128 bits if they fit."""
    kind = array.type
    if kinds.is_decimal256(kind) and kind.precision > _MAX_PRECISION:
        return array if kind.scale == scale else array.cast(pa.decimal256(76, scale))
    if kinds.is_decimal128(kind) and kind.scale == scale:
        return array
    return array.cast(
        pa.decimal128(_MAX_PRECISION if kind.scale != scale else kind.precision, scale)
    )


def _time(number: int, unit: str) -> pa.Scalar:
    kind = pa.time32(unit) if unit in {"s", "ms"} else pa.time64(unit)
    return pa.scalar(number, kind)


def _integers(array: pa.Array) -> Integers:
    numbers: Integers = array.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return numbers
