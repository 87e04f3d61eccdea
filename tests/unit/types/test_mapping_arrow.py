"""Arrow types to logical types and back."""

import pyarrow as pa
import pytest
from hypothesis import given
from tests.support.arrow import ARRAYS, draw
from tests.support.types import logical_types

from floecat.types import logical as types
from floecat.types.errors import UnsupportedTypeError
from floecat.types.kinds import Kind
from floecat.types.logical import MAX_DEPTH, LogicalType
from floecat.types.mapping.arrow import from_arrow, from_arrow_field, to_arrow, to_arrow_field

MAPPED: list[tuple[pa.DataType, str]] = [
    (pa.bool_(), "BOOLEAN"),
    *((each, "INT") for each in (pa.int8(), pa.int16(), pa.int32(), pa.int64())),
    *((each, "INT") for each in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())),
    (pa.float16(), "FLOAT"),
    (pa.float32(), "FLOAT"),
    (pa.float64(), "DOUBLE"),
    (pa.decimal32(9, 2), "DECIMAL(9,2)"),
    (pa.decimal64(18, 2), "DECIMAL(18,2)"),
    (pa.decimal128(38, 4), "DECIMAL(38,4)"),
    (pa.decimal256(76, 10), "DECIMAL(76,10)"),
    (pa.decimal128(10, -2), "DECIMAL(12,0)"),
    (pa.date32(), "DATE"),
    (pa.date64(), "DATE"),
    (pa.time32("s"), "TIME(0)"),
    (pa.time32("ms"), "TIME(3)"),
    (pa.time64("us"), "TIME"),
    (pa.time64("ns"), "TIME"),
    (pa.timestamp("s"), "TIMESTAMP(0)"),
    (pa.timestamp("ms"), "TIMESTAMP(3)"),
    (pa.timestamp("us"), "TIMESTAMP"),
    (pa.timestamp("ns"), "TIMESTAMP"),
    (pa.timestamp("us", "Europe/Paris"), "TIMESTAMPTZ"),
    (pa.string(), "STRING"),
    (pa.large_string(), "STRING"),
    (pa.string_view(), "STRING"),
    (pa.dictionary(pa.int32(), pa.string()), "STRING"),
    (pa.run_end_encoded(pa.int32(), pa.date32()), "DATE"),
    (pa.binary(), "BINARY"),
    (pa.large_binary(), "BINARY"),
    (pa.binary_view(), "BINARY"),
    (pa.binary(5), "BINARY"),
    (pa.uuid(), "UUID"),
    (pa.json_(), "JSON"),
    (pa.duration("s"), "INTERVAL DAY TO SECOND"),
    (pa.month_day_nano_interval(), "INTERVAL"),
    (pa.list_(pa.int32()), "ARRAY<INT>"),
    (pa.large_list(pa.int32()), "ARRAY<INT>"),
    (pa.list_view(pa.int32()), "ARRAY<INT>"),
    (pa.list_(pa.int32(), 3), "ARRAY<INT>"),
    (pa.map_(pa.string(), pa.float64()), "MAP<STRING, DOUBLE>"),
    (pa.struct([pa.field("a", pa.int8(), nullable=False)]), "STRUCT<a: INT NOT NULL>"),
    (pa.bool8(), "INT"),
    (pa.null(), "VARIANT"),
]


@pytest.mark.parametrize(("arrow", "expected"), MAPPED)
def test_arrow_types(arrow: pa.DataType, expected: str) -> None:
    assert str(from_arrow(arrow, "a")) == expected


@pytest.mark.parametrize("name", ARRAYS)
def test_every_array_we_encode_has_a_logical_type_of_its_kind(name: str) -> None:
    logical, array = draw(name, 1)
    if " as " not in name and " in " not in name:
        assert from_arrow(array.type, "a").kind is logical.kind


@given(logical_types())
def test_back_and_forth(logical: LogicalType) -> None:
    try:
        arrow = to_arrow(logical, "a")
    except UnsupportedTypeError:
        return
    again = from_arrow(arrow, "a")
    assert to_arrow(again, "a") == arrow
    same = {
        Kind.BOOLEAN,
        Kind.INT,
        Kind.FLOAT,
        Kind.DOUBLE,
        Kind.DATE,
        Kind.STRING,
        Kind.BINARY,
        Kind.UUID,
        Kind.DECIMAL,
    }
    if logical.kind in same:
        assert again == logical


def test_field_ids_survive() -> None:
    field = pa.field("a", pa.int64(), nullable=False, metadata={"PARQUET:field_id": "7"})
    ours = from_arrow_field(field)
    assert (ours.name, ours.nullable, ours.field_id) == ("a", False, 7)
    assert to_arrow_field(ours).equals(field, check_metadata=True)


def test_an_unknown_type_names_the_column() -> None:
    union = pa.sparse_union([pa.field("a", pa.int32())])
    with pytest.raises(UnsupportedTypeError, match=r"column 'odd\.element'") as caught:
        from_arrow(pa.list_(union), "odd")
    assert caught.value.metadata["column"] == "odd.element"


UNION = pa.sparse_union([pa.field("a", pa.int32())])


@pytest.mark.parametrize(
    ("field", "path"),
    [
        (pa.field("top", pa.struct([("mid", pa.struct([("leaf", UNION)]))])), "top.mid.leaf"),
        (pa.field("top", pa.map_(UNION, pa.int8())), "top.key"),
        (pa.field("top", pa.map_(pa.int8(), pa.list_(UNION))), "top.value.element"),
        (pa.field("top", pa.struct([("a", pa.int8()), ("a", pa.int8())])), "top"),
        (pa.field("top", pa.list_(pa.decimal256(76, -10))), "top.element"),
        (pa.field("top", pa.int8(), metadata={"PARQUET:field_id": "x"}), "top"),
        (pa.field("top", pa.int8(), metadata={"PARQUET:field_id": b"\xff"}), "top"),
        (pa.field("top", pa.int8(), metadata={"PARQUET:field_id": "4294967296"}), "top"),
    ],
)
def test_every_error_names_the_whole_path(field: pa.Field, path: str) -> None:
    with pytest.raises(UnsupportedTypeError, match=f"column '{path}'") as caught:
        from_arrow_field(field)
    assert caught.value.metadata["column"] == path


def test_a_struct_that_can_not_be_written_names_the_whole_path() -> None:
    field = from_arrow_field(pa.field("top", pa.struct([("mid", pa.null())])))
    with pytest.raises(UnsupportedTypeError, match=r"column 'top\.mid'"):
        to_arrow_field(field)


def test_a_very_deep_type_is_refused() -> None:
    deep = pa.int8()
    for _ in range(MAX_DEPTH):
        deep = pa.list_(deep)
    with pytest.raises(UnsupportedTypeError, match="deep"):
        from_arrow(deep, "a")


@pytest.mark.parametrize("logical", [types.VARIANT, types.ARRAY, types.STRUCT, types.DECIMAL])
def test_what_arrow_can_not_hold_names_the_column(logical: LogicalType) -> None:
    with pytest.raises(UnsupportedTypeError, match="column 'odd'"):
        to_arrow(logical, "odd")
