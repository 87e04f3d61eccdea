"""The shape of a distribution, drawn as a line of bars."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ai.floedb.floecat.catalog.stats_pb2 import SR_QUANTILES, Quantiles, ScalarStats
from floecat.errors import DataLossError

if TYPE_CHECKING:
    from floecat.sketches.histograms import Histogram

_BLOCKS: Final = "▁▂▃▄▅▆▇█"
_SOME: Final = 1e-9
"""The share of a value that is there, whatever the ranks say."""


def sparkline(stats: ScalarStats, width: int = 12) -> str:
    """How finite values are distributed, from the least to the greatest: more is higher.

    Only where there are none a bar is lowest. It may have fewer bars than there is room for.
    """
    if not stats.quantiles.values:  # as of strings: there is nothing to draw
        return ""
    histogram = _of_sketch(stats, width) or _of_quantiles(stats.quantiles, width)
    most = max(histogram.shares, default=0.0)
    if not most > 0:
        return ""
    # What is less than the most only by what it may be off isn't drawn as less.
    full = max(most - histogram.error, most / 2)
    return "".join(_bar(share / full) for share in histogram.shares)


def _bar(height: float) -> str:
    top = len(_BLOCKS) - 1
    return _BLOCKS[min(top, max(1, round(height * top))) if height > 0 else 0]


def _of_sketch(stats: ScalarStats, width: int) -> "Histogram | None":
    """By the sketch; None where there is none, or none that can be read: anybody may put one."""
    from floecat.sketches.quantiles import (  # noqa: PLC0415 - slow to import, not for every command
        QUANTILES_TYPE,
        QuantileSketch,
    )

    for sketch in stats.sketches:
        if sketch.role == SR_QUANTILES and sketch.type == QUANTILES_TYPE and sketch.data:
            try:
                return QuantileSketch.from_bytes(sketch.data).histogram(width)
            except DataLossError:
                return None
    return None


def _of_quantiles(quantiles: Quantiles, width: int) -> "Histogram":
    """By ranks alone: what lies between two is taken to have the value of the upper one."""
    import numpy as np  # noqa: PLC0415 - as above

    from floecat.sketches.histograms import Histogram, binned  # noqa: PLC0415 - as above

    shares = _shares(quantiles.ranks)
    if len(shares) != len(quantiles.values):
        return Histogram()
    values = np.array(quantiles.values, np.float64)
    # A value may have nearly all of the next stretch, too.
    error = min((share for share in shares if share > 0), default=0.0)
    return Histogram(binned(values, np.maximum(shares, _SOME), width), error)


def _shares(ranks: Sequence[float]) -> list[float]:
    return [min(1.0, max(0.0, to - from_)) for from_, to in pairwise([0.0, *ranks])]
