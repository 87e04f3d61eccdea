"""Quantiles of numbers and times: KLL sketches of doubles, as Spark reads them too."""

from collections.abc import Sequence
from typing import Any, Final, Self

import datasketches
import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from floecat.sketches.evenly import Population, evenly_chosen, evenly_chosen_of_counts
from floecat.sketches.histograms import Histogram, binned
from floecat.sketches.kll import is_whole
from floecat.sketches.wrapped import WrappedSketch

K: Final = 200
"""A rank error of about 1.3 %."""
QUANTILES_TYPE: Final = "apache-datasketches-kll-double-v1"
"""What such a sketch is called where its bytes are passed on."""


class QuantileSketch(WrappedSketch):
    """How values are distributed. Whole numbers above 2⁵³ aren't told apart: they are doubles."""

    library_type = datasketches.kll_doubles_sketch
    what = "quantiles"

    @classmethod
    @override
    def _new(cls) -> Any:
        return datasketches.kll_doubles_sketch(K)

    @classmethod
    @override
    def _is_whole(cls, content: bytes) -> bool:
        return is_whole(content)

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Self:
        """The sketch of values. NaN has no rank, and is left out."""
        numbers = values[~np.isnan(values)]
        return cls.of_sample(numbers, Population.of(numbers)) if len(numbers) else cls()

    @classmethod
    def of_sample(cls, values: NDArray[np.float64], population: Population) -> Self:
        """The sketch of a population that these values are all or a sample of; none is NaN."""
        if population.count > 1:
            return cls.from_bytes(evenly_chosen(values, K, population))
        made = cls()
        made._sketch.update(population.least)
        return made

    @classmethod
    def of_counts(cls, values: NDArray[np.float64], counts: NDArray[np.int64]) -> Self:
        """The sketch of ascending values without NaN, each as often as its count says."""
        if int(counts.sum()) > 1:
            return cls.from_bytes(evenly_chosen_of_counts(values, counts, K))
        return cls.of(values[counts > 0])

    @property
    def count(self) -> int:
        """How many values it has seen."""
        return int(self._sketch.n)

    @property
    def rank_error(self) -> float:
        """How far a rank may be off, with 99 % confidence."""
        return float(self._sketch.normalized_rank_error(False))

    def quantiles(self, ranks: Sequence[float]) -> list[float]:
        """The values at ranks from 0 to 1, which are the ends; none of an empty sketch."""
        if not self.count:
            return []
        found = self._sketch.get_quantiles(list(ranks))
        # The library answers with values that it kept, and it may not have kept these two.
        ends = {0.0: self._sketch.get_min_value(), 1.0: self._sketch.get_max_value()}
        return [float(ends.get(rank, value)) for rank, value in zip(ranks, found, strict=True)]

    def histogram(self, most_bins: int) -> Histogram:
        """How the finite values are distributed, in at most so many bins."""
        if not self.count:
            return Histogram()
        # The library's own weights of the points are wrong where its lower levels are empty.
        points = [value for value, _ in self._sketch]
        values = np.unique([*points, *self.quantiles([0.0, 1.0])])
        values = values[~np.isnan(values)]  # which nobody should have put there
        ranks = self._sketch.get_cdf(values.tolist(), True)[:-1]
        # It may have lost the ends, but each of them is the value of a row at least.
        weights = np.maximum(np.diff(ranks, prepend=0.0), 1 / self.count)
        error = 2 / len(points) if self._sketch.is_estimation_mode() else 0.0
        return Histogram(binned(values, weights, most_bins), error)
