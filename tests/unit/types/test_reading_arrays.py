"""Canonical strings read an array at a time are the values that they were made from."""

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.arrow import ARRAYS, draw
from tests.support.types import VALUES, typed_values

from floecat.types import logical as types
from floecat.types.arrays.arrowtypes import arrow_type_of
from floecat.types.arrays.reading import read_array
from floecat.types.encoding import ValueEncoders
from floecat.types.logical import LogicalType, decimal_type

ENCODERS = ValueEncoders()


def texts(*values: str | None) -> pa.Array:
    return pa.array(values, pa.large_string())


@pytest.mark.parametrize("name", ARRAYS)
def test_what_is_read_is_written_the_same_way(name: str) -> None:
    """Where Arrow's type holds a value, it is the value; nothing else is made of any."""
    logical, array = draw(name, 500)
    strings = ENCODERS.encode_array_to_strings(logical, array)
    read = read_array(logical, strings)
    assert read.type == arrow_type_of(logical)
    assert len(read) == len(strings)
    if pa.types.is_null(read.type):
        return
    again = ENCODERS.encode_array_to_strings(logical, read).to_pylist()
    for before, after, value in zip(strings.to_pylist(), again, read, strict=True):
        assert after == (before if value.is_valid else None)
        assert before is not None or not value.is_valid


@given(typed_values(VALUES))
def test_one_value_is_held_or_unknown(drawn: tuple[LogicalType, object]) -> None:
    logical, value = drawn
    string = ENCODERS.encode_to_string(logical, value)
    [read] = read_array(logical, texts(string))
    if read.is_valid:
        assert ENCODERS.encode_to_string(logical, read) == string


@pytest.mark.parametrize(
    ("logical", "held", "beyond"),
    [
        (types.INT, "9223372036854775807", "9223372036854775808"),
        (types.DATE, "9999-12-31", "not a date"),
        (types.DATE, "-0044-03-15", "2026-13-01"),
        (types.TIMESTAMP, "+12026-01-01T00:00:00.000001", "2026-01-01T00:00:00.000000001"),
        (types.TIMESTAMPTZ, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00"),
        (types.TIME, "23:59:59.999999", "24:00:01"),
        (decimal_type(5, 2), "999.99", "1000"),
        (decimal_type(60, 2), "1" * 50 + ".5", "1" * 70),
        (types.UUID, "00000000-0000-0000-0000-00000000000a", "ten"),
        (types.BINARY, "AAEC", "=="),
        (types.BOOLEAN, "true", "yes"),
    ],
)
def test_what_the_type_cannot_hold_is_null_and_spoils_nothing(
    logical: LogicalType, held: str, beyond: str
) -> None:
    read = read_array(logical, texts(held, beyond, None, held))
    assert [value.is_valid for value in read] == [True, False, False, True]
    assert ENCODERS.encode_to_string(logical, read[0]) == held


def test_floats_are_read_in_their_own_width() -> None:
    assert read_array(types.FLOAT, texts("0.1"))[0].as_py() == pytest.approx(0.1, abs=1e-8)
    assert read_array(types.FLOAT, texts("0.1"))[0].as_py() != 0.1
    read = read_array(types.DOUBLE, texts("4.9E-324", "-Infinity", "1.0E10")).to_pylist()
    assert read == [5e-324, float("-inf"), 1e10]


def test_decimals_have_the_scale_of_their_type() -> None:
    read = read_array(decimal_type(15, 2), texts("903", "-0.5"))
    assert read.to_pylist() == [Decimal("903.00"), Decimal("-0.50")]


@given(st.lists(st.none() | st.text(max_size=3), max_size=5))
def test_any_text_is_a_string(values: list[str | None]) -> None:
    assert read_array(types.STRING, texts(*values)).to_pylist() == values
