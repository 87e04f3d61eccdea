"""DATE, TIME, TIMESTAMP and TIMESTAMPTZ arrays to ISO text.

pyarrow writes the years 0000 to 9999 with all six fraction digits; here the `T`, the `Z` and the
right number of digits are put in, and other years are left to the scalar code.
"""

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from floecat.types.arrays.ragged import (
    Bytes,
    Counts,
    Flags,
    first_bytes,
    fixed_rows,
    whole_rows,
    with_nulls_of,
)
from floecat.types.values.calendar import (
    MAX_FOUR_DIGIT_DAY,
    MILLIS_PER_DAY,
    MIN_FOUR_DIGIT_DAY,
    format_date,
)
from floecat.types.values.temporal import format_timestamp
from floecat.types.values.units import NANOS_PER_DAY, nanos_per

_DATE_WIDTH: Final = 10
_TIME_WIDTH: Final = 8
_FRACTION_WIDTH: Final = 7  # the point and six digits


def counts_of(array: pa.Array) -> Counts:
    """The integers an array is made of, with 0 for NULL."""
    physical = array if pa.types.is_integer(array.type) else array.view(_integer_like(array.type))
    counts = physical.cast(pa.int64())
    filled: Counts = (counts.fill_null(0) if counts.null_count else counts).to_numpy()
    return filled


def date_strings(array: pa.Array) -> pa.Array:
    """ISO text of date32, date64, or epoch days as integers."""
    days = counts_of(array)
    if pa.types.is_date64(array.type):
        days = days // MILLIS_PER_DAY
    unusual = _beyond_four_digits(days, 1)
    usual = pa.array(np.where(unusual, 0, days).astype(np.int32))
    text = usual.cast(pa.date32()).cast(pa.large_string())
    others = [format_date(day) for day in days[unusual].tolist()]
    return with_nulls_of(array, _replace(text, unusual, others))


def time_strings(array: pa.Array, precision: int | None) -> pa.Array:
    """ISO text of time32 or time64, all within a day."""
    micros = _micros_of(counts_of(array), nanos_per(array.type.unit))
    text = pa.array(micros).cast(pa.time64("us")).cast(pa.large_string())
    rows = fixed_rows(text, _TIME_WIDTH + _FRACTION_WIDTH)
    return with_nulls_of(array, _with_fraction(rows, precision, ""))


def timestamp_strings(array: pa.Array, precision: int | None, suffix: str) -> pa.Array:
    """ISO text of a timestamp array, and then `suffix`: `Z` or nothing."""
    unit_nanos = nanos_per(array.type.unit)
    counts = counts_of(array)
    unusual = _beyond_four_digits(counts, NANOS_PER_DAY // unit_nanos)
    micros = _micros_of(np.where(unusual, 0, counts) if unusual.any() else counts, unit_nanos)
    text = pa.array(micros).cast(pa.timestamp("us")).cast(pa.large_string())
    rows = fixed_rows(text, _DATE_WIDTH + 1 + _TIME_WIDTH + _FRACTION_WIDTH).copy()
    rows[:, _DATE_WIDTH] = ord("T")
    others = [
        format_timestamp(count * unit_nanos, precision) + suffix
        for count in counts[unusual].tolist()
    ]
    encoded = _replace(_with_fraction(rows, precision, suffix), unusual, others)
    return with_nulls_of(array, encoded)


def all_within_day(array: pa.Array) -> bool:
    """Whether a time32 or time64 array has times of day only."""
    counts = counts_of(array)
    return bool(((counts >= 0) & (counts < NANOS_PER_DAY // nanos_per(array.type.unit))).all())


def _integer_like(arrow_type: pa.DataType) -> pa.DataType:
    return pa.int32() if arrow_type.bit_width == 32 else pa.int64()


def _micros_of(counts: Counts, unit_nanos: int) -> Counts:
    return counts // 1_000 if unit_nanos == 1 else counts * (unit_nanos // 1_000)


def _with_fraction(rows: Bytes, precision: int | None, suffix: str) -> pa.Array:
    """Rows that end in six fraction digits, cut to the digits that are wanted."""
    whole = rows.shape[1] - _FRACTION_WIDTH
    if precision is not None:
        kept = whole + (1 + precision if precision else 0)
        return whole_rows(_with_suffix(rows[:, :kept], suffix), pa.large_string())
    digits = _digits_without_trailing_zeros(rows)
    lengths = (whole + digits + (digits > 0)).astype(np.uint8)
    if suffix:
        rows = _with_suffix(rows, suffix)
        rows[np.arange(len(rows)), lengths] = ord(suffix)
        lengths += 1
    return first_bytes(rows, lengths, pa.large_string())


def _with_suffix(rows: Bytes, suffix: str) -> Bytes:
    if not suffix:
        return rows
    return np.column_stack([rows, np.full(len(rows), ord(suffix), dtype=np.uint8)])


def _digits_without_trailing_zeros(rows: Bytes) -> Bytes:
    digits = np.full(len(rows), 6, dtype=np.uint8)
    only_zeros_so_far = np.ones(len(rows), dtype=np.bool_)
    for column in range(-1, -_FRACTION_WIDTH, -1):
        only_zeros_so_far &= rows[:, column] == ord("0")
        digits -= only_zeros_so_far
    return digits


def _beyond_four_digits(counts: Counts, per_day: int) -> Flags:
    first, end = MIN_FOUR_DIGIT_DAY * per_day, (MAX_FOUR_DIGIT_DAY + 1) * per_day
    return (counts < first) | (counts >= end)


def _replace(text: pa.Array, unusual: Flags, others: list[str]) -> pa.Array:
    if not others:
        return text
    return pc.replace_with_mask(text, pa.array(unusual), pa.array(others, pa.large_string()))
