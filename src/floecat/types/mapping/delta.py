"""Delta's types, which are Spark's JSON types, to logical types and back.

Spark's `timestamp` is an instant, so TIMESTAMPTZ; `timestamp_ntz` is TIMESTAMP.
"""

import re
from collections.abc import Mapping
from typing import Final

from floecat.types import logical as types
from floecat.types.errors import InvalidTypeError, UnsupportedTypeError, shown
from floecat.types.kinds import IntervalRange, Kind
from floecat.types.logical import LogicalType, StructField
from floecat.types.mapping.place import Place, place_of_fields
from floecat.types.parse import parse_type

_FIELD_ID: Final = "delta.columnMapping.id"
_MAX_DECIMAL_PRECISION: Final = 38
_BARE: Final = {
    "boolean": types.BOOLEAN,
    "byte": types.INT,
    "short": types.INT,
    "integer": types.INT,
    "long": types.INT,
    "float": types.FLOAT,
    "double": types.DOUBLE,
    "string": types.STRING,
    "binary": types.BINARY,
    "date": types.DATE,
    "timestamp": types.TIMESTAMPTZ,
    "timestamp_ltz": types.TIMESTAMPTZ,
    "timestamp_ntz": types.TIMESTAMP,
    "variant": types.VARIANT,
    "interval": types.INTERVAL,
    "void": types.VARIANT,  # all NULL; VARIANT promises least
    "null": types.VARIANT,
}
_PARSED: Final = re.compile(
    r"(?:decimal|char|varchar|string|time|timestamp(?:_ntz|_ltz)?|interval|geometry|geography)\b"
)
"""What has parameters that read in Spark as they do everywhere."""
_PLAIN_TIMESTAMP: Final = re.compile(r"^timestamp(?!_)")
_NAMES: Final = {
    Kind.BOOLEAN: "boolean",
    Kind.INT: "long",
    Kind.FLOAT: "float",
    Kind.DOUBLE: "double",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp_ntz",
    Kind.TIMESTAMPTZ: "timestamp",
    Kind.STRING: "string",
    Kind.JSON: "string",
    Kind.UUID: "string",
    Kind.BINARY: "binary",
    Kind.VARIANT: "variant",
}
_INTERVALS: Final = {
    IntervalRange.UNSPECIFIED: "interval",
    IntervalRange.YEAR_TO_MONTH: "interval year to month",
    IntervalRange.DAY_TO_SECOND: "interval day to second",
}


def from_delta(delta_type: object, column: str) -> LogicalType:
    """The logical type of a Delta type: a name, or the object of a struct, array or map.

    Raises `UnsupportedTypeError` naming the column.
    """
    return _from_delta(delta_type, Place(column))


def from_delta_field(field: object, parent: str = "") -> StructField:
    """A field of a schema or struct, with the id that column mapping gave it."""
    return _from_field(field, place_of_fields(parent))


def to_delta(logical: LogicalType, column: str) -> str | dict[str, object]:
    """The Delta type that holds a logical type's values. JSON and UUID are text there."""
    match logical:
        case LogicalType(kind=Kind.DECIMAL, precision=int(precision), scale=scale) if (
            precision <= _MAX_DECIMAL_PRECISION
        ):
            return f"decimal({precision},{scale})"
        case LogicalType(kind=Kind.TIME, temporal_precision=precision):
            return f"time({6 if precision is None else precision})"
        case LogicalType(kind=Kind.INTERVAL, interval_range=interval_range):
            return _INTERVALS[interval_range]
        case LogicalType(kind=Kind.ARRAY, element=LogicalType() as element):
            stored = to_delta(element, f"{column}.element")
            return {"type": "array", "elementType": stored, "containsNull": True}
        case LogicalType(kind=Kind.MAP, key=LogicalType() as key, value=LogicalType() as value):
            return {
                "type": "map",
                "keyType": to_delta(key, f"{column}.key"),
                "valueType": to_delta(value, f"{column}.value"),
                "valueContainsNull": True,
            }
        case LogicalType(kind=Kind.STRUCT, fields=fields) if fields:
            return {
                "type": "struct",
                "fields": [to_delta_field(field, column) for field in fields],
            }
        case LogicalType(kind=kind) if kind in _NAMES:
            return _NAMES[kind]
        case _:
            raise _unsupported(str(logical), Place(column))


def to_delta_field(field: StructField, parent: str = "") -> dict[str, object]:
    """The inverse of `from_delta_field`."""
    path = f"{parent}.{field.name}" if parent else field.name
    return {
        "name": field.name,
        "type": to_delta(field.type, path),
        "nullable": field.nullable,
        "metadata": {} if field.field_id is None else {_FIELD_ID: field.field_id},
    }


def _from_delta(delta_type: object, place: Place) -> LogicalType:
    with place.naming():
        match delta_type:
            case str():
                return _from_name(delta_type, place)
            case {"type": "struct", "fields": list(fields)}:
                members = tuple(_from_field(field, place) for field in fields)
                return LogicalType(Kind.STRUCT, fields=members)
            case {"type": "array", "elementType": element}:
                inner = _from_delta(element, place.inside("element"))
                return LogicalType(Kind.ARRAY, element=inner)
            case {"type": "map", "keyType": key, "valueType": value}:
                return LogicalType(
                    Kind.MAP,
                    key=_from_delta(key, place.inside("key")),
                    value=_from_delta(value, place.inside("value")),
                )
            case {"type": "udt", "sqlType": stored}:
                return _from_delta(stored, place.unwrapped())
            case _:
                raise _unsupported(shown(delta_type), place)


def _from_field(field: object, parent: Place) -> StructField:
    match field:
        case {"name": str(name), "type": delta_type, **rest}:
            place = parent.inside(name)
            return StructField(
                name=name,
                type=_from_delta(delta_type, place),
                nullable=rest.get("nullable") is not False,
                field_id=_field_id(rest.get("metadata"), place),
            )
        case _:
            raise _unsupported(shown(field), parent)


def _field_id(metadata: object, place: Place) -> int | None:
    if not isinstance(metadata, Mapping) or _FIELD_ID not in metadata:
        return None
    return place.field_id(metadata[_FIELD_ID])


def _from_name(name: str, place: Place) -> LogicalType:
    spelled = name.strip().lower()
    if spelled in _BARE:
        return _BARE[spelled]
    if _PARSED.match(spelled) is None:
        raise _unsupported(shown(name), place)
    try:
        return parse_type(_PLAIN_TIMESTAMP.sub("timestamp_ltz", spelled))
    except (InvalidTypeError, UnsupportedTypeError) as error:
        raise _unsupported(shown(name), place) from error


def _unsupported(source: str, place: Place) -> UnsupportedTypeError:
    problem = f"{source} has no counterpart in Delta's types that Floecat knows"
    return place.unsupported(f"{problem}; leave the column out", source)
