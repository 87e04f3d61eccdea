"""Values of a column as the hashes that theta sketches are made of.

Hashed are Iceberg's single-value bytes, so that sketches agree with those of other engines: four
bytes for INT and DATE, eight for LONG, TIME and TIMESTAMP, the shortest two's complement for
DECIMAL, UTF-8 for STRING. -0.0 counts as 0.0, and every NaN as the same value.
"""

from typing import Final, TypeAlias

import numpy as np
import polars as pl
import polars_hash  # noqa: F401 - its functions are found through polars
from numpy.typing import NDArray

from floecat.sketches.murmur import CHUNK, SEED, Words, hash_chunk, hash_words

_SIGN: Final = np.uint64(1)
_BYTE_BITS: Final = np.uint64(8)
_WORD_BITS: Final = np.uint64(64)

_VALUES: Final = "values"
_HASH: Final = pl.col(_VALUES).nchash.murmur128(seed=SEED)  # type: ignore[attr-defined]
"""Made once: an expression with a namespace is a cycle, and one of a literal would keep its values
until somebody looks for cycles."""

Integers: TypeAlias = NDArray[np.int64]


def hash_integers(values: Integers, width: int) -> Words:
    """Hashes of whole numbers of one, four or eight bytes."""
    words = values.view(np.uint64)
    if width < 8:
        words = words & np.uint64((1 << 8 * width) - 1)
    return _without_sign(hash_words(words, width))


def hash_decimals(unscaled: Integers) -> Words:
    """Hashes of decimals of up to 18 digits, by their unscaled values."""
    hashes = np.empty(len(unscaled), np.uint64)
    for start in range(0, len(unscaled), CHUNK):
        piece = slice(start, start + CHUNK)
        lengths = _byte_lengths(unscaled[piece])
        # Big-endian bytes, read as the little-endian word that the hash takes.
        words = unscaled[piece].view(np.uint64).byteswap()
        words >>= _WORD_BITS - lengths * _BYTE_BITS
        hash_chunk(words, lengths, hashes[piece])
    return _without_sign(hashes)


def hash_floats(values: "NDArray[np.float32] | NDArray[np.float64]") -> Words:
    """Hashes of floats, by their own width."""
    width = values.dtype.itemsize
    floats = values + values.dtype.type(0)  # -0.0 becomes 0.0
    floats[np.isnan(floats)] = np.nan
    words = floats.view(np.uint64 if width == 8 else np.uint32).astype(np.uint64, copy=False)
    return _without_sign(hash_words(words, width))


def hash_bytes(values: pl.Series) -> Words:
    """Hashes of strings or bytes; there are no nulls among them."""
    # As bytes: a string that isn't UTF-8 is hashed like any other.
    column = values if values.dtype == pl.Binary else values.cast(pl.Binary)
    hashed = column.alias(_VALUES).to_frame().select(_HASH).to_series()
    low = hashed.cast(pl.UInt64, wrap_numerical=True).to_numpy()
    words: Words = low.astype(np.uint64, copy=False)
    return words >> _SIGN  # polars' own memory can't be written to


def _without_sign(hashes: Words) -> Words:
    """As DataSketches keeps them."""
    hashes >>= _SIGN
    return hashes


def _byte_lengths(numbers: Integers) -> np.uint64 | Words:
    """How many bytes the shortest two's complement of each has; one number if all have as many."""
    magnitude = (numbers ^ (numbers >> np.int64(63))).view(np.uint64)
    shortest = int(magnitude.min()).bit_length() // 8 + 1
    longest = int(magnitude.max()).bit_length() // 8 + 1
    if shortest == longest:
        return np.uint64(shortest)
    lengths = np.full(len(numbers), shortest, np.uint64)
    for length in range(shortest, longest):
        lengths += magnitude >= np.uint64(1 << (8 * length - 1))
    return lengths
