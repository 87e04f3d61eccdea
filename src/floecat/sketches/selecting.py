"""Values at some ranks among many, without sorting all of them."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

_FEW: Final = 1 << 14
"""So many values are sorted sooner than looked through."""
_BUCKETS: Final = 1 << 16


def at_ranks(values: NDArray[np.float64], ranks: NDArray[np.int64]) -> NDArray[np.float64]:
    """The values that sorting would put at some places; none is NaN.

    They are counted into buckets by size, and only buckets that a rank falls into are sorted.
    """
    if len(values) < _FEW:
        return _sorted_at(values, ranks)
    low, high = values.min(), values.max()
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        scale = (_BUCKETS - 1) / (high - low)
    if not 0 < scale < np.inf:  # all are the same, or infinitely far apart
        return _sorted_at(values, ranks)
    buckets = ((values - low) * scale).astype(np.int64)
    counts = np.bincount(buckets, minlength=_BUCKETS)
    places = np.searchsorted(np.cumsum(counts), ranks, "right")
    wanted = np.zeros(len(counts), np.bool_)
    wanted[places] = True
    left_out = np.cumsum(np.where(wanted, 0, counts))
    return _sorted_at(values[wanted[buckets]], ranks - left_out[places])


def _sorted_at(values: NDArray[np.float64], ranks: NDArray[np.int64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.sort(values)[ranks]
    return found
