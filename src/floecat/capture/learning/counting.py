"""How often each of some small numbers is there."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_FEW: Final = 8
"""So many are looked for one after another: counting them all in one go would wait, at nearly every
number, for the same count to be written that was written just before."""


def counts_below(numbers: NDArray[Any], limit: int) -> NDArray[np.int64]:
    """How often each number below a limit is there; no number is negative, or reaches it."""
    if limit > _FEW:
        return np.bincount(numbers, minlength=limit)
    short = numbers.astype(np.uint8)
    found = [np.count_nonzero(short == number) for number in range(limit - 1)]
    return np.array([*found, len(numbers) - sum(found)], np.int64)
