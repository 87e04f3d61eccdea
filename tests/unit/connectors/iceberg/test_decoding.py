"""Avro records: what is read is what was written, whatever is skipped in between."""

import struct
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floecat.connectors.iceberg.decoding import Wanted, records

LONGS = st.integers(-(2**63), 2**63 - 1)
DOUBLES = st.floats(allow_nan=False)

Written = tuple[Any, Any, bytes]
"""A schema, a value of it, and the value's bytes."""

NAMES = count()


def number(value: int) -> bytes:
    zigzag = (value << 1) ^ (value >> 63)
    parts = bytearray()
    while zigzag > 127:
        parts.append(zigzag & 127 | 128)
        zigzag >>= 7
    return bytes([*parts, zigzag])


def sized(data: bytes) -> bytes:
    return number(len(data)) + data


def array(items: list[bytes], *, with_size: bool) -> bytes:
    if not items:
        return number(0)
    body = b"".join(items)
    head = number(-len(items)) + number(len(body)) if with_size else number(len(items))
    return head + body + number(0)


def pairs(keys: list[int], values: list[Written], *, with_size: bool) -> Written:
    """A map as Iceberg writes it: a list of keys and values."""
    kind = values[0][0] if values else "long"
    fields = [{"name": "key", "type": "int"}, {"name": "value", "type": kind}]
    schema = {
        "type": "array",
        "items": {"type": "record", "name": f"p{next(NAMES)}", "fields": fields},
    }
    items = [number(key) + value[2] for key, value in zip(keys, values, strict=True)]
    return (
        schema,
        {k: v[1] for k, v in zip(keys, values, strict=True)},
        array(items, with_size=with_size),
    )


@st.composite
def maps(draw: st.DrawFn) -> Written:
    keys = draw(st.lists(st.integers(0, 2**31 - 1), unique=True, max_size=300))
    one = draw(st.sampled_from([LONGS.map(lambda v: ("long", v, number(v))), BYTES]))
    values = [draw(one) for _ in keys]
    return pairs(keys, values, with_size=draw(st.booleans()))


@st.composite
def lists(draw: st.DrawFn) -> Written:
    values = draw(st.lists(LONGS, max_size=300))
    data = array([number(value) for value in values], with_size=draw(st.booleans()))
    return {"type": "array", "items": "long"}, values, data


@st.composite
def optional(draw: st.DrawFn) -> Written:
    schema, value, data = draw(VALUES)
    if draw(st.booleans()):
        return ["null", schema], *(
            (value, number(1) + data) if draw(st.booleans()) else (None, number(0))
        )
    return [schema, "null"], *(
        (value, number(0) + data) if draw(st.booleans()) else (None, number(1))
    )


BYTES = st.binary(max_size=200).map(lambda v: ("bytes", v, sized(v)))
VALUES = st.one_of(
    LONGS.map(lambda v: ("long", v, number(v))),
    st.integers(-(2**31), 2**31 - 1).map(lambda v: ("int", v, number(v))),
    st.booleans().map(lambda v: ("boolean", v, bytes([v]))),
    DOUBLES.map(lambda v: ("double", v, struct.pack("<d", v))),
    st.floats(width=32, allow_nan=False).map(lambda v: ("float", v, struct.pack("<f", v))),
    st.text(max_size=50).map(lambda v: ("string", v, sized(v.encode()))),
    st.binary(min_size=4, max_size=4).map(
        lambda v: ({"type": "fixed", "name": f"f{next(NAMES)}", "size": 4}, v, v)
    ),
    BYTES,
    maps(),
    lists(),
)
FIELDS = st.lists(st.one_of(VALUES, optional()), min_size=1, max_size=8)


@given(rows=FIELDS, wanted=st.sets(st.integers(0, 7)))
def test_what_is_asked_for_is_read_and_the_rest_skipped(
    rows: list[Written], wanted: set[int]
) -> None:
    fields = [{"name": f"f{i}", "type": row[0], "field-id": i} for i, row in enumerate(rows)]
    schema = {"type": "record", "name": "r", "fields": fields}
    data = b"".join(row[2] for row in rows)
    decode = records(schema, {i: Wanted(f"wanted {i}") for i in wanted})
    expected = {f"wanted {i}": row[1] for i, row in enumerate(rows) if i in wanted}
    assert list(decode(data * 3, 3)) == [expected] * 3


@given(rows=FIELDS, cut=st.integers(1, 50))
def test_a_record_that_is_cut_off_is_an_error(rows: list[Written], cut: int) -> None:
    fields = [{"name": f"f{i}", "type": row[0], "field-id": i} for i, row in enumerate(rows)]
    schema = {"type": "record", "name": "r", "fields": fields}
    data = b"".join(row[2] for row in rows)
    for wanted in ({}, {i: Wanted(f"f{i}") for i in range(len(rows))}):
        with pytest.raises((LookupError, ValueError, EOFError, struct.error)):
            list(records(schema, wanted)(data[:-cut] if cut < len(data) else b"", 1))


def test_a_type_is_defined_once_and_then_named() -> None:
    point = {"type": "record", "name": "point", "fields": [{"name": "x", "type": "int"}]}
    fields = [
        {"name": "a", "type": point, "field-id": 1},
        {"name": "b", "type": "point", "field-id": 2},
        {"name": "c", "type": "int", "field-id": 3},
    ]
    schema = {"type": "record", "name": "r", "fields": fields}
    decode = records(schema, {2: Wanted("b"), 3: Wanted("c")})
    assert list(decode(number(1) + number(2) + number(3), 1)) == [{"b": {"x": 2}, "c": 3}]


def test_fields_without_ids_are_found_by_name() -> None:
    schema = {"type": "record", "name": "r", "fields": [{"name": "status", "type": "int"}]}
    assert list(records(schema, {0: Wanted("status")})(number(1), 1)) == [{"status": 1}]
