"""What is encoded an array at a time equals what is encoded a value at a time."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.arrow import ARRAYS, draw

from floecat.types import logical as types
from floecat.types.encoding import ValueEncoders
from floecat.types.errors import InvalidValueError
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType

ENCODERS = ValueEncoders()


def one_by_one(logical: LogicalType, array: Any) -> list[str | None]:
    return [
        ENCODERS.encode_to_string(logical, scalar) if scalar.is_valid else None for scalar in array
    ]


def at_once(logical: LogicalType, array: Any) -> list[str | None]:
    encoded = ENCODERS.encode_array_to_strings(logical, array)
    encoded.validate(full=True)
    assert encoded.type == pa.large_string()
    strings: list[str | None] = encoded.to_pylist()
    return strings


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_equal_scalars(name: str) -> None:
    logical, array = draw(name, 1_500)
    assert at_once(logical, array) == one_by_one(logical, array)


@pytest.mark.slow
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_equal_scalars_on_millions_of_values(name: str) -> None:
    """50,000 of each of the types: more than two million in all."""
    logical, array = draw(name, 50_000, seed=1)
    assert at_once(logical, array) == one_by_one(logical, array)


def test_there_are_millions() -> None:
    assert 50_000 * len(ARRAYS) > 2_000_000


SHAPES: dict[str, Callable[[pa.Array], Any]] = {
    "sliced": lambda array: array[7:-5],
    "a slice of a slice": lambda array: array[3:][1:9],
    "empty": lambda array: array[:0],
    "all NULL": lambda array: pa.nulls(5, array.type),
    "chunked": lambda array: pa.chunked_array([array[:3], array[3:3], array[3:]]),
    "no chunks": lambda array: pa.chunked_array([], array.type),
    "without NULLs": lambda array: pa.concat_arrays(
        [array[i : i + 1] for i, scalar in enumerate(array) if scalar.is_valid]
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ARRAYS)
def test_the_shape_does_not_matter(name: str, shape: str) -> None:
    logical, array = draw(name, 64)
    shaped = SHAPES[shape](array)
    assert at_once(logical, shaped) == one_by_one(logical, shaped)


@pytest.mark.parametrize(
    "name", ["int64", "float64", "string", "binary", "timestamp[us]", "date32"]
)
def test_dictionaries_and_runs_are_looked_into(name: str) -> None:
    logical, array = draw(name, 64)
    expected = one_by_one(logical, array)
    assert at_once(logical, array.dictionary_encode()) == expected
    assert at_once(logical, array.dictionary_encode()[5:]) == expected[5:]
    assert at_once(logical, pc.run_end_encode(array)) == expected


def test_a_column_of_nothing_but_nulls_has_no_type_of_its_own() -> None:
    assert at_once(types.INT, pa.nulls(3)) == [None, None, None]


@pytest.mark.parametrize(
    ("logical", "array"),
    [
        (types.TIMESTAMP, pa.array([0])),
        (types.TIMESTAMPTZ, pa.array([0.5])),
        (types.TIME, pa.array([0])),
        (types.TIME, pa.array([86_400_000_000]).cast(pa.time64("us"))),
        (types.TIMESTAMP, pa.array([0], pa.timestamp("us", "UTC"))),
        (types.TIMESTAMPTZ, pa.array([0], pa.timestamp("us"))),
        (types.DATE, pa.array([0], pa.timestamp("us"))),
        (types.STRING, pa.array([1])),
        (types.STRING, pa.array([b"\xff"])),
        (types.STRING, pa.array([b"\xff"]).view(pa.string())),
        (types.DECIMAL, pa.array([0.5])),
        (types.INT, pa.array([0.5])),
        (types.FLOAT, pa.array([1e39])),
        (types.UUID, pa.array([b"short"])),
        (types.JSON, pa.array(["{}"])),
        (types.ARRAY, pa.array([[1]])),
    ],
)
def test_arrays_refuse_what_scalars_refuse(logical: LogicalType, array: pa.Array) -> None:
    with pytest.raises(InvalidValueError):
        one_by_one(logical, array)
    with pytest.raises(InvalidValueError):
        at_once(logical, array)


@pytest.mark.parametrize(
    ("logical", "array"),
    [
        (types.BOOLEAN, pa.array(["TRUE", None])),
        (types.INT, pa.array(["+5", None])),
        (types.DATE, pa.array([1.0, None])),
        (types.DATE, pa.array([2**40, None])),
        (types.UUID, pa.array(["F" * 32, None])),
        (types.TIMESTAMP, pa.array(["2024-01-01 00:00:00", None])),
        (types.INTERVAL, pa.array([90, None], pa.duration("s"))),
        (types.INTERVAL, pa.array([pa.MonthDayNano([1, 2, 3]), None])),
        (types.FLOAT, pa.array([0.1, None])),
        (types.DOUBLE, pa.array([1, None])),
        (types.STRING, pa.array([b"ok", None])),
        (LogicalType(Kind.DECIMAL, precision=5, scale=2), pa.array(["1.50", None])),
    ],
)
def test_pairs_without_a_fast_way_work_too(logical: LogicalType, array: pa.Array) -> None:
    assert at_once(logical, array) == one_by_one(logical, array)


@given(
    st.lists(st.none() | st.integers(-(2**63) + 1, 2**63 - 1)),
    st.sampled_from(["s", "ms", "us", "ns"]),
)
def test_any_timestamp(counts: list[int | None], unit: str) -> None:
    array = pa.array(counts, pa.int64()).view(pa.timestamp(unit))
    assert at_once(types.TIMESTAMP, array) == one_by_one(types.TIMESTAMP, array)


@given(st.lists(st.none() | st.floats()))
def test_any_double(values: list[float | None]) -> None:
    array = pa.array(values, pa.float64())
    assert at_once(types.DOUBLE, array) == one_by_one(types.DOUBLE, array)


@given(st.lists(st.none() | st.floats(width=32)))
def test_any_float(values: list[float | None]) -> None:
    array = pa.array(values, pa.float32())
    assert at_once(types.FLOAT, array) == one_by_one(types.FLOAT, array)


@given(st.lists(st.none() | st.text()))
def test_any_text(values: list[str | None]) -> None:
    assert at_once(types.STRING, pa.array(values, pa.string())) == values


def test_every_nan_reads_the_same() -> None:
    payload = np.array([0x7FF8000000000001, 0xFFF0000000000001], dtype=np.uint64).view(np.float64)
    assert at_once(types.DOUBLE, pa.array(payload, from_pandas=False)) == ["NaN", "NaN"]
