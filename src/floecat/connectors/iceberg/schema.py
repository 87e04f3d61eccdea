"""Iceberg schemas as the SPI's columns: the leaves, by path and field id."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from floecat.connectors.iceberg.documents import Document, find, get, objects
from floecat.connectors.spi.columns import ColumnPath, SourceColumn
from floecat.types import logical as types
from floecat.types.logical import LogicalType
from floecat.types.mapping.iceberg import from_iceberg
from floecat.types.singlevalue.primitives import Primitive, PrimitiveName, find_primitive

_MAX_DEPTH: Final = 40
_MAX_FIELD_ID: Final = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf, with what its statistics are decoded by."""

    column: SourceColumn
    primitive: Primitive | None
    """None when single values of it have no bytes we could read: variants, nothing, geometries."""
    repeated: bool = False
    """Inside a list or map: a row may have any number of its values."""

    @property
    def field_id(self) -> int:
        return self.column.source_id or 0


@dataclass(frozen=True, slots=True)
class _Place:
    path: ColumnPath
    required: bool = True
    repeated: bool = False
    has_default: bool = False

    def inside(self, name: str, *, required: bool, repeated: bool = False) -> "_Place":
        if len(self.path) >= _MAX_DEPTH:
            raise ValueError(f"the schema is nested deeper than {_MAX_DEPTH}")
        return _Place((*self.path, name), self.required and required, self.repeated or repeated)


def leaves_of(schema: Document) -> tuple[Leaf, ...]:
    """Every leaf, in the schema's order. Raises when two have one path or one id."""
    leaves = tuple(_fields(schema, _Place(())))
    for what, values in (
        ("paths", [leaf.column.path for leaf in leaves]),
        ("ids", [leaf.field_id for leaf in leaves]),
    ):
        if len(set(values)) != len(values):
            raise ValueError(f"the schema's {what} aren't unique")
    return leaves


def columns_of(schema: Document) -> tuple[SourceColumn, ...]:
    """The leaves as the SPI has them."""
    return tuple(leaf.column for leaf in leaves_of(schema))


def types_by_id(schemas: Mapping[int, Document]) -> dict[int, object]:
    """The type of every field that any schema has or had; what comes later in the map wins."""
    found: dict[int, object] = {}
    for schema in schemas.values():
        found.update(_all_fields(schema, 0))
    return found


def identifier_fields(schema: Document) -> tuple[int, ...]:
    """The ids of the columns that tell rows apart."""
    found: list[Any] = find(schema, "identifier-field-ids", list) or []
    return tuple(part for part in found if isinstance(part, int))


def result_type(transform: str, source: object) -> Primitive | None:
    """What a partition transform makes of a column's type; None when that can't be said."""
    name = transform.partition("[")[0]
    if name == "bucket" or name in {"year", "month", "hour"}:
        return Primitive(PrimitiveName.INT)
    if name == "day":
        return Primitive(PrimitiveName.DATE)
    if name in {"identity", "truncate", "void"} and isinstance(source, str):
        return find_primitive(source)
    return None


def logical_of(primitive: Primitive | None) -> LogicalType:
    """The logical type of a primitive; text for what isn't known."""
    return types.STRING if primitive is None else primitive.logical


def _fields(struct: Document, place: _Place) -> Iterator[Leaf]:
    for field in objects(struct, "fields"):
        name = get(field, "name", str)
        inside = place.inside(name, required=bool(field.get("required", False)))
        if field.get("initial-default") is not None:
            inside = replace(inside, has_default=True)
        yield from _type(field["type"], get(field, "id", int), inside)


def _type(kind: Any, field_id: int, place: _Place) -> Iterator[Leaf]:
    match kind:
        case {"type": "struct"}:
            yield from _fields(kind, place)
        case {"type": "list"}:
            yield from _part(kind, "element", place)
        case {"type": "map"}:
            yield from _part(kind, "key", place)
            yield from _part(kind, "value", place)
        case _:
            yield _leaf(kind, field_id, place)


def _part(kind: Document, name: str, place: _Place) -> Iterator[Leaf]:
    """The elements of a list, or the keys or values of a map."""
    required = name == "key" or bool(kind.get(f"{name}-required", False))
    inside = place.inside(name, required=required, repeated=True)
    yield from _type(kind[name], get(kind, f"{name}-id", int), inside)


def _leaf(kind: object, field_id: int, place: _Place) -> Leaf:
    if not 0 <= field_id <= _MAX_FIELD_ID:
        raise ValueError(f"{field_id} isn't a field id of 32 bits")
    logical = from_iceberg(kind, ".".join(place.path))
    column = SourceColumn(
        path=place.path,
        logical_type=logical,
        source_id=field_id,
        required=place.required,
        source_type=str(kind),
        has_default=place.has_default,
        repeated=place.repeated,
    )
    return Leaf(column, find_primitive(str(kind)), place.repeated)


def _all_fields(kind: Any, depth: int) -> Iterator[tuple[int, object]]:
    if depth > _MAX_DEPTH:
        raise ValueError(f"the schema is nested deeper than {_MAX_DEPTH}")
    match kind:
        case {"type": "struct"} | {"fields": list()}:
            for field in objects(kind, "fields"):
                yield get(field, "id", int), field["type"]
                yield from _all_fields(field["type"], depth + 1)
        case {"type": "list"}:
            yield from _all_fields(kind["element"], depth + 1)
        case {"type": "map"}:
            yield from _all_fields(kind["value"], depth + 1)
