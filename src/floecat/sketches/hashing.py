"""Values of a column as the hashes that theta sketches are made of.

Hashed are Iceberg's single-value bytes, so that sketches agree with those of other engines: four
bytes for INT and DATE, eight for LONG, TIME and TIMESTAMP, the shortest two's complement for
DECIMAL, UTF-8 for STRING. -0.0 counts as 0.0, and every NaN as the same value.
"""

from decimal import Context, Decimal
from typing import Any, Final

import numpy as np
import polars as pl
import polars_hash  # noqa: F401 - its functions are found through polars
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from floecat.sketches.murmur import SEED, Words, hash_words

_ALL_DIGITS: Final = Context(prec=80)
_LONG_PRECISION: Final = 18
"""Decimals of so many digits fit a word."""


def hash_values(values: pa.Array) -> Words:
    """Hashes of the values that aren't null, in no particular order; dictionaries once each."""
    if kinds.is_dictionary(values.type):
        used = pc.unique(values.indices.drop_null())
        values = values.dictionary.take(used)
    present = values.drop_null()
    return _hash(present) >> np.uint64(1)


def _hash(values: pa.Array) -> Words:
    kind = values.type
    if kinds.is_floating(kind):
        return _hash_floats(values)
    if kinds.is_decimal(kind):
        return _hash_decimals(values)
    if kinds.is_boolean(kind):
        return hash_words(_numbers(values.cast(pa.uint8())).astype(np.uint64), None, 1)
    if _is_short(kind):
        return _hash_integers(values, pa.int32(), np.uint32, 4)
    if kinds.is_integer(kind) or kinds.is_temporal(kind):
        return _hash_integers(values, pa.int64(), np.uint64, 8)
    return _hash_bytes(values)


def _is_short(kind: pa.DataType) -> bool:
    narrow = kinds.is_integer(kind) and kind.bit_width <= 32 and not kinds.is_uint32(kind)
    return narrow or kinds.is_date32(kind) or kinds.is_time32(kind)


def _hash_integers(values: pa.Array, width: pa.DataType, unsigned: Any, length: int) -> Words:
    """As they are: their bits, little-endian."""
    same = values.view(width) if values.type.bit_width == width.bit_width else values.cast(width)
    return hash_words(_numbers(same).view(unsigned).astype(np.uint64), None, length)


def _hash_floats(values: pa.Array) -> Words:
    wide = kinds.is_float64(values.type)
    floats = _numbers(values if wide else values.cast(pa.float32())).copy()
    floats += 0.0  # -0.0 becomes 0.0
    floats[np.isnan(floats)] = np.nan
    bits = floats.view(np.uint64 if wide else np.uint32).astype(np.uint64)
    return hash_words(bits, None, 8 if wide else 4)


def _hash_decimals(values: pa.Array) -> Words:
    if values.type.precision > _LONG_PRECISION:
        unscaled = [_unscaled(value, values.type.scale) for value in pc.unique(values).to_pylist()]
        return _hash_bytes(pa.array([_shortest(number) for number in unscaled], pa.binary()))
    words = _low_words(values)
    lengths = _byte_lengths(words)
    hashes = np.empty(len(words), np.uint64)
    for length in np.unique(lengths):
        chosen = lengths == length
        # Big-endian bytes, read as the little-endian word that the hash takes.
        swapped = words[chosen].view(np.uint64).byteswap() >> np.uint64(64 - 8 * int(length))
        hashes[chosen] = hash_words(swapped, None, int(length))
    return hashes


def _low_words(values: pa.Array) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """The low half of each decimal, which is all of it as far as precision goes."""
    whole = values.cast(pa.decimal128(values.type.precision, values.type.scale))
    pairs = np.frombuffer(whole.buffers()[1], np.int64)
    return pairs[2 * whole.offset : 2 * (whole.offset + len(whole)) : 2].copy()


def _byte_lengths(words: "np.ndarray[Any, np.dtype[np.int64]]") -> "np.ndarray[Any, Any]":
    """How many bytes the shortest two's complement of each has."""
    magnitude = np.where(words < 0, ~words, words).view(np.uint64)
    lengths = np.ones(len(words), np.int64)
    for length in range(1, 8):
        lengths += magnitude >= np.uint64(1 << (8 * length - 1))
    return lengths


def _unscaled(value: Decimal, scale: int) -> int:
    return int(value.scaleb(scale, _ALL_DIGITS))


def _shortest(number: int) -> bytes:
    magnitude = ~number if number < 0 else number
    return number.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)


def _hash_bytes(values: pa.Array) -> Words:
    text = kinds.is_string(values.type) or kinds.is_large_string(values.type)
    plain = values if text else values.cast(pa.large_binary())
    column = pl.from_arrow(plain)
    hashed = pl.select(pl.lit(column).nchash.murmur128(seed=SEED)).to_series()  # type: ignore[attr-defined]
    low = hashed.cast(pl.UInt64, wrap_numerical=True).to_numpy()
    words: Words = low.astype(np.uint64, copy=False)
    return words


def _numbers(values: pa.Array) -> "np.ndarray[Any, Any]":
    """Without nulls there is nothing to convert."""
    numbers: np.ndarray[Any, Any] = values.to_numpy(zero_copy_only=False)
    return numbers
