"""Sketching: the sketches of one column, filled from counted or from plain values."""

from collections.abc import Callable, Collection, Iterable
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from floecat.capture.columns import WantedColumn
from floecat.capture.learning.cutting import LONGEST
from floecat.sketches.evenly import Population
from floecat.sketches.frequencies import FrequencySketch
from floecat.sketches.murmur import Words
from floecat.sketches.quantiles import QuantileSketch
from floecat.sketches.sampling import sampled
from floecat.sketches.theta import ThetaSketch

SMALL: Final = 256
"""Sets of values up to this size are kept whole."""
_SHARE: Final = 128
"""A value is frequent when it is more than this part of all: no more than so many can be."""
_BUCKETS: Final = 1 << 12
"""Of hashes. There are far more than values can be frequent, and few enough for the cache."""

Counts = NDArray[np.int64]
Numbers = NDArray[Any]
V = TypeVar("V")


class Sketching(Generic[V]):
    """What is kept of a column's values: sketches, and the values themselves while few."""

    def __init__(self, column: WantedColumn, *, has_ranks: bool) -> None:
        self._wants_frequent = column.frequent_items
        self.theta = ThetaSketch() if column.ndv else None
        self.quantiles = QuantileSketch() if column.quantiles and has_ranks else None
        self.frequencies = FrequencySketch() if column.frequent_items else None
        self.frequency_error = 0
        self.small: set[V] | None = set()

    @property
    def needs_hashes(self) -> bool:
        """Whether values that weren't counted have to be hashed."""
        return self.theta is not None or self._wants_frequent

    def add_hashes(self, hashes: Words) -> None:
        """Hashes of values, in any order and number."""
        if self.theta is not None:
            self.theta = self.theta.added(hashes)

    def add_numbers(
        self, values: Numbers, doubles: Callable[[Numbers], NDArray[np.float64]], ends: Numbers
    ) -> None:
        """Values that have ranks, in any order, and the least and the greatest of them.

        `doubles` makes of some of them what is ranked: most needn't be made anything of.
        """
        if self.quantiles is not None:
            least, greatest = doubles(ends).tolist()
            population = Population(len(values), least, greatest)
            sample = QuantileSketch.of_sample(doubles(sampled(values)), population)
            self.quantiles.merge(sample)

    def add_ranked(self, values: NDArray[np.float64], counts: Counts) -> None:
        """Ascending values, each as often as its count says."""
        if self.quantiles is not None:
            self.quantiles.merge(QuantileSketch.of_counts(values, counts))

    def add_counted(self, counts: Counts, texts: Callable[[Counts], Iterable[str]]) -> None:
        """How often each of some distinct values is there; `texts` writes those at some places."""
        if self.frequencies is None or not len(counts):
            return
        total = int(counts.sum())
        chosen = np.arange(len(counts))
        if len(counts) > _SHARE:
            chosen = np.flatnonzero(counts > total // _SHARE)
            self.frequency_error += total // _SHARE
        self._add_frequent(zip(texts(chosen), counts[chosen].tolist(), strict=True))

    def add_frequent_of(
        self, hashes: Words, count_those: Callable[[NDArray[np.bool_]], Iterable[tuple[str, int]]]
    ) -> None:
        """Frequent values among many that weren't counted, by their hashes.

        A value is no more frequent than the bucket that its hash falls into, so only values in full
        buckets are counted, and there mostly are none.
        """
        if self.frequencies is None or not len(hashes):
            return
        limit = len(hashes) // _SHARE
        buckets = hashes & np.uint64(_BUCKETS - 1)
        full = np.bincount(buckets.view(np.int64), minlength=_BUCKETS) > limit
        self.frequency_error += limit
        if full.any():
            self._add_frequent(item for item in count_those(full[buckets]) if item[1] > limit)

    def _add_frequent(self, counted: Iterable[tuple[str, int]]) -> None:
        if self.frequencies is None:
            return
        for text, count in counted:
            if len(text.encode()) <= LONGEST:  # nobody wants to see longer ones
                self.frequencies.add(text, count)

    def keep(self, values: Collection[V] | None) -> None:
        """Distinct values of a batch, as long as there are few in all; None when there are many."""
        if self.small is None:
            return
        if values is None or len(values) > SMALL:
            self.small = None
            return
        self.small.update(values)
        if len(self.small) > SMALL:
            self.small = None

    @property
    def are_few(self) -> bool:
        """Whether the values so far are worth keeping, as far as their hashes tell."""
        theta = self.theta
        kept = self.small is not None and theta is not None and theta.is_exact
        return kept and theta is not None and len(theta.hashes) <= SMALL
