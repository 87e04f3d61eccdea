"""Avro records from bytes, with only the fields that are asked for; the rest is skipped quickly.

A schema is turned into functions once. They take the bytes and a place in them, and give back the
place behind what they read: no stream, no object per number. What manifests have most of, maps of
numbers by column, is skipped by a regular expression: a number ends with the first byte below 128.
Values stay as they are stored, since Python's dates and times don't reach far enough.
"""

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

Schema = Any
Read = Callable[[bytes, int], tuple[Any, int]]
Skip = Callable[[bytes, int], int]

_CHUNK: Final = 256
_NUMBERS: Final = frozenset({"int", "long", "enum"})
_FIXED_SIZES: Final = {"null": 0, "boolean": 1, "float": 4, "double": 8}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A field to read, by the name it gets; of a record, maybe only some of its fields."""

    name: str
    fields: "Mapping[int, Wanted] | None" = None


def records(schema: Schema, fields: Mapping[int, Wanted]) -> Callable[[bytes, int], Iterator[Any]]:
    """Decodes a block of so many records."""
    read = _Compiler().record(schema, fields)

    def decode(data: bytes, count: int) -> Iterator[Any]:
        place = 0
        for _ in range(count):
            record, place = read(data, place)
            yield record
        if place != len(data):
            raise ValueError("an Avro block's records don't fill it")

    return decode


class _Compiler:
    """Turns schemas into functions. Types that are named are compiled once."""

    def __init__(self) -> None:
        self._named: dict[str, Schema] = {}

    def record(self, schema: Schema, wanted: Mapping[int, Wanted] | None) -> Read:
        steps: list[tuple[str | None, Any]] = []
        for field in self._resolved(schema)["fields"]:
            choice = _choice(field, wanted)
            if choice is None:
                steps.append((None, self.skip(field["type"])))
            else:
                steps.append((choice.name, self.read(field["type"], choice.fields)))

        def read(data: bytes, place: int) -> tuple[Any, int]:
            found = {}
            for name, step in steps:
                if name is None:
                    place = step(data, place)
                else:
                    found[name], place = step(data, place)
            return found, place

        return read

    def read(self, schema: Schema, wanted: Mapping[int, Wanted] | None = None) -> Read:
        schema = self._resolved(schema)
        if isinstance(schema, list):
            return _read_union([self.read(option, wanted) for option in schema], _null_in(schema))
        match _kind(schema):
            case "record":
                return self.record(schema, wanted)
            case "array":
                return self._read_items(schema["items"])
            case "map":
                return _read_keyed(_read_text, self.read(schema["values"]))
            case "fixed":
                return _read_fixed(int(schema["size"]))
            case kind:
                return _PRIMITIVES[kind]

    def skip(self, schema: Schema) -> Skip:
        schema = self._resolved(schema)
        if isinstance(schema, list):
            return _skip_union([self.skip(option) for option in schema], _null_in(schema))
        match _kind(schema):
            case "record":
                return _skip_all([self.skip(field["type"]) for field in schema["fields"]])
            case "array":
                return self._skip_items(schema["items"])
            case "map":
                return _skip_blocks(_skip_all([_skip_bytes, self.skip(schema["values"])]))
            case "fixed":
                return _skip_size(int(schema["size"]))
            case "bytes" | "string":
                return _skip_bytes
            case kind if kind in _NUMBERS:
                return _skip_number
            case kind:
                return _skip_size(_FIXED_SIZES[kind])

    def _read_items(self, items: Schema) -> Read:
        """Avro's maps have text for keys, so Iceberg's own are lists of pairs: read as maps."""
        items = self._resolved(items)
        if _kind(items) == "record" and [field["name"] for field in items["fields"]] == _KEYED:
            key, value = (self.read(field["type"]) for field in items["fields"])
            return _read_keyed(key, value)
        return _read_array(self.read(items))

    def _skip_items(self, items: Schema) -> Skip:
        items = self._resolved(items)
        numbers = _numbers_in(items)
        if numbers:
            return _skip_numbers(numbers)
        if _kind(items) == "record" and [_kind(f["type"]) for f in items["fields"]] == _PAIR:
            return _skip_pairs
        return _skip_blocks(self.skip(items))

    def _resolved(self, schema: Schema) -> Schema:
        """A type that was defined before is meant by its name."""
        if isinstance(schema, str) and schema in self._named:
            return self._named[schema]
        if isinstance(schema, dict) and "name" in schema:
            self._named[schema["name"]] = schema
        return schema


_PAIR: Final = ["int", "bytes"]
_KEYED: Final = ["key", "value"]


def _kind(schema: Schema) -> str:
    while isinstance(schema, dict):
        schema = schema["type"]
    return "union" if isinstance(schema, list) else str(schema)


def _choice(field: Mapping[str, Any], wanted: Mapping[int, Wanted] | None) -> Wanted | None:
    """By the field's id, as Iceberg wants it; by its name where a writer left the ids out."""
    if wanted is None:
        return Wanted(field["name"])
    field_id = field.get("field-id")
    if field_id is not None:
        return wanted.get(field_id)
    return next((choice for choice in wanted.values() if choice.name == field["name"]), None)


