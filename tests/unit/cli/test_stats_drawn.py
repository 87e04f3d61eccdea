"""Distributions as they are drawn: by the sketch, or by quantiles where there is none."""

import numpy as np
import pytest
from numpy.typing import NDArray

from ai.floedb.floecat.catalog.stats_pb2 import SR_QUANTILES, Quantiles, ScalarStats, Sketch
from floecat.cli.stats_drawn import sparkline
from floecat.sketches.quantiles import QUANTILES_TYPE, QuantileSketch

RANKS = [step / 20 for step in range(21)]
LEAST, GREATEST = -(2.0**63), 2.0**63


def of(values: NDArray[np.float64] | list[float], *, sketches: bool = True) -> ScalarStats:
    """Statistics of values, with the sketch's bytes or without."""
    sketch = QuantileSketch.of(np.array(values, np.float64))
    kept = Sketch(role=SR_QUANTILES, type=QUANTILES_TYPE)
    if sketches:
        kept.data = sketch.to_bytes()
    quantiles = Quantiles(ranks=RANKS, values=sketch.quantiles(RANKS))
    return ScalarStats(quantiles=quantiles, sketches=[kept])


def test_few_values_that_are_as_frequent_are_level() -> None:
    rng = np.random.default_rng(1)
    for distinct in (9, 11):
        stats = of(rng.integers(0, distinct, 300_000) / 100)
        assert sparkline(stats) == sparkline(stats, 24) == "█" * distinct
    quantity = of(rng.integers(1, 51, 300_000).astype(np.float64))
    assert sparkline(quantity) == "█" * 10


def test_what_falls_is_drawn_falling() -> None:
    numbers = np.repeat(np.arange(1.0, 8.0), [25_000, 21_429, 17_857, 14_286, 10_714, 7143, 3571])
    assert sparkline(of(numbers)) == "█▇▆▅▄▃▂"


def test_only_gaps_are_lowest() -> None:
    rng = np.random.default_rng(2)
    low, high = rng.integers(0, 2900, 100_000), rng.integers(5000, 8000, 100)
    drawn = sparkline(of(np.concatenate([low, high]).astype(np.float64)), 8)
    assert drawn[:5] == "███▁▁"
    assert drawn[-1] == "▂"


@pytest.mark.parametrize("sketches", [True, False])
def test_sentinels_are_drawn_at_their_own_end(sketches: bool) -> None:
    values = [LEAST] * 7500 + [float(number % 100) for number in range(92_500)]
    drawn = sparkline(of(values, sketches=sketches))
    assert drawn[1:-1] == "▁" * 10
    assert drawn[0] in "▂▃"
    assert drawn[-1] == "█"
    both = of([LEAST, *[0.0] * 98, GREATEST], sketches=sketches)
    assert sparkline(both)[-1] != "█"


@pytest.mark.parametrize("sketches", [True, False])
@pytest.mark.parametrize(
    "values",
    [
        [-np.inf, 1.0, 2.0, np.inf],
        [1.0, 2.0, np.inf],
        [-np.inf, np.inf],
        [-1.7e308, 0.0, 1.7e308],
        [LEAST, GREATEST],
        [0.0, 5e-324],
        [3.0],
        [np.inf],
    ],
)
def test_whatever_the_ends_are_something_is_drawn_or_nothing(
    values: list[float], sketches: bool
) -> None:
    drawn = sparkline(of(values, sketches=sketches))
    finite = len({value for value in values if abs(value) > 1e-300 and np.isfinite(value)})
    assert bool(drawn) == (finite > 1)


def test_without_a_sketch_quantiles_are_drawn() -> None:
    left = Quantiles(ranks=[0, 0.9, 1], values=[0, 25, 100])
    assert sparkline(ScalarStats(quantiles=left), 8) == "▂█▁▁▂"
    damaged = of([1.0, 2.0])
    damaged.sketches[0].data = b"nothing of the sort"
    assert sparkline(damaged) == sparkline(of([1.0, 2.0], sketches=False)) != ""
    foreign = of([1.0, 2.0, 2.0, 2.0])
    foreign.sketches[0].type = "another"
    foreign.quantiles.CopyFrom(Quantiles(ranks=[0, 1], values=[5, 5]))
    assert sparkline(foreign) == ""


@pytest.mark.parametrize(
    "nonsense",
    [
        Quantiles(),
        Quantiles(ranks=[0, 1], values=[5, 5]),
        Quantiles(ranks=[0, 1], values=[5]),
        Quantiles(ranks=[1, 0], values=[1, 2, 3]),
        Quantiles(ranks=[0, np.nan, 1], values=[np.nan, np.nan, np.nan]),
    ],
)
def test_nonsense_is_not_drawn(nonsense: Quantiles) -> None:
    assert sparkline(ScalarStats(quantiles=nonsense)) == ""


def test_ranks_that_are_none_are_taken_for_what_they_may_mean() -> None:
    beyond = Quantiles(ranks=[0, np.inf], values=[1, 2])
    assert sparkline(ScalarStats(quantiles=beyond)) == "▂█"
    unknown = Quantiles(ranks=[0, np.nan], values=[1, 2])
    assert sparkline(ScalarStats(quantiles=unknown)) == "██"


def test_quantiles_of_what_is_level_are_drawn_level() -> None:
    rng = np.random.default_rng(3)
    for values in (rng.uniform(0, 1, 300_000), rng.integers(0, 11, 300_000) / 100):
        assert set(sparkline(of(values, sketches=False))[1:]) == {"█"}
