"""A table's schema: its leaves, by the names people use and by those that files use."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from floecat.connectors.delta.log.actions import UNREADABLE, Metadata
from floecat.connectors.spi.columns import ColumnPath, SourceColumn
from floecat.connectors.spi.errors import BrokenTableError
from floecat.types.errors import InvalidTypeError, UnsupportedTypeError
from floecat.types.mapping.delta import from_delta

_ID = "delta.columnMapping.id"
_PHYSICAL = "delta.columnMapping.physicalName"
_INVARIANT = "delta.invariants"
_TYPE_CHANGES = "delta.typeChanges"


@dataclass(frozen=True, slots=True)
class DeltaColumn:
    """A leaf of the schema."""

    source: SourceColumn
    physical: ColumnPath
    """The names in data files, statistics and partition values."""
    has_statistics: bool = True
    """Whether logs ever have statistics of it: leaves of structs do, of lists and maps not."""
    was_float: bool = False
    """It is a DOUBLE now, and was a FLOAT in older files."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field that says something about its values, leaf or not."""

    path: ColumnPath
    field_id: int | None
    nullable: bool
    invariant: str


@dataclass(frozen=True, slots=True)
class DeltaSchema:
    """A schema as of some version."""

    columns: tuple[DeltaColumn, ...]
    fields: tuple[Field, ...]
    """Every field of the top level and of structs."""
    partitions: tuple[DeltaColumn, ...]

    @property
    def sources(self) -> tuple[SourceColumn, ...]:
        return tuple(column.source for column in self.columns)


def read_schema(metadata: Metadata, table: str) -> DeltaSchema:
    """The schema that a table's metadata declares."""
    mapped = metadata.configuration.get("delta.columnMapping.mode", "none") in {"name", "id"}
    try:
        struct = json.loads(metadata.schema_json)
        walk = _Walk(mapped)
        columns = tuple(walk.leaves(struct["fields"], (), ()))
    except (UnsupportedTypeError, InvalidTypeError) as error:
        raise BrokenTableError(f"{table}: {error.message}") from error
    except UNREADABLE as error:
        raise BrokenTableError(f"the schema of {table} can't be read") from error
    columns = tuple(_partitioned(column, metadata.partition_columns) for column in columns)
    return DeltaSchema(columns, tuple(walk.fields), _partitions(metadata, columns, table))


def _partitioned(column: DeltaColumn, names: Collection[str]) -> DeltaColumn:
    """Files leave partition columns out; where the log isn't clear about one, it isn't NULL."""
    if column.source.path not in {(name,) for name in names}:
        return column
    name = column.source.name
    return replace(column, source=replace(column.source, partition_names=(name,), has_default=True))


def _partitions(
    metadata: Metadata, columns: tuple[DeltaColumn, ...], table: str
) -> tuple[DeltaColumn, ...]:
    by_name = {column.source.path: column for column in columns}
    try:
        return tuple(by_name[name,] for name in metadata.partition_columns)
    except KeyError as error:
        raise BrokenTableError(f"{table} is partitioned by {error}, which isn't a column") from None


class _Walk:
    """Goes down a schema and notes what it passes."""

    def __init__(self, mapped: bool) -> None:
        self._mapped = mapped
        self.fields: list[Field] = []

    def leaves(
        self, fields: list[Mapping[str, Any]], path: ColumnPath, physical: ColumnPath
    ) -> Iterator[DeltaColumn]:
        for field in fields:
            here = (*path, field["name"])
            self.fields.append(self._noted(field, here))
            inside = (*physical, self._physical_name(field))
            required = not field.get("nullable", True)
            was_float = _was_float(field)
            for leaf in self._in_type(field["type"], here, inside, self._id(field), required):
                yield replace(leaf, was_float=True) if was_float else leaf

    def _in_type(
        self,
        kind: Any,
        path: ColumnPath,
        physical: ColumnPath,
        field_id: int | None,
        required: bool,
    ) -> Iterator[DeltaColumn]:
        match kind:
            case {"type": "struct", "fields": list(fields)}:
                yield from self.leaves(fields, path, physical)
            case {"type": "array", "elementType": element}:
                yield from self._member("element", element, path, physical)
            case {"type": "map", "keyType": key, "valueType": value}:
                yield from self._member("key", key, path, physical)
                yield from self._member("value", value, path, physical)
            case _:
                yield DeltaColumn(
                    SourceColumn(
                        path=path,
                        logical_type=from_delta(kind, ".".join(path)),
                        source_id=field_id,
                        required=required,
                        source_type=kind if isinstance(kind, str) else json.dumps(kind),
                        file_paths=() if physical == path else (physical,),
                    ),
                    physical,
                )

    def _member(
        self, name: str, kind: Any, path: ColumnPath, physical: ColumnPath
    ) -> Iterator[DeltaColumn]:
        """What lies in a list or map: no ids of its own, no statistics."""
        for leaf in self._in_type(kind, (*path, name), (*physical, name), None, False):
            yield _without_statistics(leaf)

    def _noted(self, field: Mapping[str, Any], path: ColumnPath) -> Field:
        invariant = (field.get("metadata") or {}).get(_INVARIANT) or ""
        return Field(path, self._id(field), field.get("nullable", True), _expression(invariant))

    def _physical_name(self, field: Mapping[str, Any]) -> str:
        name = (field.get("metadata") or {}).get(_PHYSICAL) if self._mapped else None
        return str(name or field["name"])

    def _id(self, field: Mapping[str, Any]) -> int | None:
        number = (field.get("metadata") or {}).get(_ID) if self._mapped else None
        if number is None:
            return None
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**31:
            raise TypeError(f"{number!r} isn't a column id")
        return number


def _without_statistics(leaf: DeltaColumn) -> DeltaColumn:
    return replace(leaf, has_statistics=False, source=replace(leaf.source, repeated=True))


def _was_float(field: Mapping[str, Any]) -> bool:
    changes = (field.get("metadata") or {}).get(_TYPE_CHANGES) or ()
    return any(change.get("fromType") == "float" for change in changes)


def _expression(invariant: str) -> str:
    """The condition of a column invariant, which is JSON inside the JSON."""
    try:
        found = json.loads(invariant)["expression"]["expression"] if invariant else ""
    except (ValueError, KeyError, TypeError):
        return ""
    return found if isinstance(found, str) else ""
