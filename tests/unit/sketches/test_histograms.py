"""Histograms: high where values are, level where they are level, and empty where none are."""

import numpy as np
import pytest
from numpy.typing import NDArray

from floecat.sketches.histograms import binned
from floecat.sketches.quantiles import QuantileSketch

LEAST, GREATEST = -(2.0**63), 2.0**63


def of(values: NDArray[np.float64] | list[float], most_bins: int = 12) -> tuple[float, ...]:
    return QuantileSketch.of(np.array(values, np.float64)).histogram(most_bins).shares


@pytest.mark.parametrize("distinct", [2, 7, 11, 12, 13, 25, 50, 97])
@pytest.mark.parametrize("most_bins", [12, 24, 40])
@pytest.mark.parametrize("step", [1.0, 0.01])
def test_values_that_are_as_frequent_are_as_high(
    distinct: int, most_bins: int, step: float
) -> None:
    values = np.arange(distinct, dtype=np.float64) * step
    shares = binned(values, np.ones(distinct), most_bins)
    assert len(shares) == distinct if distinct <= most_bins else most_bins / 2 < len(shares)
    assert len(shares) <= most_bins
    assert max(shares) == pytest.approx(min(shares))


def test_a_sketch_of_few_values_is_level_but_for_its_error() -> None:
    rng = np.random.default_rng(7)
    histogram = QuantileSketch.of(rng.integers(0, 11, 500_000) / 100).histogram(12)
    assert len(histogram.shares) == 11
    assert sum(histogram.shares) == pytest.approx(1, abs=1e-5)
    assert 0 < histogram.error < 0.02
    assert max(histogram.shares) - min(histogram.shares) < 2 * histogram.error


def test_a_sketch_that_kept_everything_is_exact() -> None:
    histogram = QuantileSketch.of(np.array([1.0, 2.0, 2.0, 4.0])).histogram(12)
    assert histogram.shares == (0.25, 0.5, 0.0, 0.25)
    assert histogram.error == 0


def test_gaps_are_empty() -> None:
    rng = np.random.default_rng(8)
    values = rng.uniform(0, 3000, 100_000).tolist() + rng.uniform(5000, 8000, 100_000).tolist()
    shares = of(values, 8)
    assert shares[3:5] == (0.0, 0.0)
    assert shares[0] == pytest.approx(1 / 6, abs=0.02)
    assert shares[5] == pytest.approx(1 / 6, abs=0.02)


def test_sentinels_are_at_their_own_end() -> None:
    shares = of([LEAST] * 75 + [float(number % 100) for number in range(925)])
    assert shares[0] == pytest.approx(0.075, abs=0.01)
    assert shares[-1] == pytest.approx(0.925, abs=0.01)
    assert not any(shares[1:-1])
    assert of([LEAST, 0.0, 0.0, GREATEST]) == (0.25, 0.5, 0.25)


def test_infinities_have_no_place() -> None:
    assert of([-np.inf, 1.0, 2.0, np.inf]) == (0.5, 0.5)
    for nothing in ([], [np.inf], [-np.inf, 3.0, np.inf], [3.0, 3.0]):
        assert of(nothing) == ()


@pytest.mark.filterwarnings("error")
def test_the_ends_of_all_doubles_have_a_length_between_them() -> None:
    shares = of([-1.7e308, -1.7e308, 0.3, 1.7e308])
    assert (shares[0], shares[-1]) == (0.5, 0.25)
    assert of([0.0, 5e-324]) == ()


def test_the_ends_are_seen_even_if_the_sketch_lost_them() -> None:
    rng = np.random.default_rng(9)
    shares = of([-1000.0, *rng.uniform(0, 1, 300_000), 1000.0])
    assert shares[0] > 0
    assert shares[-1] > 0
