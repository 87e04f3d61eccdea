"""Parquet's leaf columns to logical types: by logical type, else converted, else physical type.

INT96 is a TIMESTAMPTZ: the format doesn't say, but Spark and Hive wrote instants into it, and Spark
and Iceberg read it as one. A table that declares its columns knows better; the values fit either.
Writing goes through `arrow`, whose types pyarrow stores as Parquet.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow.parquet as pq

from floecat.types import logical as types
from floecat.types.errors import InvalidTypeError, UnsupportedTypeError
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType, decimal_type
from floecat.types.mapping.arrow import PRECISION_OF_UNIT


@dataclass(frozen=True, slots=True)
class Annotation:
    """What a leaf's bytes mean: a logical type, or the converted type that came before those."""

    name: str
    unit: str = ""
    is_utc: bool = False
    is_signed: bool = True
    precision: int = 0
    scale: int = 0


@dataclass(frozen=True, slots=True)
class ParquetColumn:
    """A leaf of a Parquet schema, as a footer describes it."""

    path: str
    physical: str
    annotation: Annotation
    length: int = 0

    @classmethod
    def of_pyarrow(cls, schema: pq.ColumnSchema) -> "ParquetColumn":
        """The leaf that pyarrow read from a footer."""
        logical = json.loads(schema.logical_type.to_json())
        if logical["Type"] == "None":
            annotation = of_converted(schema.converted_type, schema.precision, schema.scale)
        else:
            annotation = of_logical(logical)
        return cls(schema.path, schema.physical_type, annotation, schema.length)


def of_logical(logical: Mapping[str, Any]) -> Annotation:
    """The annotation of a logical type, in the JSON that pyarrow writes."""
    return Annotation(
        name=str(logical["Type"]).upper(),
        unit=_UNITS.get(logical.get("timeUnit", ""), ""),
        is_utc=logical.get("isAdjustedToUTC", False),
        is_signed=logical.get("isSigned", True),
        precision=logical.get("precision", 0),
        scale=logical.get("scale", 0),
    )


def of_converted(converted: str, precision: int = 0, scale: int = 0) -> Annotation:
    """The annotation of a converted type, by its name in the format's definition."""
    if converted == "DECIMAL":
        return Annotation("DECIMAL", precision=precision, scale=scale)
    return _CONVERTED.get(converted, Annotation(converted))


def from_parquet(column: ParquetColumn) -> LogicalType:
    """The logical type of a leaf."""
    annotation = column.annotation
    match annotation.name:
        case "DECIMAL":
            return _decimal(column)
        case "TIME" if annotation.unit:
            return LogicalType(Kind.TIME, temporal_precision=PRECISION_OF_UNIT[annotation.unit])
        case "TIMESTAMP" if annotation.unit:
            kind = Kind.TIMESTAMPTZ if annotation.is_utc else Kind.TIMESTAMP
            return LogicalType(kind, temporal_precision=PRECISION_OF_UNIT[annotation.unit])
        case "NONE" if column.physical in _PHYSICAL:
            return _PHYSICAL[column.physical]
        case name if name in _ANNOTATED:
            return _ANNOTATED[name]
        case _:
            raise _unsupported(column)


def _decimal(column: ParquetColumn) -> LogicalType:
    try:
        return decimal_type(column.annotation.precision, column.annotation.scale)
    except InvalidTypeError as error:
        raise _unsupported(column) from error


def _unsupported(column: ParquetColumn) -> UnsupportedTypeError:
    return UnsupportedTypeError(
        f"column {column.path!r}: Parquet's {column.physical} as {column.annotation} isn't a type "
        "Floecat knows; leave the column out",
        metadata={"column": column.path, "type": column.annotation.name},
    )


_UNITS: Final = {"milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns"}

_CONVERTED: Final = {
    "UTF8": Annotation("STRING"),
    "TIME_MILLIS": Annotation("TIME", unit="ms", is_utc=True),
    "TIME_MICROS": Annotation("TIME", unit="us", is_utc=True),
    "TIMESTAMP_MILLIS": Annotation("TIMESTAMP", unit="ms", is_utc=True),
    "TIMESTAMP_MICROS": Annotation("TIMESTAMP", unit="us", is_utc=True),
    "INT_8": Annotation("INT"),
    "INT_16": Annotation("INT"),
    "INT_32": Annotation("INT"),
    "INT_64": Annotation("INT"),
    "UINT_8": Annotation("INT", is_signed=False),
    "UINT_16": Annotation("INT", is_signed=False),
    "UINT_32": Annotation("INT", is_signed=False),
    "UINT_64": Annotation("INT", is_signed=False),
}

_PHYSICAL: Final = {
    "BOOLEAN": types.BOOLEAN,
    "INT32": types.INT,
    "INT64": types.INT,
    "INT96": types.TIMESTAMPTZ,
    "FLOAT": types.FLOAT,
    "DOUBLE": types.DOUBLE,
    "BYTE_ARRAY": types.BINARY,
    "FIXED_LEN_BYTE_ARRAY": types.BINARY,
}

_ANNOTATED: Final = {
    "STRING": types.STRING,
    "ENUM": types.STRING,
    "JSON": types.JSON,
    "BSON": types.BINARY,
    "UUID": types.UUID,
    "DATE": types.DATE,
    "INT": types.INT,
    "FLOAT16": types.FLOAT,
    "INTERVAL": types.INTERVAL,
    "VARIANT": types.VARIANT,
    "GEOMETRY": types.BINARY,
    "GEOGRAPHY": types.BINARY,
    "NULL": types.VARIANT,  # nothing but NULL; VARIANT promises least
    "UNKNOWN": types.VARIANT,
}
