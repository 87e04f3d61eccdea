"""Hashes are MurmurHash3's over Iceberg's bytes of a value, as `mmh3` and Iceberg's rules say."""

import struct
from typing import Any

import mmh3
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floecat.sketches.hashing import hash_bytes, hash_decimals, hash_floats, hash_integers
from floecat.sketches.murmur import hash_chunk, hash_words

LONG = st.integers(-(2**63), 2**63 - 1)


def expected(data: bytes) -> int:
    return int(mmh3.hash64(data, 9001, x64arch=True, signed=False)[0]) >> 1


def shortest(number: int) -> bytes:
    for length in range(1, 17):
        try:
            return number.to_bytes(length, "big", signed=True)
        except OverflowError:
            continue
    raise AssertionError(number)


@given(st.lists(LONG, min_size=1))
def test_longs(numbers: list[int]) -> None:
    found = hash_integers(np.array(numbers, np.int64), 8)
    assert list(found) == [expected(struct.pack("<q", n)) for n in numbers]


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1))
def test_ints_have_four_bytes(numbers: list[int]) -> None:
    found = hash_integers(np.array(numbers, np.int64), 4)
    assert list(found) == [expected(struct.pack("<i", n)) for n in numbers]


@given(st.lists(LONG, min_size=1))
def test_decimals_of_every_length(numbers: list[int]) -> None:
    found = hash_decimals(np.array(numbers, np.int64))
    assert list(found) == [expected(shortest(n)) for n in numbers]


@pytest.mark.parametrize(("dtype", "form"), [(np.float32, "<f"), (np.float64, "<d")])
def test_floats_by_their_own_width(dtype: Any, form: str) -> None:
    values = np.array([1.5, -0.0, float("inf")], dtype)
    wanted = [expected(struct.pack(form, value)) for value in (1.5, 0.0, float("inf"))]
    assert list(hash_floats(values)) == wanted


def test_every_nan_is_one_value_and_the_input_stays_as_it_is() -> None:
    values = np.array([0x7FF8_0000_0000_0000, 0xFFF8_0000_0000_0001], np.uint64).view(np.float64)
    before = values.view(np.uint64).copy()
    assert len(set(hash_floats(values))) == 1
    assert (values.view(np.uint64) == before).all()


@given(st.lists(st.binary(max_size=40), min_size=1))
def test_bytes(values: list[bytes]) -> None:
    assert list(hash_bytes(pl.Series(values, dtype=pl.Binary))) == [expected(v) for v in values]


@given(st.lists(st.text(), min_size=1))
def test_strings_are_their_utf_8(values: list[str]) -> None:
    found = hash_bytes(pl.Series(values, dtype=pl.String))
    assert list(found) == [expected(value.encode()) for value in values]


@given(st.lists(st.binary(min_size=1, max_size=8), min_size=1))
def test_words_of_every_length(values: list[bytes]) -> None:
    words = np.array([int.from_bytes(value, "little") for value in values], np.uint64)
    together = np.empty_like(words)
    hash_chunk(words, np.array([len(value) for value in values], np.uint64), together)
    alone = [int(hash_words(words[n : n + 1], len(value))[0]) for n, value in enumerate(values)]
    assert [int(found) >> 1 for found in together] == [expected(value) for value in values]
    assert alone == together.tolist()
