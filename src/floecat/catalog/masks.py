"""Partial updates: which fields of a specification a request changes."""

from collections.abc import Collection
from typing import TypeVar

from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message

from floecat.errors import InvalidArgumentError

Spec = TypeVar("Spec", bound=Message)


def updated_spec(current: Spec, given: Spec, mask: FieldMask, immutable: Collection[str]) -> Spec:
    """`current` with the fields that the mask names taken from `given`.

    An empty mask names every field that is set. Immutable fields may be repeated, not changed.
    """
    named = FieldMask(paths=mask.paths or [field.name for field, _ in given.ListFields()])
    for path in named.paths:
        if not FieldMask(paths=[path]).IsValidForDescriptor(given.DESCRIPTOR):  # type: ignore[arg-type]
            raise InvalidArgumentError(
                f"update_mask names {path!r}, which isn't a field of {given.DESCRIPTOR.name}",
                field="update_mask",
            )
    changed = type(current)()
    changed.CopyFrom(current)
    named.MergeMessage(given, changed, replace_message_field=True, replace_repeated_field=True)
    for name in immutable:
        if getattr(changed, name) != getattr(current, name):
            raise InvalidArgumentError(f"{name} can't be changed", field=f"spec.{name}")
    return changed


def copy_shared_fields(source: Message, target: Message) -> None:
    """Make the fields that both message types have equal to the source's, unset ones included."""
    shared = set(source.DESCRIPTOR.fields_by_name) & set(target.DESCRIPTOR.fields_by_name)
    mask = FieldMask(paths=sorted(shared))
    mask.MergeMessage(source, target, replace_message_field=True, replace_repeated_field=True)
