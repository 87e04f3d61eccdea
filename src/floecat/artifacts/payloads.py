"""References to blobs, as records carry them and as the blob store takes them.

Messages that lie in blobs name other blobs by the URIs these had when the message was written. A
store that was moved since, or restored somewhere else, has all of them where the message is now.
"""

from collections.abc import Iterator
from typing import Final, TypeVar

from google.protobuf.message import Message

from ai.floedb.floecat.common.common_pb2 import BlobReference
from floecat.storage.blobs.port import BlobRef, BlobStore

M = TypeVar("M", bound=Message)

_AREAS: Final = ("captures/", "plans/", "records/", "results/")
"""What the names of blobs begin with."""


def blob_ref(message: BlobReference) -> BlobRef:
    """What the blob store takes."""
    return BlobRef(message.uri, message.sha256, message.size_bytes)


def reference(ref: BlobRef) -> BlobReference:
    """What records carry."""
    return BlobReference(uri=ref.uri, sha256=ref.sha256, size_bytes=ref.size)


def read_message(blobs: BlobStore, container: BlobReference, kind: type[M]) -> M:
    """A message that is a blob, naming others where they are now."""
    return relocated(kind.FromString(blobs.read(blob_ref(container))), container)


def relocated(message: M, container: BlobReference) -> M:
    """The same message, its references changed to where the blob is that it was read from."""
    base = _base(container.uri)
    for found in _references(message):
        if _base(found.uri) == base:
            # All of them were written at one place.
            return message
        found.uri = base + found.uri.removeprefix(_base(found.uri))
    return message


def _base(uri: str) -> str:
    """What stands in front of a blob's name."""
    return uri[: max(0, *(uri.rfind(area) for area in _AREAS))]


def _references(message: Message) -> Iterator[BlobReference]:
    if isinstance(message, BlobReference):
        yield message
        return
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        for part in value if field.is_repeated else (value,):
            yield from _references(part)
