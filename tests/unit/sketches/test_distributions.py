"""Quantiles within the stated error of their rank; frequent values with their counts."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from floecat.errors import DataLossError
from floecat.sketches.evenly import Population
from floecat.sketches.frequencies import FrequencySketch
from floecat.sketches.quantiles import QuantileSketch
from floecat.sketches.sampling import sampled

RANKS = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]


def test_quantiles_are_within_their_error() -> None:
    values = np.random.default_rng(2).normal(size=200_000)
    parts = [QuantileSketch.of(part) for part in np.array_split(values, 9)]
    union = QuantileSketch.from_bytes(QuantileSketch.union(parts).to_bytes())
    assert union.count == len(values)
    ordered = np.sort(values)
    assert union.quantiles([0.0, 1.0]) == [ordered[0], ordered[-1]]
    for rank, value in zip(RANKS, union.quantiles(RANKS), strict=True):
        found = np.searchsorted(ordered, value) / len(values)
        assert abs(found - rank) <= union.rank_error


ORDERS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "as they came": lambda values: values,
    "ascending": np.sort,
    "descending": lambda values: np.sort(values)[::-1],
    "in waves": lambda values: np.sort(values).reshape(-1, 10).T.ravel(),
    "taking turns": lambda values: np.sort(values).reshape(10, -1).T.ravel(),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("count", [131_080, 1_000_000])
def test_a_sample_is_enough_in_whatever_order_values_come(order: str, count: int) -> None:
    values = ORDERS[order](np.random.default_rng(4).lognormal(0, 3, count))
    sample = sampled(values)
    assert 1 << 16 <= len(sample) < count
    assert np.array_equal(sample, sampled(values)), "the same values have the same sketch here"
    whole = Population(count, float(values.min()), float(values.max()))
    sketch = QuantileSketch.of_sample(sample, whole)
    assert sketch.count == count
    assert sketch.quantiles([0.0, 1.0]) == [whole.least, whole.greatest]
    ordered = np.sort(values)
    for rank in np.linspace(0.01, 0.99, 99):
        [value] = sketch.quantiles([rank])
        assert abs(np.searchsorted(ordered, value) / count - rank) <= sketch.rank_error


def test_few_values_are_no_sample() -> None:
    values = np.arange(100_000)
    assert sampled(values) is values


def test_few_values_are_exact_and_nan_has_no_rank() -> None:
    sketch = QuantileSketch.of(np.array([3.0, np.nan, 1.0, 2.0]))
    assert sketch.count == 3
    assert sketch.quantiles([0.0, 1.0]) == [1.0, 3.0]
    assert QuantileSketch().quantiles(RANKS) == []


def test_frequent_values_are_found() -> None:
    rng = np.random.default_rng(3)
    values = [*rng.zipf(1.5, 50_000).astype(str), *["often"] * 20_000]
    counts = Counter(values)
    parts = [FrequencySketch.of(Counter(part.tolist())) for part in np.array_split(values, 5)]
    union = FrequencySketch.from_bytes(FrequencySketch.union(parts).to_bytes())
    assert union.count == len(values)
    top = union.top(3)
    assert [row.value for row in top] == [value for value, _ in counts.most_common(3)]
    for row in union.top(20):
        assert row.at_least <= counts[row.value] <= row.at_most


@pytest.mark.parametrize("kind", [QuantileSketch, FrequencySketch])
def test_other_bytes_are_no_sketch(kind: type[QuantileSketch] | type[FrequencySketch]) -> None:
    with pytest.raises(DataLossError):
        kind.from_bytes(b"nothing of the sort")
