"""Type strings: ours round trip, and everyone else's names are understood."""

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.types import logical_types

from floecat.types.aliases import ALIASES
from floecat.types.errors import InvalidTypeError, UnsupportedTypeError
from floecat.types.logical import LogicalType
from floecat.types.parse import parse_type

CANONICAL = {
    # Iceberg
    "boolean": "BOOLEAN",
    "int": "INT",
    "long": "INT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "decimal(9, 2)": "DECIMAL(9,2)",
    "date": "DATE",
    "time": "TIME",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMPTZ",
    "timestamp_ns": "TIMESTAMP",
    "timestamptz_ns": "TIMESTAMPTZ",
    "string": "STRING",
    "uuid": "UUID",
    "fixed[16]": "BINARY",
    "binary": "BINARY",
    "variant": "VARIANT",
    "geometry(OGC:CRS84)": "BINARY",
    "list<int>": "ARRAY<INT>",
    # Delta and Spark
    "byte": "INT",
    "short": "INT",
    "integer": "INT",
    "timestamp_ntz": "TIMESTAMP",
    "timestamp_ltz": "TIMESTAMPTZ",
    "varchar(10)": "STRING",
    "array<map<string,int>>": "ARRAY<MAP<STRING, INT>>",
    "struct<a:int,b:string>": "STRUCT<a: INT, b: STRING>",
    "struct<a: int NOT NULL COMMENT 'x', `b c`: string>": 'STRUCT<a: INT NOT NULL, "b c": STRING>',
    "interval day to second": "INTERVAL DAY TO SECOND",
    "interval hour to minute": "INTERVAL DAY TO SECOND",
    "interval month": "INTERVAL YEAR TO MONTH",
    # PostgreSQL
    "int2": "INT",
    "int4": "INT",
    "int8": "INT",
    "bigserial": "INT",
    "real": "FLOAT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "double precision": "DOUBLE",
    "float(24)": "FLOAT",
    "float(25)": "DOUBLE",
    "float(53)": "DOUBLE",
    "numeric": "DECIMAL",
    "numeric(10)": "DECIMAL(10,0)",
    "numeric(3,-2)": "DECIMAL(5,0)",
    "numeric(3,5)": "DECIMAL(5,5)",
    "bytea": "BINARY",
    "text": "STRING",
    "bpchar": "STRING",
    "character varying(20)": "STRING",
    "character(3)": "STRING",
    "jsonb": "JSON",
    "timestamp(3) without time zone": "TIMESTAMP(3)",
    "timestamp (0) with time zone": "TIMESTAMPTZ(0)",
    "timestamptz(6)": "TIMESTAMPTZ(6)",
    "time(3) without time zone": "TIME(3)",
    "interval(3)": "INTERVAL(3)",
    "interval year(4) to month": "INTERVAL YEAR(4) TO MONTH",
    "integer[]": "ARRAY<INT>",
    "text[][]": "ARRAY<ARRAY<STRING>>",
    "int array": "ARRAY<INT>",
    "integer array[3]": "ARRAY<INT>",
    "timestamp(3) with time zone array": "ARRAY<TIMESTAMPTZ(3)>",
    "array<int array>": "ARRAY<ARRAY<INT>>",
    "bit(3)": "STRING",
    "bit varying(3)": "STRING",
    "varbit": "STRING",
    "numeric(100, 2)": "DECIMAL",
    "numeric(1000)": "DECIMAL",
    "numeric(3, -90)": "DECIMAL",
    "numeric(3, 90)": "DECIMAL",
    # DuckDB
    "tinyint": "INT",
    "utinyint": "INT",
    "ubigint": "INT",
    "hugeint": "INT",
    "uhugeint": "INT",
    "blob": "BINARY",
    "datetime": "TIMESTAMP",
    "timestamp_s": "TIMESTAMP(0)",
    "timestamp_ms": "TIMESTAMP(3)",
    "time_ns": "TIME",
    "bit": "STRING",
    "binary large object": "BINARY",
    "character large object": "STRING",
    "enum('a', 'it''s')": "STRING",
    "integer[3]": "ARRAY<INT>",
    "struct(a integer, b varchar)": "STRUCT<a: INT, b: STRING>",
    "map(varchar, integer)": "MAP<STRING, INT>",
    # Trino
    "varbinary": "BINARY",
    "json": "JSON",
    "timestamp(6) with time zone": "TIMESTAMPTZ(6)",
    "array(bigint)": "ARRAY<INT>",
    "unknown": "VARIANT",
    "void": "VARIANT",
    "row(bigint, varchar)": "STRUCT<field0: INT, field1: STRING>",
    "row(double precision, x timestamp(3) with time zone, array(row(date)))": (
        "STRUCT<field0: DOUBLE, x: TIMESTAMPTZ(3), field2: ARRAY<STRUCT<field0: DATE>>>"
    ),
    "row(date date, name text, interval day to second)": (
        "STRUCT<date: DATE, name: STRING, field2: INTERVAL DAY TO SECOND>"
    ),
    'row(a bigint, "b c" map(varchar, double))': 'STRUCT<a: INT, "b c": MAP<STRING, DOUBLE>>',
    "interval day(2) to second(6)": "INTERVAL DAY(2) TO SECOND(6)",
    "interval second(2, 3)": "INTERVAL DAY TO SECOND(3)",
    # containers that don't say
    "array": "ARRAY",
    "map": "MAP",
    "struct": "STRUCT",
    "struct<>": "STRUCT",
}


