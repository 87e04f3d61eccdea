"""Numbers that stand for nothing: refused wherever they are in a request."""

from collections.abc import Iterator
from functools import cache

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from floecat.errors import InvalidArgumentError


def check_enums(message: Message, path: str = "") -> None:
    """Refuse a request that has an enum value this version doesn't know.

    It would be kept, and mean something else, or nothing, to whoever reads it.
    """
    for field in _fields_with_enums(message.DESCRIPTOR):
        for value in _values(message, field):
            where = f"{path}{field.name}"
            if isinstance(value, Message):
                check_enums(value, f"{where}.")
            elif field.enum_type and value not in field.enum_type.values_by_number:
                allowed = ", ".join(known.name for known in field.enum_type.values)
                raise InvalidArgumentError(
                    f"{where} is {value}, which isn't one of {allowed}", field=where
                )


def _values(message: Message, field: FieldDescriptor) -> Iterator[Message | int]:
    if not field.is_repeated:
        if not field.has_presence or message.HasField(field.name):
            yield getattr(message, field.name)
        return
    content = getattr(message, field.name)
    yield from content.values() if _is_map(field) else content


def _is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


@cache
def _fields_with_enums(descriptor: Descriptor) -> tuple[FieldDescriptor, ...]:
    """The fields that are enums, or in which there may be some; most messages have none."""
    return tuple(field for field in descriptor.fields if _has_enums(field, frozenset()))


def _has_enums(field: FieldDescriptor, above: frozenset[str]) -> bool:
    if field.enum_type is not None:
        return True
    inner = field.message_type
    if inner is not None and _is_map(field):
        inner = inner.fields_by_name["value"].message_type
    if inner is None or inner.full_name in above:
        return False
    return any(_has_enums(f, above | {inner.full_name}) for f in inner.fields)
