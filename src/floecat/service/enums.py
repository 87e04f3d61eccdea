"""Numbers that stand for nothing: refused wherever they are in a request."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from floecat.errors import InvalidArgumentError


@dataclass(frozen=True, slots=True)
class _Watched:
    """A field that is an enum, or in which there may be some; worked out once per type."""

    name: str
    optional: bool
    repeated: bool
    map: bool
    names: dict[int, str] | None
    """The enum's values; None for messages."""

    def values(self, message: Message) -> Iterable[Any]:
        if self.optional and not message.HasField(self.name):
            return ()
        content = getattr(message, self.name)
        if self.map:
            return list(content.values())
        return content if self.repeated else (content,)


def check_enums(message: Message, path: str = "") -> None:
    """Refuse a request that has an enum value this version doesn't know.

    It would be kept, and mean something else, or nothing, to whoever reads it.
    """
    for field in _watched(message.DESCRIPTOR):
        for value in field.values(message):
            if field.names is None:
                check_enums(value, f"{path}{field.name}.")
            elif value not in field.names:
                where, allowed = f"{path}{field.name}", ", ".join(field.names.values())
                raise InvalidArgumentError(
                    f"{where} is {value}, which isn't one of {allowed}", field=where
                )


@cache
def _watched(descriptor: Descriptor) -> tuple[_Watched, ...]:
    """Most messages have none."""
    return tuple(
        _Watched(
            name=field.name,
            optional=field.has_presence,
            repeated=field.is_repeated,
            map=_is_map(field),
            names=_names_of(field),
        )
        for field in descriptor.fields
        if _has_enums(field, frozenset())
    )


def _names_of(field: FieldDescriptor) -> dict[int, str] | None:
    entry = field.message_type
    kind = entry.fields_by_name["value"] if entry is not None and _is_map(field) else field
    if kind.enum_type is None:
        return None
    return {value.number: value.name for value in kind.enum_type.values}


def _is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _has_enums(field: FieldDescriptor, above: frozenset[str]) -> bool:
    if field.enum_type is not None:
        return True
    inner = field.message_type
    if inner is not None and _is_map(field):
        value = inner.fields_by_name["value"]
        if value.enum_type is not None:
            return True
        inner = value.message_type
    if inner is None or inner.full_name in above:
        return False
    return any(_has_enums(f, above | {inner.full_name}) for f in inner.fields)
