"""What Iceberg, Delta/Spark, PostgreSQL, DuckDB and Trino call the logical types, in lower case.

One table, because the names agree except where noted. Spark's TIMESTAMP is an instant: what comes
from Spark goes through `mapping.delta`, which knows that.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType

_NAMES: Final = {
    Kind.BOOLEAN: ("boolean", "bool", "logical"),
    Kind.INT: (
        *("tinyint", "smallint", "int", "integer", "bigint", "hugeint", "mediumint"),
        *("byte", "short", "long", "int1", "int2", "int4", "int8", "int16", "int32", "int64"),
        *("int128", "utinyint", "usmallint", "uint", "uinteger", "ubigint", "uhugeint", "bignum"),
        *("uint8", "uint16", "uint32", "uint64", "uint128", "varint", "signed", "oid"),
        *("smallserial", "serial", "bigserial", "serial2", "serial4", "serial8"),
    ),
    # PostgreSQL's bare FLOAT is a double; everyone else's isn't, and FLOAT is our own name.
    Kind.FLOAT: ("float", "real", "float4", "float16", "float32", "half", "halffloat"),
    Kind.DOUBLE: ("double", "double precision", "float8", "float64"),
    Kind.DECIMAL: ("decimal", "numeric", "dec", "number"),
    Kind.DATE: ("date", "date32"),
    Kind.TIME: ("time", "time_ns"),
    Kind.TIMESTAMP: ("timestamp", "timestamp_ntz", "timestamp_us", "timestamp_ns", "datetime"),
    Kind.TIMESTAMPTZ: (
        *("timestamptz", "timestamp_tz", "timestamp_ltz", "timestamptz_ns", "timestamptz_us"),
    ),
    Kind.STRING: (
        *("string", "varchar", "char", "text", "bpchar", "name", "nvarchar", "nchar", "clob"),
        *("character", "character varying", "char varying", "utf8", "large_string", "citext"),
        *("national character", "national character varying", "xml", "enum", "tinytext"),
        *("character large object", "char large object"),
        # Bits are written as their digits, which order as the bits do.
        *("bit", "bit varying", "varbit", "bitstring"),
    ),
    Kind.BINARY: (
        *("binary", "varbinary", "bytea", "blob", "bytes", "fixed", "binary varying"),
        *("large_binary", "binary large object", "geometry", "geography"),
    ),
    Kind.UUID: ("uuid", "guid"),
    Kind.JSON: ("json", "jsonb"),
    Kind.INTERVAL: ("interval",),
    Kind.ARRAY: ("array", "list"),
    Kind.MAP: ("map",),
    Kind.STRUCT: ("struct", "row"),
    # What Trino and Spark call the type of nothing but NULL.
    Kind.VARIANT: ("variant", "unknown", "void"),
}

_SHORTHANDS: Final = {
    "timestamp_s": LogicalType(Kind.TIMESTAMP, temporal_precision=0),
    "timestamp_ms": LogicalType(Kind.TIMESTAMP, temporal_precision=3),
}

ALIASES: Final[Mapping[str, LogicalType]] = MappingProxyType(
    {name: LogicalType(kind) for kind, names in _NAMES.items() for name in names} | _SHORTHANDS
)
"""A name, one to three words, to the type it means without parameters."""

ZONED_TIMES: Final = frozenset({"timetz", "time_tz"})
"""Names of a time of day with a zone, which has no logical type."""
