"""Iceberg types, from a schema's JSON, to logical types and back.

Version 3 included: nanosecond timestamps, `variant`, `unknown` (all NULL, so VARIANT), and
`geometry` and `geography`, whose values are bytes.
"""

from collections.abc import Iterator
from typing import Final

from floecat.types import logical as types
from floecat.types.errors import UnsupportedTypeError, shown
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType, StructField
from floecat.types.mapping.place import Place, place_of_fields
from floecat.types.singlevalue.primitives import find_primitive, primitive_of_logical

_BARE: Final = {"variant": types.VARIANT, "unknown": types.VARIANT}
_GEOSPATIAL: Final = ("geometry", "geography")


def from_iceberg(iceberg_type: object, column: str) -> LogicalType:
    """The logical type of an Iceberg type: a name, or the object of a struct, list or map.

    Raises `UnsupportedTypeError` naming the column.
    """
    return _from_iceberg(iceberg_type, Place(column))


def from_iceberg_field(field: object, parent: str = "") -> StructField:
    """A field of a schema or struct, with its id."""
    return _from_field(field, place_of_fields(parent))


def to_iceberg(
    logical: LogicalType, column: str, fresh_ids: Iterator[int]
) -> str | dict[str, object]:
    """The Iceberg type that holds a logical type's values.

    Elements, keys, values and fields without an id take the next of `fresh_ids`. Elements and
    values are optional, since a logical type doesn't say.
    """
    match logical:
        case LogicalType(kind=Kind.VARIANT):
            return "variant"
        case LogicalType(kind=Kind.ARRAY, element=LogicalType() as element):
            return {
                "type": "list",
                "element-id": next(fresh_ids),
                "element": to_iceberg(element, f"{column}.element", fresh_ids),
                "element-required": False,
            }
        case LogicalType(kind=Kind.MAP, key=LogicalType() as key, value=LogicalType() as value):
            return {
                "type": "map",
                "key-id": next(fresh_ids),
                "key": to_iceberg(key, f"{column}.key", fresh_ids),
                "value-id": next(fresh_ids),
                "value": to_iceberg(value, f"{column}.value", fresh_ids),
                "value-required": False,
            }
        case LogicalType(kind=Kind.STRUCT, fields=fields) if fields:
            return {
                "type": "struct",
                "fields": [to_iceberg_field(field, fresh_ids, column) for field in fields],
            }
        case _:
            return str(primitive_of_logical(logical, column))


def to_iceberg_field(
    field: StructField, fresh_ids: Iterator[int], parent: str = ""
) -> dict[str, object]:
    """The inverse of `from_iceberg_field`."""
    path = f"{parent}.{field.name}" if parent else field.name
    return {
        "id": next(fresh_ids) if field.field_id is None else field.field_id,
        "name": field.name,
        "required": not field.nullable,
        "type": to_iceberg(field.type, path, fresh_ids),
    }


def _from_iceberg(iceberg_type: object, place: Place) -> LogicalType:
    with place.naming():
        match iceberg_type:
            case str():
                return _from_name(iceberg_type, place)
            case {"type": "struct", "fields": list(fields)}:
                members = tuple(_from_field(field, place) for field in fields)
                return LogicalType(Kind.STRUCT, fields=members)
            case {"type": "list", "element": element}:
                inner = _from_iceberg(element, place.inside("element"))
                return LogicalType(Kind.ARRAY, element=inner)
            case {"type": "map", "key": key, "value": value}:
                return LogicalType(
                    Kind.MAP,
                    key=_from_iceberg(key, place.inside("key")),
                    value=_from_iceberg(value, place.inside("value")),
                )
            case _:
                raise _unsupported(iceberg_type, place)


def _from_field(field: object, parent: Place) -> StructField:
    match field:
        case {"id": field_id, "name": str(name), "type": iceberg_type, **rest}:
            place = parent.inside(name)
            return StructField(
                name=name,
                type=_from_iceberg(iceberg_type, place),
                nullable=not rest.get("required", False),
                field_id=place.field_id(field_id),
            )
        case _:
            raise _unsupported(field, parent)


def _from_name(name: str, place: Place) -> LogicalType:
    spelled = name.strip().lower()
    if spelled in _BARE:
        return _BARE[spelled]
    if spelled.partition("(")[0].strip() in _GEOSPATIAL:
        return types.BINARY
    primitive = find_primitive(spelled)
    if primitive is None:
        raise _unsupported(name, place)
    return primitive.logical


def _unsupported(source: object, place: Place) -> UnsupportedTypeError:
    problem = f"{shown(source)} isn't an Iceberg type Floecat knows; leave the column out"
    return place.unsupported(problem, shown(source))
