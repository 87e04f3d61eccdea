"""KLL sketches of many values, written at once instead of value by value.

A KLL sketch keeps values that each stand for a power of two of others. With all values at hand
those are best taken at even ranks, so ranks are off by half a distance at most; DataSketches reads,
merges and asks the result like any of its own. Of a sample they are off by what it is, too.
"""

import struct
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from floecat.sketches.kll import LEAST, total_capacity
from floecat.sketches.selecting import at_ranks

_PREAMBLE: Final = 5
_SERIAL_VERSION: Final = 1
_FAMILY: Final = 15
_SORTED: Final = 2
_FEWEST: Final = 2
"""One value alone is written in another form, which is left to the library."""


@dataclass(frozen=True, slots=True)
class Population:
    """All the values that a sketch is of, whether they are at hand or only a sample of them."""

    count: int
    least: float
    greatest: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> "Population":
        """These values and no others; there is one at least."""
        return cls(len(values), float(values.min()), float(values.max()))


def evenly_chosen(values: NDArray[np.float64], k: int, population: Population) -> bytes:
    """The sketch of a population of at least two, of which these are all or a sample.

    They may be in any order, and none of them is NaN.
    """
    sizes = _sizes(population.count, k)
    chosen = at_ranks(values, _ranks(sizes) * len(values) // population.count)
    return _written(chosen, sizes, population, k)


def evenly_chosen_of_counts(
    values: NDArray[np.float64], counts: NDArray[np.int64], k: int
) -> bytes:
    """The sketch of ascending values, each as often as its count says; at least two in all."""
    ends = np.cumsum(counts)
    population = Population(int(ends[-1]), float(values[0]), float(values[-1]))
    sizes = _sizes(population.count, k)
    chosen = values[np.searchsorted(ends, _ranks(sizes), "right")]
    return _written(chosen, sizes, population, k)


def _sizes(total: int, k: int) -> list[int]:
    """How many values each level has: the highest all it can, the others what is left over."""
    if total < _FEWEST:
        raise ValueError("a sketch of fewer than two values is written in another form")
    levels = max(total // k, 1).bit_length() if total > k else 1
    while total >> (levels - 1) > k:
        levels += 1
    lower = [total >> level & 1 for level in range(levels - 1)]
    return [*lower, total >> (levels - 1)]


def _ranks(sizes: list[int]) -> NDArray[np.int64]:
    """Which values are kept, by their place: the middle of the stretch that each stands for."""
    ranks: list[NDArray[np.int64]] = []
    start = 0
    for level, size in enumerate(sizes):
        weight = 1 << level
        ranks.append(start + weight * np.arange(size, dtype=np.int64) + weight // 2)
        start += weight * size
    return np.concatenate(ranks)


def _written(
    chosen: NDArray[np.float64], sizes: list[int], population: Population, k: int
) -> bytes:
    levels = len(sizes)
    starts = total_capacity(k, levels) - len(chosen) + np.concatenate([[0], np.cumsum(sizes)[:-1]])
    head = struct.pack("<BBBBHBB", _PREAMBLE, _SERIAL_VERSION, _FAMILY, _SORTED, k, LEAST, 0)
    head += struct.pack("<QHBB", population.count, k, levels, 0)
    ends = struct.pack("<dd", population.least, population.greatest)
    return head + starts.astype("<u4").tobytes() + ends + chosen.tobytes()
