"""Messages of any type, made by hypothesis from their descriptors: valid, odd and hostile ones."""

from collections.abc import Sequence
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import strategies as st

from ai.floedb.floecat.common.common_pb2 import NameRef, ResourceId

MAX_DEPTH = 4
ODD_TEXT = [
    "",
    " ",
    "x" * 300,
    "\x00",
    "a/b",
    "..",
    "é",
    "e\u0301",
    "😀",
    "-1",
    "NaN",
    "main",
    "sales",
]

_INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}


class Fuzzer:
    """Knows some ids and names that exist, so that messages reach further than the first check."""

    def __init__(self, ids: Sequence[ResourceId], names: Sequence[NameRef]) -> None:
        self._ids = list(ids)
        self._names = list(names)

    def messages(self, descriptor: Descriptor, depth: int = 0) -> st.SearchStrategy[Message]:
        """Messages of one type."""
        match descriptor.full_name:
            case "ai.floedb.floecat.common.ResourceId" if self._ids:
                return st.one_of(st.sampled_from(self._ids), self._built(descriptor, depth))
            case "ai.floedb.floecat.common.NameRef" if self._names:
                return st.one_of(st.sampled_from(self._names), self._built(descriptor, depth))
            case "google.protobuf.FieldMask":
                paths = ["display_name", "description", "properties", "path", "upstream.uri", "x"]
                return st.lists(st.sampled_from(paths), max_size=3).map(
                    lambda chosen: FieldMask(paths=chosen)
                )
            case _:
                return self._built(descriptor, depth)

    def _built(self, descriptor: Descriptor, depth: int) -> st.SearchStrategy[Message]:
        made = GetMessageClass(descriptor)
        fields = {
            field.name: self._field(field, depth)
            for field in descriptor.fields
            if depth < MAX_DEPTH or field.cpp_type != FieldDescriptor.CPPTYPE_MESSAGE
        }
        return st.fixed_dictionaries({}, optional=fields).map(
            lambda values: made(**_one_of_each(descriptor, values))
        )

    def _field(self, field: FieldDescriptor, depth: int) -> st.SearchStrategy[Any]:
        if _is_map(field):
            entry = _message_type(field).fields_by_name
            return st.dictionaries(
                self._single(entry["key"], depth), self._single(entry["value"], depth), max_size=2
            )
        single = self._single(field, depth)
        return st.lists(single, max_size=2) if field.is_repeated else single

    def _single(self, field: FieldDescriptor, depth: int) -> st.SearchStrategy[Any]:
        kind = field.cpp_type
        if kind in _INTEGERS:
            low, high = _INTEGERS[kind]
            return st.one_of(st.sampled_from([0, 1, low, high]), st.integers(low, high))
        match kind:
            case FieldDescriptor.CPPTYPE_ENUM:
                known = [v.number for v in field.enum_type.values] if field.enum_type else []
                return st.sampled_from([*known, 99])
            case FieldDescriptor.CPPTYPE_BOOL:
                return st.booleans()
            case FieldDescriptor.CPPTYPE_DOUBLE | FieldDescriptor.CPPTYPE_FLOAT:
                return st.floats(width=32)
            case FieldDescriptor.CPPTYPE_MESSAGE:
                return st.deferred(lambda: self.messages(_message_type(field), depth + 1))
            case _ if field.type == FieldDescriptor.TYPE_BYTES:
                return st.binary(max_size=20)
            case _:
                return st.one_of(st.sampled_from(ODD_TEXT), st.text(max_size=20))


def _message_type(field: FieldDescriptor) -> Descriptor:
    assert field.message_type is not None
    return field.message_type


def _is_map(field: FieldDescriptor) -> bool:
    return bool(
        field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE
        and _message_type(field).GetOptions().map_entry
    )


def _one_of_each(descriptor: Descriptor, values: dict[str, Any]) -> dict[str, Any]:
    """At most one member of each oneof, since constructors take the last one anyway."""
    for group in descriptor.oneofs:
        given = [field.name for field in group.fields if field.name in values]
        for name in given[1:]:
            del values[name]
    return values
