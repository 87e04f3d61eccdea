"""Delta's types, which are Spark's JSON types, to logical types and back.

Spark's `timestamp` is an instant, so TIMESTAMPTZ; `timestamp_ntz` is TIMESTAMP.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from floecat.types import logical as types
from floecat.types.errors import InvalidTypeError, UnsupportedTypeError
from floecat.types.kinds import IntervalRange, Kind
from floecat.types.logical import LogicalType, StructField
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
_PARSED: Final = re.compile(r"decimal|char|varchar|string|time|interval|geometry|geography")
"""What has parameters that read in Spark as they do everywhere."""
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
    """The logical type of a Delta type: a name, or the object of a struct, array or map."""
    match delta_type:
        case str():
            return _from_name(delta_type, column)
        case {"type": "struct", "fields": list(fields)}:
            return LogicalType(
                Kind.STRUCT, fields=tuple(from_delta_field(field, column) for field in fields)
            )
        case {"type": "array", "elementType": element}:
            return LogicalType(Kind.ARRAY, element=from_delta(element, f"{column}.element"))
        case {"type": "map", "keyType": key, "valueType": value}:
            return LogicalType(
                Kind.MAP,
                key=from_delta(key, f"{column}.key"),
                value=from_delta(value, f"{column}.value"),
            )
        case {"type": "udt", "sqlType": stored}:
            return from_delta(stored, column)
        case _:
            raise _unsupported(delta_type, column)


def from_delta_field(field: Mapping[str, Any], parent: str = "") -> StructField:
    """A field of a schema or struct, with the id that column mapping gave it."""
    match field:
        case {"name": str(name), "type": delta_type, **rest}:
            path = f"{parent}.{name}" if parent else name
            return StructField(
                name=name,
                type=from_delta(delta_type, path),
                nullable=rest.get("nullable", True),
                field_id=(rest.get("metadata") or {}).get(_FIELD_ID),
            )
        case _:
            raise _unsupported(field, parent)


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
            raise _unsupported(logical, column)


def to_delta_field(field: StructField, parent: str = "") -> dict[str, object]:
    """The inverse of `from_delta_field`."""
    path = f"{parent}.{field.name}" if parent else field.name
    return {
        "name": field.name,
        "type": to_delta(field.type, path),
        "nullable": field.nullable,
        "metadata": {} if field.field_id is None else {_FIELD_ID: field.field_id},
    }


def _from_name(name: str, column: str) -> LogicalType:
    spelled = name.strip().lower()
    if spelled in _BARE:
        return _BARE[spelled]
    if _PARSED.match(spelled) is None:
        raise _unsupported(name, column)
    try:
        return parse_type(spelled)
    except (InvalidTypeError, UnsupportedTypeError) as error:
        raise _unsupported(name, column) from error


def _unsupported(source: object, column: str) -> UnsupportedTypeError:
    return UnsupportedTypeError(
        f"column {column!r}: {source} has no counterpart in Delta's types that Floecat knows; "
        "leave the column out",
        metadata={"column": column, "type": str(source)},
    )
