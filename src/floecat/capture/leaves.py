"""The leaves of a parquet file, and which of them is which column."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.types as kinds

from floecat.capture.columns import WantedColumn
from floecat.connectors.spi.columns import ColumnPath

_FIELD_ID: Final = b"PARQUET:field_id"


@dataclass(frozen=True, slots=True)
class FileLeaf:
    """A leaf of a file's schema."""

    number: int
    """Its place among the leaves: the number of its column chunk in every row group."""
    path: ColumnPath
    """`element`, `key` and `value` inside lists and maps, however the file calls them."""
    field_id: int | None
    arrow_type: pa.DataType
    repeated: bool
    """Inside a list or map: a row may have any number of its values."""
    nested: bool


class FileLeaves:
    """Finds the leaf that has a column's values."""

    def __init__(self, schema: pa.Schema) -> None:
        self._leaves = tuple(_numbered(schema))
        self._by_path = {leaf.path: leaf for leaf in reversed(self._leaves)}
        self._by_id = {leaf.field_id: leaf for leaf in reversed(self._leaves)}
        self._by_id.pop(None, None)
        self._groups = tuple(_groups(schema))

    def __iter__(self) -> Iterator[FileLeaf]:
        return iter(self._leaves)

    def find(self, column: WantedColumn) -> FileLeaf | None:
        """By id where the file has ids, since columns can be renamed; else by name."""
        if column.field_id is not None and self._by_id:
            return self._by_id.get(column.field_id)
        found = (self._by_path.get(path) for path in column.file_paths)
        return next((leaf for leaf in found if leaf is not None), None)

    def has_group(self, column: WantedColumn) -> bool:
        """Whether a column that is one leaf in the schema has leaves of its own: variants do."""
        if column.field_id is not None and self._by_id:
            return any(field_id == column.field_id for _, field_id in self._groups)
        return any(path in column.file_paths for path, _ in self._groups)


def leaf_values(array: pa.Array, path: ColumnPath) -> pa.Array:
    """The leaf's values from the top-level array that holds nothing but them.

    A value is null when it, or a struct around it, is; lists that are null or empty have none.
    """
    for name in path[1:]:
        if kinds.is_struct(array.type):
            place = array.type.get_field_index(name) if array.type.num_fields > 1 else 0
            array = array.flatten()[max(place, 0)]
        else:
            array = array.flatten()
            if kinds.is_struct(array.type) and name in {"key", "value"}:
                # The entry of a map, which schemas don't count as a level of its own.
                place = array.type.get_field_index(name) if array.type.num_fields > 1 else 0
                array = array.flatten()[max(place, 0)]
    return array


def _numbered(schema: pa.Schema) -> Iterator[FileLeaf]:
    number = 0
    for field in schema:
        for leaf in _leaves(field.type, (field.name,), _id_of(field), repeated=False):
            path, field_id, arrow_type, repeated = leaf
            yield FileLeaf(number, path, field_id, arrow_type, repeated, len(path) > 1)
            number += 1


def _groups(schema: pa.Schema) -> Iterator[tuple[ColumnPath, int | None]]:
    """Structs, lists and maps by path and id."""
    fields: list[tuple[ColumnPath, pa.Field]] = [((field.name,), field) for field in schema]
    while fields:
        path, field = fields.pop()
        members = [field.type.field(place) for place in range(field.type.num_fields)]
        if members:
            yield path, _id_of(field)
            fields.extend(((*path, member.name), member) for member in members)


def _leaves(
    kind: pa.DataType, path: ColumnPath, field_id: int | None, *, repeated: bool
) -> Iterator[tuple[ColumnPath, int | None, pa.DataType, bool]]:
    if kinds.is_struct(kind):
        for place in range(kind.num_fields):
            child = kind.field(place)
            inside = (*path, child.name)
            yield from _leaves(child.type, inside, _id_of(child), repeated=repeated)
    elif kinds.is_map(kind):
        for name, child in (("key", kind.key_field), ("value", kind.item_field)):
            yield from _leaves(child.type, (*path, name), _id_of(child), repeated=True)
    elif _is_list(kind):
        child = kind.value_field
        yield from _leaves(child.type, (*path, "element"), _id_of(child), repeated=True)
    else:
        yield path, field_id, kind, repeated


def _is_list(kind: pa.DataType) -> bool:
    tests = (kinds.is_list, kinds.is_large_list, kinds.is_fixed_size_list)
    return any(test(kind) for test in tests)


def _id_of(field: pa.Field) -> int | None:
    text = (field.metadata or {}).get(_FIELD_ID)
    return int(text) if text and text.lstrip(b"-").isdigit() else None
