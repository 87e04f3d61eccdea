"""Arrow types to logical types and back.

Widths, offsets, dictionaries and zones' names are storage and don't survive; a unit coarser than
microseconds is the precision. Nanoseconds are TIMESTAMP and TIME, whose strings have microseconds.
"""

from collections.abc import Callable
from typing import Final

import pyarrow as pa

from floecat.types import logical as types
from floecat.types.arrays.arrowtypes import is_binary, is_instant, is_single_float, is_text
from floecat.types.errors import UnsupportedTypeError
from floecat.types.kinds import IntervalRange, Kind
from floecat.types.logical import LogicalType, StructField, decimal_type
from floecat.types.mapping.place import Place, place_of_fields

PRECISION_OF_UNIT: Final[dict[str, int | None]] = {"s": 0, "ms": 3, "us": None, "ns": None}
_FIELD_ID: Final = b"PARQUET:field_id"
_JSON_EXTENSION: Final = "arrow.json"
_VARIANT_EXTENSIONS: Final = frozenset({"arrow.parquet.variant", "parquet.variant"})
_MAX_DECIMAL128_DIGITS: Final = 38


def from_arrow(arrow_type: pa.DataType, column: str) -> LogicalType:
    """The logical type of a column's Arrow type, or `UnsupportedTypeError` naming the column."""
    return _from_arrow(arrow_type, Place(column))


def from_arrow_field(field: pa.Field, parent: str = "") -> StructField:
    """A field with its name, logical type, nullability and Parquet field id."""
    return _from_field(field, place_of_fields(parent))


def to_arrow(logical: LogicalType, column: str) -> pa.DataType:
    """The Arrow type that holds a logical type's values; containers must say what they hold."""
    return _to_arrow(logical, Place(column))


def to_arrow_field(field: StructField, parent: str = "") -> pa.Field:
    """The inverse of `from_arrow_field`."""
    return _to_field(field, place_of_fields(parent))


def _from_arrow(arrow_type: pa.DataType, place: Place) -> LogicalType:
    if isinstance(arrow_type, pa.BaseExtensionType):
        return _from_extension(arrow_type, place)
    if pa.types.is_dictionary(arrow_type) or pa.types.is_run_end_encoded(arrow_type):
        return _from_arrow(arrow_type.value_type, place.unwrapped())
    with place.naming():
        if pa.types.is_nested(arrow_type):
            return _from_nested(arrow_type, place)
        if pa.types.is_decimal(arrow_type):
            return decimal_type(arrow_type.precision, arrow_type.scale)
    if pa.types.is_timestamp(arrow_type):
        kind = Kind.TIMESTAMPTZ if is_instant(arrow_type) else Kind.TIMESTAMP
        return LogicalType(kind, temporal_precision=PRECISION_OF_UNIT[arrow_type.unit])
    if pa.types.is_time(arrow_type):
        return LogicalType(Kind.TIME, temporal_precision=PRECISION_OF_UNIT[arrow_type.unit])
    for test, logical in _SIMPLE:
        if test(arrow_type):
            return logical
    raise _unsupported(arrow_type, place)


def _from_field(field: pa.Field, parent: Place) -> StructField:
    place = parent.inside(field.name)
    field_id = (field.metadata or {}).get(_FIELD_ID)
    return StructField(
        name=field.name,
        type=_from_arrow(field.type, place),
        nullable=field.nullable,
        field_id=None if field_id is None else place.field_id(field_id),
    )


def _from_extension(arrow_type: pa.BaseExtensionType, place: Place) -> LogicalType:
    name = arrow_type.extension_name
    if arrow_type == pa.uuid():
        return types.UUID
    if name == _JSON_EXTENSION:
        return types.JSON
    if name in _VARIANT_EXTENSIONS:
        return types.VARIANT
    return _from_arrow(arrow_type.storage_type, place.unwrapped())


