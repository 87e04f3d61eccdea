"""Theta sketches are DataSketches': the same bytes, the same estimates, the same unions."""

import datasketches
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from floecat.errors import DataLossError
from floecat.sketches.hashing import hash_integers
from floecat.sketches.theta import ThetaSketch

Numbers = NDArray[np.int64]


def ours(numbers: Numbers) -> ThetaSketch:
    return ThetaSketch.of(hash_integers(np.array(numbers, np.int64), 8))


def theirs(numbers: Numbers) -> "datasketches.compact_theta_sketch":
    sketch = datasketches.update_theta_sketch(12)
    for number in numbers.tolist():
        sketch.update(number)
    sketch.trim()
    return sketch.compact()


@pytest.mark.parametrize("count", [0, 1, 2, 100, 4095, 4096, 4097, 10_000, 100_000])
def test_the_bytes_are_those_of_datasketches(count: int) -> None:
    numbers = np.arange(count, dtype=np.int64)
    made, other = ours(numbers), theirs(numbers)
    assert made.to_bytes() == other.serialize()
    assert made.estimate == other.get_estimate()
    assert made.bounds() == (other.get_lower_bound(2), other.get_upper_bound(2))
    assert made.is_exact == (count <= 4096)
    assert made.is_empty == (count == 0)


def test_what_is_written_can_be_read() -> None:
    made = ours(np.arange(50_000, dtype=np.int64))
    again = ThetaSketch.from_bytes(made.to_bytes())
    assert again.to_bytes() == made.to_bytes()


def test_values_may_come_in_any_order_and_portions() -> None:
    numbers = np.random.default_rng(1).integers(0, 10**12, 60_000)
    at_once = ours(numbers)
    portions = ThetaSketch()
    for part in np.array_split(np.flip(numbers), 7):
        portions = portions.added(hash_integers(np.array(part, np.int64), 8))
    assert portions.to_bytes() == at_once.to_bytes()


@given(st.lists(st.integers(0, 9000), min_size=1, max_size=5))
def test_a_union_has_seen_what_its_parts_have(sizes: list[int]) -> None:
    parts = [np.arange(size, dtype=np.int64) * (place + 1) for place, size in enumerate(sizes)]
    union = ThetaSketch.union(ours(part) for part in parts)
    distinct = len(np.unique(np.concatenate(parts)))
    low, high = union.bounds(3)
    assert low <= distinct <= high
    if distinct <= 4096:
        assert union.estimate == distinct


def test_a_union_of_nothing_is_empty() -> None:
    assert ThetaSketch.union([]).is_empty


@pytest.mark.parametrize("content", [b"", b"x", b"\x03\x03\x03\0\0\x1a\0\0" + bytes(16), bytes(40)])
def test_other_bytes_are_no_sketch(content: bytes) -> None:
    with pytest.raises(DataLossError):
        ThetaSketch.from_bytes(content)
