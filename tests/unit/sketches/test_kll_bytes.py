"""Bytes of quantile sketches that anybody may have put: whole, or refused."""

import datasketches
import numpy as np
import pytest

from floecat.errors import DataLossError
from floecat.sketches.kll import is_whole
from floecat.sketches.quantiles import QuantileSketch


def of_library(count: int, k: int = 200) -> bytes:
    sketch = datasketches.kll_doubles_sketch(k)
    sketch.update(np.random.default_rng(count).normal(size=count))
    return bytes(sketch.serialize())


@pytest.mark.parametrize("count", [0, 1, 2, 3, 199, 200, 201, 5_000, 1_000_000])
def test_sketches_of_the_library_and_ours_are_whole(count: int) -> None:
    assert is_whole(of_library(count))
    assert is_whole(of_library(count, 8))
    values = np.random.default_rng(count).normal(size=count)
    ours = QuantileSketch.of(values)
    assert is_whole(ours.to_bytes())
    merged = QuantileSketch.from_bytes(of_library(count))
    merged.merge(ours)
    assert is_whole(merged.to_bytes())
    assert QuantileSketch.from_bytes(merged.to_bytes()).count == 2 * count


@pytest.mark.parametrize("count", [1, 100, 5_000, 500_000])
def test_any_other_byte_is_refused_or_harmless(count: int) -> None:
    """The library would read beyond its memory: then this test ends the process."""
    rng = np.random.default_rng(count)
    values = rng.normal(size=count)
    whole = QuantileSketch.of(values).to_bytes() if count != 5_000 else of_library(count)
    refused = 0
    for _ in range(3_000):
        changed = bytearray(whole)
        for at in rng.integers(0, min(len(whole), 120), rng.integers(1, 4)):
            changed[at] = rng.integers(0, 256)
        cut = bytes(changed[: rng.integers(0, len(changed) + 1)] if rng.random() < 0.2 else changed)
        try:
            sketch = QuantileSketch.from_bytes(cut)
        except DataLossError:
            refused += 1
            continue
        sketch.quantiles([0.0, 0.5, 1.0])
        sketch.histogram(12)
        other = QuantileSketch.of(values)
        other.merge(sketch)
    assert refused
