"""Schemas and partitions, as they are shown and as they are written."""

import json
from typing import Any

import pytest

from floecat.cli.descriptions import column_lines, enum_word
from floecat.cli.partitions import partition_spec
from floecat.errors import InvalidArgumentError

ICEBERG = {
    "type": "struct",
    "fields": [
        {"id": 1, "name": "id", "required": True, "type": "long"},
        {"id": 2, "name": "at", "required": False, "type": "timestamptz"},
        {
            "id": 3,
            "name": "items",
            "type": {
                "type": "list",
                "element": {"type": "struct", "fields": [{"name": "sku", "type": "string"}]},
            },
        },
    ],
}
DELTA = {
    "type": "struct",
    "fields": [
        {"name": "id", "type": "long", "nullable": False},
        {"name": "tags", "type": {"type": "map", "keyType": "string", "valueType": "integer"}},
        {"name": "xs", "type": {"type": "array", "elementType": "double"}, "nullable": True},
    ],
}


def test_columns_of_both_formats() -> None:
    assert column_lines(json.dumps(ICEBERG)) == [
        "id long not null",
        "at timestamptz",
        "items list<struct<sku string>>",
    ]
    assert column_lines(json.dumps(DELTA)) == [
        "id long not null",
        "tags map<string, integer>",
        "xs list<double>",
    ]


@pytest.mark.parametrize("schema", ["nonsense", "[]", '{"fields": 1}', '{"fields": [{"a": 1}]}'])
def test_a_schema_of_another_form_is_only_measured(schema: str) -> None:
    assert column_lines(schema) == [f"{len(schema)} characters of JSON: --json shows them"]


def test_no_schema_is_nothing_and_a_long_one_is_cut() -> None:
    assert column_lines("") == []
    fields = [{"name": f"c{n}", "type": "int"} for n in range(250)]
    lines = column_lines(json.dumps({"fields": fields}))
    assert (len(lines), lines[-1]) == (201, "… and 50 more: --json shows them")


def test_partition_fields_are_transforms_of_columns() -> None:
    schema = json.dumps(ICEBERG)
    [spec] = partition_spec(["id", "day(at)", "bucket[16](id)"], schema) or []
    shown: list[Any] = [(f.field_id, f.source_field_id, f.name, f.transform) for f in spec.fields]
    assert shown == [
        (1000, 1, "id", "identity"),
        (1001, 2, "at_day", "day"),
        (1002, 1, "id_bucket", "bucket[16]"),
    ]
    assert partition_spec(None, schema) is None


@pytest.mark.parametrize(
    ("column", "schema"), [("nope", ICEBERG), ("day(nope)", ICEBERG), ("id", DELTA), ("id", None)]
)
def test_partition_fields_need_columns_with_ids(column: str, schema: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="--partition-by"):
        partition_spec([column], json.dumps(schema) if schema else None)


def test_enum_values_as_words() -> None:
    assert enum_word("TF_ICEBERG") == "iceberg"
    assert enum_word("CT_PRIMARY_KEY") == "primary key"
    assert enum_word("TF_UNSPECIFIED") == ""