def _numbers_in(items: Schema) -> int:
    """How many numbers an item is, if it is nothing else."""
    if _kind(items) in _NUMBERS:
        return 1
    if _kind(items) != "record":
        return 0
    fields = items["fields"]
    return len(fields) if all(_kind(field["type"]) in _NUMBERS for field in fields) else 0


def _null_in(options: list[Schema]) -> int | None:
    return options.index("null") if len(options) == 2 and "null" in options else None


def read_number(data: bytes, place: int) -> tuple[int, int]:
    """A zig-zag number of variable length."""
    byte = data[place]
    place += 1
    if byte < 128:
        return (byte >> 1) ^ -(byte & 1), place
    value, shift = byte & 127, 7
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return (value >> 1) ^ -(value & 1), place
        shift += 7
        if shift > 63:
            raise ValueError("an Avro number is too long")


def _read_bytes(data: bytes, place: int) -> tuple[bytes, int]:
    size, place = read_number(data, place)
    end = place + size
    if size < 0 or end > len(data):
        raise EOFError("an Avro value ends behind its block")
    return data[place:end], end


def _read_text(data: bytes, place: int) -> tuple[str, int]:
    found, place = _read_bytes(data, place)
    return found.decode(), place


def _read_null(_data: bytes, place: int) -> tuple[None, int]:
    return None, place


def _read_boolean(data: bytes, place: int) -> tuple[bool, int]:
    return data[place] != 0, place + 1


def _read_float(data: bytes, place: int) -> tuple[float, int]:
    return struct.unpack_from("<f", data, place)[0], place + 4


def _read_double(data: bytes, place: int) -> tuple[float, int]:
    return struct.unpack_from("<d", data, place)[0], place + 8


_PRIMITIVES: Final[dict[str, Read]] = {
    "null": _read_null,
    "boolean": _read_boolean,
    "int": read_number,
    "long": read_number,
    "enum": read_number,
    "float": _read_float,
    "double": _read_double,
    "bytes": _read_bytes,
    "string": _read_text,
}


def _read_fixed(size: int) -> Read:
    def read(data: bytes, place: int) -> tuple[bytes, int]:
        end = place + size
        if end > len(data):
            raise EOFError("an Avro value ends behind its block")
        return data[place:end], end

    return read


def _read_union(options: list[Read], null: int | None) -> Read:
    if null is None:

        def read_any(data: bytes, place: int) -> tuple[Any, int]:
            chosen, place = read_number(data, place)
            return options[_checked(chosen, options)](data, place)

        return read_any
    nothing, something, inner = null * 2, 2 - null * 2, options[1 - null]

    def read_optional(data: bytes, place: int) -> tuple[Any, int]:
        chosen = data[place]
        if chosen == nothing:
            return None, place + 1
        if chosen != something:
            raise ValueError("an Avro union has no such branch")
        return inner(data, place + 1)

    return read_optional


