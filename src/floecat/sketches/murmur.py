"""MurmurHash3 x64-128, the first half of it, over many short values at once.

DataSketches hashes with seed 9001 and keeps the first 64 bits, shifted right by one.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

SEED: Final = 9001
CHUNK: Final = 64 * 1024
"""Values hashed at a time: what fits the cache is several times as fast."""
_WORD: Final = 8

_C1: Final = np.uint64(0x87C37B91114253D5)
_C2: Final = np.uint64(0x4CF5AD432745937F)
_F1: Final = np.uint64(0xFF51AFD7ED558CCD)
_F2: Final = np.uint64(0xC4CEB9FE1A85EC53)

Words = NDArray[np.uint64]


def hash_words(words: Words, length: int | Words) -> Words:
    """Hashes of values of up to eight bytes, given as little-endian words.

    `length` is that of all values, or of each of them.
    """
    if isinstance(length, int) and not 0 < length <= _WORD:
        raise ValueError(f"values of {length} bytes aren't hashed as words")
    hashes = np.empty(len(words), np.uint64)
    for start in range(0, len(words), CHUNK):
        piece = slice(start, start + CHUNK)
        sizes = length if isinstance(length, int) else length[piece]
        hashes[piece] = _hashed(words[piece], sizes)
    return hashes


def _hashed(words: Words, length: int | Words) -> Words:
    h1 = np.full(len(words), SEED, np.uint64)
    h2 = h1.copy()
    h1 ^= _rotated(words * _C1, 31) * _C2
    size = np.uint64(length) if isinstance(length, int) else length
    h1 ^= size
    h2 ^= size
    h1 += h2
    h2 += h1
    return _mixed(h1) + _mixed(h2)


def _rotated(words: Words, by: int) -> Words:
    return (words << np.uint64(by)) | (words >> np.uint64(64 - by))


def _mixed(words: Words) -> Words:
    words ^= words >> np.uint64(33)
    words *= _F1
    words ^= words >> np.uint64(33)
    words *= _F2
    words ^= words >> np.uint64(33)
    return words
