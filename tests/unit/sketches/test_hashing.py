"""Hashes are MurmurHash3's over Iceberg's bytes of a value, as `mmh3` and Iceberg's rules say."""

import struct
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import mmh3
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floecat.sketches.hashing import hash_values
from floecat.sketches.murmur import hash_words

EPOCH = date(1970, 1, 1)


def expected(data: bytes) -> int:
    return int(mmh3.hash64(data, 9001, x64arch=True, signed=False)[0]) >> 1


def shortest(number: int) -> bytes:
    for length in range(1, 17):
        try:
            return number.to_bytes(length, "big", signed=True)
        except OverflowError:
            continue
    raise AssertionError(number)


CASES: list[tuple[pa.DataType, list[Any], list[bytes]]] = [
    (pa.bool_(), [True, False], [b"\x01", b"\x00"]),
    (pa.int8(), [-1, 5], [struct.pack("<i", -1), struct.pack("<i", 5)]),
    (pa.int32(), [-7, 2**31 - 1], [struct.pack("<i", -7), struct.pack("<i", 2**31 - 1)]),
    (pa.int64(), [-7, 2**40], [struct.pack("<q", -7), struct.pack("<q", 2**40)]),
    (pa.uint32(), [2**32 - 1], [struct.pack("<q", 2**32 - 1)]),
    (pa.float32(), [1.5, -0.0], [struct.pack("<f", 1.5), struct.pack("<f", 0.0)]),
    (pa.float64(), [1.5, -0.0], [struct.pack("<d", 1.5), struct.pack("<d", 0.0)]),
    (pa.date32(), [date(2020, 2, 29)], [struct.pack("<i", (date(2020, 2, 29) - EPOCH).days)]),
    (pa.time64("us"), [time(0, 0, 1)], [struct.pack("<q", 1_000_000)]),
    (
        pa.timestamp("us", "UTC"),
        [datetime(1970, 1, 2, tzinfo=UTC)],
        [struct.pack("<q", 86_400_000_000)],
    ),
    (pa.string(), ["", "a", "straße"], [b"", b"a", "straße".encode()]),
    (pa.large_string(), ["x" * 100], [b"x" * 100]),
    (pa.binary(), [b"\x00\xff"], [b"\x00\xff"]),
    (pa.binary(16), [UUID(int=7).bytes], [UUID(int=7).bytes]),
    (pa.decimal128(9, 2), [Decimal("1.28"), Decimal("-1.29")], [shortest(128), shortest(-129)]),
    (pa.decimal128(38, 0), [Decimal(2**100), Decimal(-1)], [shortest(2**100), shortest(-1)]),
]


@pytest.mark.parametrize(("kind", "values", "data"), CASES, ids=lambda part: str(part)[:30])
def test_values_are_hashed_as_iceberg_writes_them(
    kind: pa.DataType, values: list[Any], data: list[bytes]
) -> None:
    array = pa.array([*values, None], kind)
    assert sorted(hash_values(array)) == sorted(map(expected, data))


def test_every_nan_is_one_value() -> None:
    other = struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_0000_0001))[0]
    assert len(set(hash_values(pa.array([float("nan"), other])))) == 1


def test_a_slice_is_hashed_alone() -> None:
    whole = pa.array([Decimal(n) for n in range(10)], pa.decimal128(9, 0))
    assert list(hash_values(whole[3:5])) == [expected(b"\x03"), expected(b"\x04")]


def test_of_a_dictionary_only_what_is_used_counts() -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([0, 0, None, 2]), pa.array(["a", "b", "c"]))
    assert sorted(hash_values(array)) == sorted([expected(b"a"), expected(b"c")])


@given(st.lists(st.integers(-(10**18) + 1, 10**18 - 1), min_size=1))
def test_decimals_of_every_length(numbers: list[int]) -> None:
    array = pa.array([Decimal(n) for n in numbers], pa.decimal128(18, 0))
    assert list(hash_values(array)) == [expected(shortest(n)) for n in numbers]


@given(st.binary(min_size=1, max_size=16))
def test_words_of_every_length(data: bytes) -> None:
    padded = data.ljust(16, b"\0")
    first, second = np.frombuffer(padded, "<u8").reshape(2, 1)
    [found] = hash_words(first, second, len(data))
    assert int(found) >> 1 == expected(data)
