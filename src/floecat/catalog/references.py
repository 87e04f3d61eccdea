"""Which blobs a record names. Whoever collects or moves blobs asks here, and nowhere else."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from google.protobuf.message import Message

from ai.floedb.floecat.catalog.stored_pb2 import StoredResource, StoredResponse
from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.execution.stored_pb2 import StoredOverlay
from ai.floedb.floecat.reconciler.stored_pb2 import FinalSnapshot, StoredJob
from floecat.storage.kv.port import Record

_NAMING: Final[Mapping[str, type[Message]]] = {
    "resource": StoredResource,
    "snapshot": StoredResource,
    "constraints": StoredResource,
    "reconciler": StoredResource,
    "idempotency": StoredResponse,
    "job": StoredJob,
    "final": FinalSnapshot,
    "overlay": StoredOverlay,
}
"""What the records of an area are, if they may name blobs."""

BLOBS: Final = ("captures/", "plans/", "records/", "results/")
"""Where the blobs lie that records name, by name; what lies elsewhere belongs to others."""


def references_of(record: Record) -> Iterator[BlobReference]:
    """The blobs that a record names; records of other rooms name none of ours."""
    stored = _stored(record)
    if stored is not None:
        yield from _references(stored)


def with_references(
    record: Record, change: Callable[[BlobReference], BlobReference]
) -> bytes | None:
    """The record's value with each reference changed; None if it has none."""
    stored = _stored(record)
    references = list(_references(stored)) if stored is not None else []
    if stored is None or not references:
        return None
    for reference in references:
        reference.CopyFrom(change(reference))
    return stored.SerializeToString()


def _stored(record: Record) -> Message | None:
    kind = _NAMING.get(record.key.partition.partition("/")[0])
    return None if kind is None else kind.FromString(record.value)


def _references(stored: Message) -> Iterator[BlobReference]:
    """Every reference that is set: directly, in a map, or in what there are several of."""
    for field, value in stored.ListFields():
        if isinstance(value, BlobReference):
            yield value
        elif field.message_type is not None and field.message_type.GetOptions().map_entry:
            yield from (part for part in value.values() if isinstance(part, BlobReference))
        elif field.message_type is not None and field.is_repeated:
            for part in value:
                yield from _references(part)