@pytest.mark.parametrize(("text", "canonical"), CANONICAL.items())
def test_names_of_others(text: str, canonical: str) -> None:
    assert str(parse_type(text)) == canonical


@given(st.sampled_from(sorted(CANONICAL)), st.sampled_from([" ", "  ", "\t", "\n "]))
def test_case_and_spaces_do_not_matter(text: str, space: str) -> None:
    if "'" in text or '"' in text or "`" in text or "struct" in text or "row" in text:
        return  # names of fields and values of enumerations are kept as they are written
    loud = text.upper().replace("(", f"{space}({space}").replace(" ", space)
    assert parse_type(f"{space}{loud}{space}") == parse_type(text)


@given(logical_types())
def test_our_own_strings_round_trip(logical: LogicalType) -> None:
    assert parse_type(str(logical)) == logical


@pytest.mark.parametrize("name", ALIASES)
def test_every_alias_names_its_type(name: str) -> None:
    assert parse_type(name.upper()) == ALIASES[name]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "(",
        "INT INT",
        "DECIMAL(",
        "DECIMAL(1,2,3)",
        "DECIMAL(x)",
        "DECIMAL(77,0)",
        "numeric(1001)",
        "numeric(0)",
        "int array[",
        "row(bigint varchar",
        "row(bigint, field0 bigint)",
        "DECIMAL(9999999999999)",
        "TIMESTAMP(7)",
        "TIMESTAMP(-1)",
        "TIME(9)",
        "ARRAY<",
        "ARRAY<INT",
        "ARRAY<INT)",
        "MAP<INT>",
        "STRUCT<1: INT>",
        "STRUCT<a INT, a INT>",
        "INTERVAL SECOND TO DAY",
        "INTERVAL YEAR TO SECOND",
        "INT[",
        "ENUM('a",
        "varchar(",
        "INT;",
    ],
)
def test_what_is_not_a_type_is_refused(text: str) -> None:
    with pytest.raises(InvalidTypeError):
        parse_type(text)


@pytest.mark.parametrize(
    "text", ["hyperloglog", "ARRAY<ipaddress>", "time with time zone", "timetz", "timetz(3)"]
)
def test_what_has_no_logical_type_is_named(text: str) -> None:
    with pytest.raises(
        UnsupportedTypeError, match=re.escape(text.rsplit("<", maxsplit=1)[-1].rstrip(">"))
    ):
        parse_type(text)


@pytest.mark.parametrize("text", ["time with time zone", "timetz", "timetz(3)[]", "TimeTZ"])
def test_a_zoned_time_is_told_what_to_use(text: str) -> None:
    with pytest.raises(UnsupportedTypeError, match="use TIME"):
        parse_type(text)


def test_a_very_deep_type_is_refused_not_a_crash() -> None:
    with pytest.raises(InvalidTypeError, match="deep"):
        parse_type("ARRAY<" * 10_000)
    with pytest.raises(InvalidTypeError, match="deep"):
        parse_type("INT" + "[]" * 5_000)


@given(st.text(max_size=40))
def test_any_text_gives_a_type_or_a_proper_error(text: str) -> None:
    with contextlib.suppress(InvalidTypeError, UnsupportedTypeError):
        parse_type(text)
