"""Name mappings: what columns are called in files that have no field ids."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from floecat.connectors.iceberg.metadata import TableMetadata
from floecat.connectors.spi.columns import ColumnPath, SourceColumn

PROPERTY: Final = "schema.name-mapping.default"
_MAX_DEPTH: Final = 40
_MAX_PATHS: Final = 64
"""Names multiply with depth; nobody has so many on purpose."""


def read_mapping(properties: Mapping[str, str]) -> dict[int, tuple[ColumnPath, ...]]:
    """The paths that files may have each column under, by field id; empty without a mapping.

    A mapping that can't be read is as none: files without ids are then read by their names.
    """
    try:
        said = json.loads(properties.get(PROPERTY, "[]"))
        return dict(_paths(said, ((),), 0))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def named(columns: Iterable[SourceColumn], metadata: TableMetadata) -> tuple[SourceColumn, ...]:
    """Columns with the names that they have in files without ids, and as partition fields."""
    mapping = read_mapping(metadata.properties)
    fields = [field for spec in metadata.specs.values() for field in spec.fields]
    return tuple(
        replace(
            column,
            file_paths=mapping.get(column.source_id or 0, ()),
            partition_names=tuple(
                dict.fromkeys(
                    field.name
                    for field in fields
                    if field.transform == "identity" and field.source_id == column.source_id
                )
            ),
        )
        for column in columns
    )


def _paths(
    fields: list[Mapping[str, Any]], around: tuple[ColumnPath, ...], depth: int
) -> Iterator[tuple[int, tuple[ColumnPath, ...]]]:
    if depth > _MAX_DEPTH:
        return
    for field in fields:
        names = [str(name) for name in field.get("names", ())]
        here = tuple((*path, name) for path in around for name in names)[:_MAX_PATHS]
        if "field-id" in field:
            yield int(field["field-id"]), here
        yield from _paths(field.get("fields") or [], here, depth + 1)