def _read_array(item: Read) -> Read:
    def read(data: bytes, place: int) -> tuple[list[Any], int]:
        found: list[Any] = []
        while True:
            count, place = _block(data, place)
            if not count:
                return found, place
            for _ in range(count):
                value, place = item(data, place)
                found.append(value)

    return read


def _read_keyed(key_of: Read, value_of: Read) -> Read:
    def read(data: bytes, place: int) -> tuple[dict[Any, Any], int]:
        found: dict[Any, Any] = {}
        while True:
            count, place = _block(data, place)
            if not count:
                return found, place
            for _ in range(count):
                key, place = key_of(data, place)
                found[key], place = value_of(data, place)

    return read


def _block(data: bytes, place: int) -> tuple[int, int]:
    """How many items follow. A negative count has the block's size behind it."""
    count = data[place]
    if count < 128 and not count & 1:
        return count >> 1, place + 1
    count, place = read_number(data, place)
    if count < 0:
        _, place = read_number(data, place)
        count = -count
    if count > len(data):  # every item of ours has bytes
        raise ValueError(f"an Avro block claims {count} items")
    return count, place


def _checked(chosen: int, options: list[Any]) -> int:
    if not 0 <= chosen < len(options):
        raise ValueError("an Avro union has no such branch")
    return chosen


def _skip_number(data: bytes, place: int) -> int:
    while data[place] > 127:
        place += 1
    return place + 1


def _skip_bytes(data: bytes, place: int) -> int:
    size, place = read_number(data, place)
    if size < 0:
        raise ValueError("an Avro value has a negative size")
    return place + size


def _skip_size(size: int) -> Skip:
    return lambda _data, place: place + size


def _skip_all(parts: list[Skip]) -> Skip:
    def skip(data: bytes, place: int) -> int:
        for part in parts:
            place = part(data, place)
        return place

    return skip


def _skip_union(options: list[Skip], null: int | None) -> Skip:
    if null is None:

        def skip_any(data: bytes, place: int) -> int:
            chosen, place = read_number(data, place)
            return options[_checked(chosen, options)](data, place)

        return skip_any
    nothing, something, inner = null * 2, 2 - null * 2, options[1 - null]

    def skip_optional(data: bytes, place: int) -> int:
        chosen = data[place]
        if chosen == something:
            return inner(data, place + 1)
        if chosen != nothing:
            raise ValueError("an Avro union has no such branch")
        return place + 1

    return skip_optional


def _skip_blocks(item: Skip) -> Skip:
    def skip(data: bytes, place: int) -> int:
        while True:
            count, place = _block(data, place)
            if not count:
                return place
            for _ in range(count):
                place = item(data, place)

    return skip


def _skip_numbers(each: int) -> Skip:
    """Items of so many numbers each."""

    def skip(data: bytes, place: int) -> int:
        while data[place]:
            count, place = _block(data, place)
            left = count * each
            while left:
                part = min(left, _CHUNK)
                found = _run_of(part).match(data, place)
                if found is None:
                    raise EOFError("an Avro array ends behind its block")
                place = found.end()
                left -= part
        return place + 1

    return skip


@cache
def _run_of(count: int) -> "re.Pattern[bytes]":
    """Written out: a counted repetition takes twice as long."""
    return re.compile(rb"[\x80-\xff]*+[\x00-\x7f]" * count)


def _skip_pairs(data: bytes, place: int) -> int:
    """Pairs of a number and bytes: bounds by column."""
    while data[place]:
        count, place = _block(data, place)
        for _ in range(count):
            while data[place] > 127:
                place += 1
            size = data[place + 1]
            if size > 127:
                place = _skip_bytes(data, place + 1)
            elif size & 1:
                raise ValueError("an Avro value has a negative size")
            else:
                place += 2 + (size >> 1)
    return place + 1
