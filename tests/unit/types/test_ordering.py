"""The logical order, over values and over canonical strings."""

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from tests.support.types import is_nan, typed_pairs

from floecat.types import logical as types
from floecat.types.encoding import ValueEncoders
from floecat.types.errors import NotOrderableError
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType
from floecat.types.ordering import comparator, sort_key

ENCODERS = ValueEncoders()

ASCENDING: list[tuple[LogicalType, list[object]]] = [
    (types.BOOLEAN, ["false", "true"]),
    (types.INT, ["-10", "-9", "0", "9", "10", "18446744073709551615"]),
    (types.FLOAT, ["-Infinity", "-1.0E7", "0.0", "1.0E-5", "0.001", "2.0", "Infinity", "NaN"]),
    (types.DOUBLE, ["-Infinity", "-1.0E7", "4.9E-324", "0.001", "10.0", "1.0E7", "NaN"]),
    (types.DECIMAL, ["-10", "-9.5", "0", "9.5", "10"]),
    (types.DATE, ["-0001-12-31", "0000-01-01", "1969-12-31", "9999-12-31", "+10000-01-01"]),
    (types.TIME, ["00:00:00", "00:00:00.000001", "00:00:00.1", "00:00:01"]),
    (
        types.TIMESTAMP,
        [
            "-0001-01-01T00:00:00",
            "2024-01-01T00:00:00",
            "2024-01-01T00:00:00.1",
            "2024-01-01T00:00:01",
            "+10000-01-01T00:00:00",
        ],
    ),
    (types.TIMESTAMPTZ, ["2024-01-01T00:00:00Z", "2024-01-01T00:00:00.5Z"]),
    # By code points: UTF-16, Java's order, would put the emoji before the private-use character.
    (types.STRING, ["", "A", "a", "é", "\uffee", "😀"]),
    (types.BINARY, ["", "AA==", "AAA=", "fw==", "gA==", "/w=="]),
    (
        types.UUID,
        [
            "00000000-0000-0000-0000-000000000000",
            "7fffffff-0000-0000-0000-000000000000",
            "80000000-0000-0000-0000-000000000000",
        ],
    ),
]


@pytest.mark.parametrize(("logical", "ascending"), ASCENDING)
def test_strings_order_by_what_they_mean(logical: LogicalType, ascending: list[object]) -> None:
    shuffled = ascending[::-1]
    assert sorted(shuffled, key=sort_key(logical)) == ascending
    compare = comparator(logical)
    signs = [[compare(a, b) for b in ascending] for a in ascending]
    size = len(ascending)
    assert signs == [[(i > j) - (i < j) for j in range(size)] for i in range(size)]


def test_every_orderable_kind_is_shown_above() -> None:
    assert {logical.kind for logical, _ in ASCENDING} == {k for k in Kind if k.is_orderable}


@pytest.mark.parametrize("kind", [kind for kind in Kind if not kind.is_orderable])
def test_the_other_kinds_have_no_order(kind: Kind) -> None:
    with pytest.raises(NotOrderableError, match=kind.name):
        comparator(LogicalType(kind))


@pytest.mark.parametrize(
    ("logical", "value", "encoded"),
    [
        (types.DOUBLE, -0.0, "0.0"),
        (types.DOUBLE, float("nan"), "NaN"),
        (types.FLOAT, np.float32(0.1), "0.1"),
        (types.DECIMAL, Decimal("1.50"), "1.5"),
        (types.DATE, 0, "1970-01-01"),
        (types.TIMESTAMPTZ, dt.datetime(2024, 1, 1, tzinfo=dt.UTC), "2024-01-01T00:00:00.000Z"),
    ],
)
def test_values_and_strings_compare_with_each_other(
    logical: LogicalType, value: object, encoded: str
) -> None:
    assert comparator(logical)(value, encoded) == 0


def python_order(first: Any, second: Any) -> int:
    """The order Python has for decoded values, NaN last."""
    if is_nan(first) or is_nan(second):
        return int(is_nan(first)) - int(is_nan(second))
    if isinstance(first, dt.date | np.datetime64):
        first, second = _numpy(first), _numpy(second)
    return int(first > second) - int(first < second)


def _numpy(value: Any) -> np.datetime64:
    """numpy's form of what decoding gives, so that near and far years compare."""
    match value:
        case dt.datetime():
            return np.datetime64(value.replace(tzinfo=None), "us")  # decoded in UTC, if zoned
        case dt.date():
            return np.datetime64(value, "D")
        case _:
            return np.datetime64(value)


@given(typed_pairs())
def test_the_order_of_decoded_values_is_the_order_of_strings(
    typed: tuple[LogicalType, Any, Any],
) -> None:
    logical, *values = typed
    first, second = (ENCODERS.encode_to_string(logical, value) for value in values)
    decoded = [ENCODERS.decode_from_string(logical, text) for text in (first, second)]
    compare = comparator(logical)
    assert compare(first, second) == python_order(*decoded)
    assert compare(first, second) == -compare(second, first)
    assert compare(first, first) == 0


@given(typed_pairs())
def test_the_order_of_values_is_the_order_of_strings(
    typed: tuple[LogicalType, Any, Any],
) -> None:
    logical, first, second = typed
    texts = (ENCODERS.encode_to_string(logical, value) for value in (first, second))
    assert comparator(logical)(first, second) == comparator(logical)(*texts)
