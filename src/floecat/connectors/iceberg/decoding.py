"""Avro records from bytes, with only the fields that are asked for; the rest is skipped quickly.

A schema is turned into functions once. They take the bytes and a place in them, and give back the
place behind what they read: no stream, no object per number. Values stay as they are stored, since
Python's dates and times don't reach far enough.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from floecat.connectors.iceberg.skipping import (
    Skip,
    skip_all,
    skip_blocks,
    skip_bytes,
    skip_number,
    skip_numbers,
    skip_pairs,
    skip_size,
    skip_union,
)
from floecat.connectors.iceberg.values import (
    PRIMITIVES,
    Read,
    read_array,
    read_fixed,
    read_keyed,
    read_text,
    read_union,
)

Schema = Any

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
            return read_union([self.read(option, wanted) for option in schema], _null_in(schema))
        match _kind(schema):
            case "record":
                return self.record(schema, wanted)
            case "array":
                return self._read_items(schema["items"])
            case "map":
                return read_keyed(read_text, self.read(schema["values"]))
            case "fixed":
                return read_fixed(int(schema["size"]))
            case kind:
                return PRIMITIVES[kind]

    def skip(self, schema: Schema) -> Skip:
        schema = self._resolved(schema)
        if isinstance(schema, list):
            return skip_union([self.skip(option) for option in schema], _null_in(schema))
        match _kind(schema):
            case "record":
                return skip_all([self.skip(field["type"]) for field in schema["fields"]])
            case "array":
                return self._skip_items(schema["items"])
            case "map":
                return skip_blocks(skip_all([skip_bytes, self.skip(schema["values"])]))
            case "fixed":
                return skip_size(int(schema["size"]))
            case "bytes" | "string":
                return skip_bytes
            case kind if kind in _NUMBERS:
                return skip_number
            case kind:
                return skip_size(_FIXED_SIZES[kind])

    def _read_items(self, items: Schema) -> Read:
        """Avro's maps have text for keys, so Iceberg's own are lists of pairs: read as maps."""
        items = self._resolved(items)
        if _kind(items) == "record" and [field["name"] for field in items["fields"]] == _KEYED:
            key, value = (self.read(field["type"]) for field in items["fields"])
            return read_keyed(key, value)
        return read_array(self.read(items))

    def _skip_items(self, items: Schema) -> Skip:
        items = self._resolved(items)
        numbers = _numbers_in(items)
        if numbers:
            return skip_numbers(numbers)
        if _kind(items) == "record" and [_kind(f["type"]) for f in items["fields"]] == _PAIR:
            return skip_pairs
        return skip_blocks(self.skip(items))

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
