"""Delta's types, which are Spark's JSON types, and back."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from tests.support.types import logical_types

from floecat.types import logical as types
from floecat.types.errors import UnsupportedTypeError
from floecat.types.kinds import Kind
from floecat.types.logical import MAX_DEPTH, LogicalType
from floecat.types.mapping.delta import from_delta, from_delta_field, to_delta, to_delta_field


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("boolean", "BOOLEAN"),
        ("byte", "INT"),
        ("short", "INT"),
        ("integer", "INT"),
        ("long", "INT"),
        ("float", "FLOAT"),
        ("double", "DOUBLE"),
        ("decimal(10,2)", "DECIMAL(10,2)"),
        ("string", "STRING"),
        ("char(3)", "STRING"),
        ("varchar(3)", "STRING"),
        ("binary", "BINARY"),
        ("date", "DATE"),
        ("time(6)", "TIME(6)"),
        ("timestamp", "TIMESTAMPTZ"),
        ("timestamp_ntz", "TIMESTAMP"),
        ("timestamp(3)", "TIMESTAMPTZ(3)"),
        ("timestamp_ltz(3)", "TIMESTAMPTZ(3)"),
        ("timestamp_ntz(3)", "TIMESTAMP(3)"),
        ("variant", "VARIANT"),
        ("void", "VARIANT"),
        ("interval", "INTERVAL"),
        ("interval year to month", "INTERVAL YEAR TO MONTH"),
        ("interval day to second", "INTERVAL DAY TO SECOND"),
        ("interval hour", "INTERVAL DAY TO SECOND"),
    ],
)
def test_names(name: str, expected: str) -> None:
    assert str(from_delta(name, "a")) == expected


SCHEMA = {
    "type": "struct",
    "fields": [
        {
            "name": "id",
            "type": "long",
            "nullable": False,
            "metadata": {"delta.columnMapping.id": 7, "delta.columnMapping.physicalName": "col-7"},
        },
        {
            "name": "tags",
            "type": {"type": "array", "elementType": "string", "containsNull": True},
            "nullable": True,
            "metadata": {},
        },
        {
            "name": "seen at",
            "type": {
                "type": "map",
                "keyType": "string",
                "valueType": {
                    "type": "struct",
                    "fields": [
                        {"name": "at", "type": "timestamp", "nullable": True, "metadata": {}}
                    ],
                },
                "valueContainsNull": True,
            },
            "nullable": True,
            "metadata": {},
        },
    ],
}


def test_a_schema() -> None:
    logical = from_delta(SCHEMA, "")
    assert [str(field) for field in logical.fields] == [
        "id: INT NOT NULL",
        "tags: ARRAY<STRING>",
        '"seen at": MAP<STRING, STRUCT<at: TIMESTAMPTZ>>',
    ]
    assert [field.field_id for field in logical.fields] == [7, None, None]
    assert from_delta(to_delta(logical, ""), "") == logical


def test_a_field_back_and_forth() -> None:
    field = from_delta_field({"name": "a", "type": "date"})
    assert field.nullable
    written = {"name": "a", "type": "date", "nullable": True, "metadata": {}}
    assert to_delta_field(field) == written


def test_a_user_defined_type_is_what_it_is_stored_as() -> None:
    point = {"type": "udt", "class": "org.example.Point", "sqlType": "binary"}
    assert from_delta(point, "a") == types.BINARY


SAME = {
    *(Kind.BOOLEAN, Kind.INT, Kind.FLOAT, Kind.DOUBLE, Kind.DATE, Kind.STRING, Kind.BINARY),
    *(Kind.DECIMAL, Kind.VARIANT),
}


@given(logical_types())
def test_back_and_forth(logical: LogicalType) -> None:
    try:
        written = to_delta(logical, "a")
    except UnsupportedTypeError:
        return
    again = from_delta(json.loads(json.dumps(written)), "a")
    assert to_delta(again, "a") == written
    if logical.kind in SAME:
        assert again == logical


@pytest.mark.parametrize(
    "source", ["hologram", "decimal(39x)", "time(9)", "numeric(3)", {"type": "bag"}, 5, None]
)
def test_unknown_types_name_the_column(source: object) -> None:
    field = {"name": "outer", "type": {"type": "array", "elementType": source}}
    with pytest.raises(UnsupportedTypeError, match=r"column 'outer\.element'") as caught:
        from_delta_field(field)
    assert caught.value.metadata["column"] == "outer.element"


def test_a_malformed_field_is_a_proper_error() -> None:
    with pytest.raises(UnsupportedTypeError, match="column 'a'"):
        from_delta({"type": "struct", "fields": [{"type": "int"}]}, "a")


@pytest.mark.parametrize("logical", [types.DECIMAL, types.ARRAY, types.MAP, types.STRUCT])
def test_what_delta_has_no_type_for_names_the_column(logical: LogicalType) -> None:
    with pytest.raises(UnsupportedTypeError, match="column 'odd'"):
        to_delta(logical, "odd")


@pytest.mark.parametrize(("given", "field_id"), [(5, 5), ("5", 5)])
def test_a_field_id_is_a_number(given: object, field_id: int) -> None:
    metadata = {"delta.columnMapping.id": given}
    field = from_delta_field({"name": "a", "type": "long", "metadata": metadata})
    assert field.field_id == field_id
    assert isinstance(field.field_id, int)


@pytest.mark.parametrize("given", ["x", "5.0", 5.0, True, None, [5], 2**31])
def test_what_is_no_field_id_names_the_column(given: object) -> None:
    field = {"name": "a", "type": "long", "metadata": {"delta.columnMapping.id": given}}
    with pytest.raises(UnsupportedTypeError, match=r"column 'outer\.a'"):
        from_delta_field(field, "outer")


def test_a_field_named_twice_names_the_column() -> None:
    twice = {"type": "struct", "fields": [{"name": "b", "type": "long"}] * 2}
    with pytest.raises(UnsupportedTypeError, match=r"column 'a'.*twice"):
        from_delta(twice, "a")


@pytest.mark.parametrize("count", [MAX_DEPTH, 2_000])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda inner: {"type": "array", "elementType": inner},
        lambda inner: {"type": "map", "keyType": inner, "valueType": "long"},
        lambda inner: {"type": "struct", "fields": [{"name": "b", "type": inner}]},
        lambda inner: {"type": "udt", "sqlType": inner},
    ],
)
def test_a_very_deep_type_is_refused(wrap: Callable[[object], object], count: int) -> None:
    deep: object = "long"
    for _ in range(count):
        deep = wrap(deep)
    with pytest.raises(UnsupportedTypeError, match="deep"):
        from_delta(deep, "a")


def test_a_very_deep_unknown_type_is_a_proper_error() -> None:
    deep: object = "long"
    for _ in range(2_000):
        deep = {"type": "bag", "of": deep}
    with pytest.raises(UnsupportedTypeError, match="column 'a'"):
        from_delta(deep, "a")
