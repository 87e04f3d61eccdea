"""A logical type can't be built wrong, and can't be changed."""

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from floecat.types import logical as types
from floecat.types.errors import InvalidTypeError
from floecat.types.kinds import IntervalRange, Kind
from floecat.types.logical import MAX_DEPTH, LogicalType, StructField, decimal_type
from floecat.types.messages import from_message, to_message
from floecat.types.parse import parse_type


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (Kind.INT, {"precision": 3}),
        (Kind.STRING, {"temporal_precision": 3}),
        (Kind.DATE, {"temporal_precision": 0}),
        (Kind.DECIMAL, {"scale": 2}),
        (Kind.DECIMAL, {"precision": 0}),
        (Kind.DECIMAL, {"precision": 77}),
        (Kind.DECIMAL, {"precision": 4, "scale": 5}),
        (Kind.DECIMAL, {"precision": 4, "scale": -1}),
        (Kind.TIMESTAMP, {"temporal_precision": 7}),
        (Kind.TIME, {"temporal_precision": -1}),
        (Kind.INTERVAL, {"interval_leading_precision": 2}),
        (
            Kind.INTERVAL,
            {
                "interval_range": IntervalRange.YEAR_TO_MONTH,
                "interval_fractional_precision": 2,
            },
        ),
        (
            Kind.INTERVAL,
            {"interval_range": IntervalRange.DAY_TO_SECOND, "interval_leading_precision": 10},
        ),
        (Kind.BOOLEAN, {"interval_range": IntervalRange.DAY_TO_SECOND}),
        (Kind.MAP, {"key": types.INT}),
        (Kind.ARRAY, {"key": types.INT, "value": types.INT}),
        (Kind.STRUCT, {"fields": (StructField("a", types.INT), StructField("a", types.INT))}),
    ],
)
def test_wrong_parameters_are_refused(kind: Kind, parameters: dict[str, object]) -> None:
    with pytest.raises(InvalidTypeError):
        LogicalType(kind, **parameters)  # type: ignore[arg-type]  # wrong on purpose


def test_a_type_is_immutable_and_hashable() -> None:
    with pytest.raises(FrozenInstanceError):
        types.INT.kind = Kind.STRING  # type: ignore[misc]  # wrong on purpose
    assert len({types.INT, LogicalType(Kind.INT), types.STRING}) == 2


def test_an_absent_precision_is_not_zero() -> None:
    assert LogicalType(Kind.TIMESTAMP) != LogicalType(Kind.TIMESTAMP, temporal_precision=0)
    assert LogicalType(Kind.DECIMAL, precision=1) != types.DECIMAL


def test_an_absent_scale_is_zero() -> None:
    given = LogicalType(Kind.DECIMAL, precision=9)
    assert given == LogicalType(Kind.DECIMAL, precision=9, scale=0)


def test_odd_decimals_get_the_narrowest_type_that_holds_them() -> None:
    assert str(decimal_type(3, -2)) == "DECIMAL(5,0)"
    assert str(decimal_type(3, 5)) == "DECIMAL(5,5)"
    assert str(decimal_type(38, 4)) == "DECIMAL(38,4)"


def test_what_has_no_order() -> None:
    unordered = {kind for kind in Kind if not kind.is_orderable}
    assert unordered == {
        *(Kind.INTERVAL, Kind.JSON, Kind.ARRAY, Kind.MAP, Kind.STRUCT, Kind.VARIANT),
    }


def nested(depth: int) -> LogicalType:
    """STRUCTs in STRUCTs, which take the most of a message's depth."""
    logical = types.INT
    for _ in range(depth - 1):
        logical = LogicalType(Kind.STRUCT, fields=(StructField("a", logical),))
    return logical


def test_the_deepest_type_can_be_written_and_read_back() -> None:
    deepest = nested(MAX_DEPTH)
    assert deepest.depth == MAX_DEPTH
    assert parse_type(str(deepest)) == deepest
    data = to_message(deepest).SerializeToString()
    assert from_message(type(to_message(deepest)).FromString(data)) == deepest


@pytest.mark.parametrize(
    "parameters",
    [
        {"kind": Kind.ARRAY, "element": nested(MAX_DEPTH)},
        {"kind": Kind.MAP, "key": types.INT, "value": nested(MAX_DEPTH)},
        {"kind": Kind.MAP, "key": nested(MAX_DEPTH), "value": types.INT},
        {"kind": Kind.STRUCT, "fields": (StructField("a", nested(MAX_DEPTH)),)},
    ],
)
def test_a_deeper_type_is_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(InvalidTypeError, match="deep"):
        LogicalType(**parameters)
