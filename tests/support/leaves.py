"""The leaves of a parquet file, and how DuckDB gets at their values."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as kinds

from floecat.connectors.spi.columns import ColumnPath


@dataclass(frozen=True, slots=True)
class Node:
    """A field of a file's schema, at any depth."""

    path: ColumnPath
    """With `element`, `key` and `value` inside lists and maps."""
    field_id: int | None
    is_leaf: bool
    query: str
    """Its values, in a column `v`: one per row, but any number of what is in lists and maps."""


@dataclass(frozen=True)
class FileNodes:
    """The fields of a file, found by id or by path."""

    nodes: Sequence[Node]

    @classmethod
    def of(cls, file: str) -> "FileNodes":
        return cls(tuple(_of_schema(pq.read_schema(file), file)))

    def find(self, field_id: int | None, paths: Sequence[ColumnPath]) -> Node | None:
        """By id, if it has one and the file has any; else by the first path that is there."""
        by_id = {node.field_id: node for node in reversed(self.nodes) if node.field_id is not None}
        if field_id is not None and by_id:
            return by_id.get(field_id)
        by_path = {node.path: node for node in reversed(self.nodes)}
        return next((by_path[path] for path in paths if path in by_path), None)


def _of_schema(schema: pa.Schema, file: str) -> Iterator[Node]:
    for field in schema:
        quoted = '"' + field.name.replace('"', '""') + '"'
        source = f"read_parquet('{file}', hive_partitioning = false)"
        yield from _below(field, (field.name,), f"SELECT {quoted} AS v FROM {source}")


def _below(field: pa.Field, path: ColumnPath, query: str) -> Iterator[Node]:
    kind = field.type
    members = list(_members(kind))
    yield Node(path, _id_of(field), not members, query)
    for name, member, expression in members:
        yield from _below(member, (*path, name), f"SELECT {expression} AS v FROM ({query})")


def _members(kind: pa.DataType) -> Iterator[tuple[str, pa.Field, str]]:
    """What lies in a field: its name, and how to get at it."""
    if kinds.is_struct(kind):
        for place in range(kind.num_fields):
            child = kind.field(place)
            text = child.name.replace("'", "''")
            yield child.name, child, f"struct_extract(v, '{text}')"
    elif kinds.is_map(kind):
        yield "key", kind.key_field, "unnest(map_keys(v))"
        yield "value", kind.item_field, "unnest(map_values(v))"
    elif kinds.is_list(kind) or kinds.is_large_list(kind):
        yield "element", kind.value_field, "unnest(v)"


def _id_of(field: pa.Field) -> int | None:
    text = (field.metadata or {}).get(b"PARQUET:field_id")
    return int(text) if text else None
