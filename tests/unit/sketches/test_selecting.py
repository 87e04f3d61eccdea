"""Values at ranks are those that sorting would put there, whatever they look like."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from floecat.sketches.evenly import Population, evenly_chosen, evenly_chosen_of_counts
from floecat.sketches.selecting import at_ranks

MANY = 50_000
SHAPES: dict[str, Callable[[np.random.Generator], NDArray[np.float64]]] = {
    "even": lambda rng: rng.random(MANY),
    "normal": lambda rng: rng.normal(0, 1e9, MANY),
    "skewed": lambda rng: rng.lognormal(0, 8, MANY),
    "few": lambda rng: rng.integers(0, 5, MANY).astype(np.float64),
    "one": lambda _: np.full(MANY, 7.0),
    "a far one": lambda rng: np.append(rng.random(MANY), 1e300),
    "infinities": lambda rng: np.append(rng.random(MANY), [-np.inf, np.inf]),
    "the whole range": lambda rng: np.append(rng.random(MANY), [-1.7e308, 1.7e308]),
    "hardly apart": lambda rng: rng.choice(np.array([0.0, 5e-324]), MANY),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_as_sorting_would(shape: str) -> None:
    values = SHAPES[shape](np.random.default_rng(1))
    ranks = np.sort(np.random.default_rng(2).integers(0, len(values), 300))
    ranks[0], ranks[-1] = 0, len(values) - 1
    assert np.array_equal(at_ranks(values, ranks), np.sort(values)[ranks])


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=40), st.integers(0, 2**32))
def test_any_values(few: list[float], seed: int) -> None:
    values = np.random.default_rng(seed).choice(few, 20_000)
    ranks = np.arange(0, len(values), 97)
    assert np.array_equal(at_ranks(values, ranks), np.sort(values)[ranks])


def test_counted_or_not_the_sketch_is_the_same() -> None:
    values = np.random.default_rng(3).zipf(1.3, MANY).astype(np.float64)
    distinct, counts = np.unique(values, return_counts=True)
    assert evenly_chosen(values, 200, Population.of(values)) == evenly_chosen_of_counts(
        distinct, counts, 200
    )
    with pytest.raises(ValueError, match="fewer than two"):
        evenly_chosen(values[:1], 200, Population.of(values[:1]))
