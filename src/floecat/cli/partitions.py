"""Partition fields as people write them: `region`, `day(ordered_at)`, `bucket[16](id)`."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ai.floedb.floecat.catalog.table_pb2 import PartitionField, PartitionSpec
from floecat.errors import InvalidArgumentError

_FIRST_FIELD_ID: Final = 1000
"""Where Iceberg's own partition field ids begin."""

_TRANSFORMED: Final = re.compile(r"(?P<transform>[a-z]+(?:\[\d+\])?)\((?P<column>.+)\)")


def partition_spec(
    columns: Sequence[str] | None, schema_json: str | None
) -> list[PartitionSpec] | None:
    """One spec of these fields, in order; None if there are none."""
    if not columns:
        return None
    ids = _column_ids(schema_json)
    fields = [_field(text, ids, _FIRST_FIELD_ID + index) for index, text in enumerate(columns)]
    return [PartitionSpec(spec_id=0, fields=fields)]


def _field(text: str, ids: Mapping[str, int], field_id: int) -> PartitionField:
    found = _TRANSFORMED.fullmatch(text)
    transform, column = found.group("transform", "column") if found else ("identity", text)
    if column not in ids:
        known = ", ".join(ids)
        raise InvalidArgumentError(f"--partition-by {text}: the schema has only {known}")
    word = transform.partition("[")[0]
    return PartitionField(
        field_id=field_id,
        source_field_id=ids[column],
        name=column if transform == "identity" else f"{column}_{word}",
        transform=transform,
    )


def _column_ids(schema_json: str | None) -> dict[str, int]:
    try:
        fields: list[Any] = json.loads(schema_json or "{}")["fields"]
        return {field["name"]: field["id"] for field in fields}
    except (KeyError, TypeError) as error:
        raise InvalidArgumentError(
            "--partition-by needs --schema with an Iceberg schema, whose columns have ids"
        ) from error
