"""Types survive the contract's message, bytes and all."""

import pytest
from hypothesis import given
from tests.support.types import logical_types

from ai.floedb.floecat.types import types_pb2
from floecat.types import logical as types
from floecat.types.errors import InvalidTypeError
from floecat.types.kinds import IntervalRange, Kind
from floecat.types.logical import LogicalType, StructField
from floecat.types.messages import from_message, to_message


@given(logical_types())
def test_types_round_trip_through_bytes(logical: LogicalType) -> None:
    data = to_message(logical).SerializeToString()
    assert from_message(types_pb2.LogicalType.FromString(data)) == logical


def test_a_field_keeps_its_id_and_nullability() -> None:
    fields = (StructField("a", types.INT, nullable=False, field_id=0), StructField("b", types.INT))
    logical = LogicalType(Kind.STRUCT, fields=fields)
    assert from_message(to_message(logical)).fields == fields


def test_an_absent_precision_is_not_zero() -> None:
    absent = to_message(types.TIMESTAMP)
    zero = to_message(LogicalType(Kind.TIMESTAMP, temporal_precision=0))
    assert not absent.HasField("temporal_precision")
    assert zero.HasField("temporal_precision")
    assert from_message(zero).temporal_precision == 0


def test_an_absent_interval_range_is_unspecified() -> None:
    message = types_pb2.LogicalType(kind=types_pb2.LTK_INTERVAL)
    assert from_message(message).interval_range is IntervalRange.UNSPECIFIED


def test_kinds_and_ranges_are_the_contracts() -> None:
    kinds = {name.removeprefix("LTK_"): n for name, n in types_pb2.LogicalTypeKind.items() if n}
    ranges = {name.removeprefix("IR_"): n for name, n in types_pb2.IntervalRange.items()}
    assert kinds == {kind.name: kind.value for kind in Kind}
    assert ranges == {each.name: each.value for each in IntervalRange}


@pytest.mark.parametrize(
    "message",
    [
        types_pb2.LogicalType(),
        types_pb2.LogicalType(kind=99),  # type: ignore[arg-type]  # from a newer version
        types_pb2.LogicalType(kind=types_pb2.LTK_INT, precision=3),
        types_pb2.LogicalType(kind=types_pb2.LTK_DECIMAL, precision=0),
        types_pb2.LogicalType(
            kind=types_pb2.LTK_INTERVAL,
            interval_range=9,  # type: ignore[arg-type]  # from a newer version
        ),
        types_pb2.LogicalType(kind=types_pb2.LTK_TIMESTAMP, temporal_precision=9),
    ],
)
def test_messages_that_are_no_type_are_refused(message: types_pb2.LogicalType) -> None:
    with pytest.raises(InvalidTypeError):
        from_message(message)
