"""Iceberg's types, in the JSON that pyiceberg writes, and back."""

import itertools
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from pyiceberg import types as iceberg
from pyiceberg.schema import Schema
from tests.support.types import logical_types

from floecat.types import logical as types
from floecat.types.errors import UnsupportedTypeError
from floecat.types.kinds import Kind
from floecat.types.logical import MAX_DEPTH, LogicalType
from floecat.types.mapping.iceberg import (
    from_iceberg,
    from_iceberg_field,
    to_iceberg,
    to_iceberg_field,
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("boolean", "BOOLEAN"),
        ("int", "INT"),
        ("long", "INT"),
        ("float", "FLOAT"),
        ("double", "DOUBLE"),
        ("decimal(38, 4)", "DECIMAL(38,4)"),
        ("decimal(9,2)", "DECIMAL(9,2)"),
        ("date", "DATE"),
        ("time", "TIME"),
        ("timestamp", "TIMESTAMP"),
        ("timestamptz", "TIMESTAMPTZ"),
        ("timestamp_ns", "TIMESTAMP"),
        ("timestamptz_ns", "TIMESTAMPTZ"),
        ("string", "STRING"),
        ("uuid", "UUID"),
        ("fixed[16]", "BINARY"),
        ("binary", "BINARY"),
        ("variant", "VARIANT"),
        ("unknown", "VARIANT"),
        ("geometry", "BINARY"),
        ("geometry(srid:4326)", "BINARY"),
        ("geography(srid:4326, spherical)", "BINARY"),
    ],
)
def test_names(name: str, expected: str) -> None:
    assert str(from_iceberg(name, "a")) == expected


SCHEMA = Schema(
    iceberg.NestedField(1, "id", iceberg.LongType(), required=True),
    iceberg.NestedField(2, "tags", iceberg.ListType(10, iceberg.StringType(), False)),
    iceberg.NestedField(
        3,
        "prices",
        iceberg.MapType(11, iceberg.StringType(), 12, iceberg.DecimalType(9, 2), True),
    ),
    iceberg.NestedField(
        4, "at", iceberg.StructType(iceberg.NestedField(13, "x y", iceberg.DoubleType()))
    ),
)


def test_a_schema_as_pyiceberg_writes_it() -> None:
    fields = json.loads(SCHEMA.model_dump_json())["fields"]
    ours = [from_iceberg_field(field) for field in fields]
    assert [str(field) for field in ours] == [
        "id: INT NOT NULL",
        "tags: ARRAY<STRING>",
        "prices: MAP<STRING, DECIMAL(9,2)>",
        'at: STRUCT<"x y": DOUBLE>',
    ]
    assert [field.field_id for field in ours] == [1, 2, 3, 4]
    assert ours[3].type.fields[0].field_id == 13


def test_pyiceberg_reads_what_we_write() -> None:
    fields = [from_iceberg_field(f) for f in json.loads(SCHEMA.model_dump_json())["fields"]]
    ids = itertools.count(100)
    written = {"type": "struct", "fields": [to_iceberg_field(field, ids) for field in fields]}
    schema = Schema.model_validate(written)
    assert [from_iceberg_field(f) for f in json.loads(schema.model_dump_json())["fields"]] == fields


SAME = {
    *(Kind.BOOLEAN, Kind.INT, Kind.FLOAT, Kind.DOUBLE, Kind.DATE, Kind.STRING, Kind.BINARY),
    *(Kind.UUID, Kind.DECIMAL, Kind.VARIANT),
}


@given(logical_types())
def test_back_and_forth(logical: LogicalType) -> None:
    try:
        written = to_iceberg(logical, "a", itertools.count(1))
    except UnsupportedTypeError:
        return
    again = from_iceberg(json.loads(json.dumps(written)), "a")
    assert from_iceberg(to_iceberg(again, "a", itertools.count(1)), "a") == again
    if logical.kind in SAME:
        assert again == logical


@pytest.mark.parametrize("source", ["hologram", "decimal(39, 2)", "decimal", {"type": "bag"}, 5])
def test_unknown_types_name_the_column(source: object) -> None:
    field = {"id": 1, "name": "outer", "type": {"type": "list", "element": source}}
    with pytest.raises(UnsupportedTypeError, match=r"column 'outer\.element'"):
        from_iceberg_field(field)


def test_a_malformed_field_is_a_proper_error() -> None:
    with pytest.raises(UnsupportedTypeError, match="column 'a'"):
        from_iceberg({"type": "struct", "fields": [{"name": "b"}]}, "a")


@pytest.mark.parametrize("logical", [types.INTERVAL, types.DECIMAL, types.ARRAY, types.STRUCT])
def test_what_iceberg_has_no_type_for_names_the_column(logical: LogicalType) -> None:
    with pytest.raises(UnsupportedTypeError, match="column 'odd'"):
        to_iceberg(logical, "odd", itertools.count(1))


@pytest.mark.parametrize(
    "fields",
    [
        [{"id": 1, "name": "b", "type": "int"}, {"id": 2, "name": "b", "type": "int"}],
        [{"id": "x", "name": "b", "type": "int"}],
        [{"id": True, "name": "b", "type": "int"}],
        [{"id": 1, "name": "b", "type": f"decimal({'9' * 5_000}, 2)"}],
    ],
)
def test_every_error_names_the_column(fields: list[object]) -> None:
    with pytest.raises(UnsupportedTypeError, match="column 'a"):
        from_iceberg({"type": "struct", "fields": fields}, "a")


@pytest.mark.parametrize("count", [MAX_DEPTH, 2_000])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda inner: {"type": "list", "element": inner},
        lambda inner: {"type": "map", "key": "int", "value": inner},
        lambda inner: {"type": "struct", "fields": [{"id": 1, "name": "b", "type": inner}]},
    ],
)
def test_a_very_deep_type_is_refused(wrap: Callable[[object], object], count: int) -> None:
    deep: object = "int"
    for _ in range(count):
        deep = wrap(deep)
    with pytest.raises(UnsupportedTypeError, match="deep"):
        from_iceberg(deep, "a")
