"""Histogram: weighted points, gathered into bins of equal length. Pure."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

_NEAR: Final = 0.05
"""How many steps a value may be off the step that it is on: doubles of decimals aren't exact."""
_MOST_STEPS: Final = 1 << 20
"""With more of them it can't be seen that one bin holds one more than another."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """How values are distributed from the least to the greatest finite one."""

    shares: tuple[float, ...] = ()
    """Of each bin, in order; none where there are no two values."""
    error: float = 0.0
    """How far a share may well be off, for the points at the ends of its bin."""


@dataclass(frozen=True, slots=True)
class _Bins:
    numbers: NDArray[np.int64]
    """The bin of each point."""
    lengths: NDArray[np.float64]
    """Of each bin."""


def binned(
    values: NDArray[np.float64], weights: NDArray[np.float64], most_bins: int
) -> tuple[float, ...]:
    """The share of each bin, of points with their weights. What isn't finite is left out.

    Values that lie on steps, as whole numbers do, have bins of as many steps each, so that none
    is higher only because it holds more of them; then there may be fewer bins than allowed.
    """
    finite = np.isfinite(values)
    values, weights = values[finite], weights[finite]
    if not weights.sum() > 0:
        return ()
    # Halved, so that the length between the ends of all doubles is a double, too.
    halves = values / 2
    if not halves.max() > halves.min():
        return ()
    bins = _bins(halves, most_bins)
    found = np.bincount(bins.numbers, weights, minlength=len(bins.lengths))
    evened = found / bins.lengths * bins.lengths.mean()
    return tuple((evened / weights.sum()).tolist())


def _bins(halves: NDArray[np.float64], most_bins: int) -> _Bins:
    low = halves.min()
    places = (halves - low) / (halves.max() - low)
    steps = _steps(halves, places)
    if steps is None:
        numbers = np.minimum(places * most_bins, most_bins - 1).astype(np.int64)
        return _Bins(numbers, np.ones(most_bins))
    steps_in_a_bin = -(-steps // most_bins)
    bins = -(-steps // steps_in_a_bin)
    bin_of_step = np.arange(steps) * bins // steps
    lengths = np.bincount(bin_of_step).astype(np.float64)
    return _Bins(bin_of_step[np.rint(places * (steps - 1)).astype(np.int64)], lengths)


def _steps(halves: NDArray[np.float64], places: NDArray[np.float64]) -> int | None:
    """On how many steps the values lie, all of one length; None if they don't."""
    distinct = np.unique(halves)
    between = float(np.diff(distinct).min())
    span = float(distinct[-1] - distinct[0])
    if span > between * _MOST_STEPS:
        return None
    steps = round(span / between) + 1
    numbers = places * (steps - 1)
    return steps if (np.abs(numbers - np.rint(numbers)) <= _NEAR).all() else None
