"""Which blobs a record names. Whoever collects or moves blobs asks here, and nowhere else."""

from collections.abc import Callable, Iterator
from typing import Final

from ai.floedb.floecat.catalog.stored_pb2 import StoredResource, StoredResponse
from ai.floedb.floecat.common.common_pb2 import BlobReference
from floecat.storage.kv.port import Record

_RESOURCES: Final = frozenset({"resource", "snapshot", "constraints"})
_RESPONSES: Final = "idempotency"

BLOBS: Final = "records/"
"""Where the blobs lie that this room's records name; what lies elsewhere belongs to others."""


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


def _stored(record: Record) -> StoredResource | StoredResponse | None:
    area = record.key.partition.partition("/")[0]
    if area in _RESOURCES:
        return StoredResource.FromString(record.value)
    return StoredResponse.FromString(record.value) if area == _RESPONSES else None


def _references(stored: StoredResource | StoredResponse) -> Iterator[BlobReference]:
    if stored.HasField("spilled"):
        yield stored.spilled
    if isinstance(stored, StoredResource):
        yield from stored.attachments.values()