def _from_nested(arrow_type: pa.DataType, place: Place) -> LogicalType:
    if pa.types.is_map(arrow_type):
        return LogicalType(
            Kind.MAP,
            key=_from_arrow(arrow_type.key_type, place.inside("key")),
            value=_from_arrow(arrow_type.item_type, place.inside("value")),
        )
    if pa.types.is_struct(arrow_type):
        return LogicalType(
            Kind.STRUCT, fields=tuple(_from_field(field, place) for field in arrow_type)
        )
    if pa.types.is_union(arrow_type):
        raise _unsupported(arrow_type, place)
    element = _from_arrow(arrow_type.value_type, place.inside("element"))
    return LogicalType(Kind.ARRAY, element=element)


def _to_arrow(logical: LogicalType, place: Place) -> pa.DataType:
    match logical:
        case LogicalType(kind=Kind.DECIMAL, precision=int(precision), scale=int(scale)):
            wide = precision > _MAX_DECIMAL128_DIGITS
            return (pa.decimal256 if wide else pa.decimal128)(precision, scale)
        case LogicalType(kind=Kind.TIME, temporal_precision=precision):
            unit = _unit(precision)
            return pa.time64(unit) if unit == "us" else pa.time32(unit)
        case LogicalType(kind=Kind.TIMESTAMP, temporal_precision=precision):
            return pa.timestamp(_unit(precision))
        case LogicalType(kind=Kind.TIMESTAMPTZ, temporal_precision=precision):
            return pa.timestamp(_unit(precision), "UTC")
        case LogicalType(kind=Kind.INTERVAL):
            return pa.month_day_nano_interval()
        case LogicalType(kind=Kind.ARRAY, element=LogicalType() as element):
            return pa.list_(_to_arrow(element, place.inside("element")))
        case LogicalType(kind=Kind.MAP, key=LogicalType() as key, value=LogicalType() as value):
            return pa.map_(
                _to_arrow(key, place.inside("key")), _to_arrow(value, place.inside("value"))
            )
        case LogicalType(kind=Kind.STRUCT, fields=fields) if fields:
            return pa.struct([_to_field(field, place) for field in fields])
        case LogicalType(kind=kind) if kind in _ARROW:
            return _ARROW[kind]
        case _:
            raise _unsupported(logical, place)


def _to_field(field: StructField, parent: Place) -> pa.Field:
    metadata = None if field.field_id is None else {_FIELD_ID: str(field.field_id)}
    arrow_type = _to_arrow(field.type, parent.inside(field.name))
    return pa.field(field.name, arrow_type, field.nullable, metadata)


def _unit(precision: int | None) -> str:
    """The coarsest unit that holds the digits; `s` for none, `us` for the default."""
    if precision is None or precision > 3:
        return "us"
    return "ms" if precision else "s"


def _unsupported(source: object, place: Place) -> UnsupportedTypeError:
    problem = f"{source} has no counterpart; cast the column or leave it out"
    return place.unsupported(problem, str(source))


_DAYS: Final = LogicalType(Kind.INTERVAL, interval_range=IntervalRange.DAY_TO_SECOND)

_SIMPLE: Final[tuple[tuple[Callable[[pa.DataType], bool], LogicalType], ...]] = (
    (pa.types.is_boolean, types.BOOLEAN),
    (pa.types.is_integer, types.INT),
    (is_single_float, types.FLOAT),
    (pa.types.is_float64, types.DOUBLE),
    (pa.types.is_date, types.DATE),
    (is_text, types.STRING),
    (is_binary, types.BINARY),
    (pa.types.is_duration, _DAYS),
    (pa.types.is_interval, types.INTERVAL),
    (pa.types.is_null, types.VARIANT),  # nothing but NULL fits any type; VARIANT promises least
)

_ARROW: Final = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.INT: pa.int64(),
    Kind.FLOAT: pa.float32(),
    Kind.DOUBLE: pa.float64(),
    Kind.DATE: pa.date32(),
    Kind.STRING: pa.string(),
    Kind.BINARY: pa.binary(),
    Kind.UUID: pa.uuid(),
    Kind.JSON: pa.string(),
}
