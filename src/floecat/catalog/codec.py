"""Messages into stored values and back; what is too large for a record lies in a blob beside it."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar
from uuid import uuid4

from google.protobuf.message import Message

from ai.floedb.floecat.catalog.stored_pb2 import StoredResource, StoredResponse
from ai.floedb.floecat.common.common_pb2 import BlobReference, MutationMeta
from floecat.errors import LimitExceededError
from floecat.storage.blobs.port import BlobRef, BlobStore
from floecat.storage.kv.port import Record

MAX_INLINE_BYTES: Final = 64 * 1024

MAX_RECORD_BYTES: Final = 3 * 1024 * 1024
"""What can't be sent in a message of 4 MiB must not be kept: nobody could read it again."""

M = TypeVar("M", bound=Message)


@dataclass(frozen=True, slots=True)
class Stored(Generic[M]):
    """A resource as it is in the store."""

    message: M
    meta: MutationMeta
    version: int
    """The key-value version, to expect in the next write."""
    deleting: bool = False
    attachments: Mapping[str, BlobReference] = field(default_factory=dict)


def serialized(message: Message) -> bytes:
    """The same bytes for the same content, always: fingerprints and etags depend on it."""
    return message.SerializeToString(deterministic=True)


def etag_of(message: Message) -> str:
    """Changes when, and only when, the content does."""
    return hashlib.sha256(serialized(message)).hexdigest()[:32]


class Codec:
    """Encodes resources and responses of any size."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs

    def encode(
        self,
        account: str,
        message: Message,
        meta: MutationMeta,
        *,
        deleting: bool = False,
        attachments: Mapping[str, BlobReference] | None = None,
    ) -> bytes:
        """The value of a resource's record."""
        content = serialized(message)
        if len(content) > MAX_RECORD_BYTES:
            raise LimitExceededError(
                f"this would have {len(content)} bytes, and at most {MAX_RECORD_BYTES} fit an "
                "answer: shorten its schema, text or properties",
                reason="RECORD_TOO_LARGE",
            )
        stored = StoredResource(meta=meta, deleting=deleting, attachments=attachments)
        if len(content) <= MAX_INLINE_BYTES:
            stored.resource = content
        else:
            stored.spilled.CopyFrom(self.spill(account, [content]))
        return stored.SerializeToString()

    def decode(self, record: Record, kind: type[M]) -> Stored[M]:
        """The resource of a record."""
        stored = StoredResource.FromString(record.value)
        content = self.read(stored.spilled) if stored.HasField("spilled") else stored.resource
        return Stored(
            message=kind.FromString(content),
            meta=stored.meta,
            version=record.version,
            deleting=stored.deleting,
            attachments=dict(stored.attachments) if stored.attachments else {},
        )

    def decode_live(self, record: Record, kind: type[M]) -> M | None:
        """The resource alone, unless it is being deleted: for walks, which read many."""
        stored = StoredResource.FromString(record.value)
        if stored.deleting:
            return None
        return kind.FromString(stored.resource or self.read(stored.spilled))

    def encode_response(self, account: str, fingerprint: bytes, response: Message) -> bytes:
        """The value of an idempotency record."""
        stored = StoredResponse(request_fingerprint=fingerprint)
        content = serialized(response)
        if len(content) <= MAX_INLINE_BYTES:
            stored.response = content
        else:
            stored.spilled.CopyFrom(self.spill(account, [content]))
        return stored.SerializeToString()

    def decode_response(self, stored: StoredResponse, kind: type[M]) -> M:
        """The response of an idempotency record."""
        content = self.read(stored.spilled) if stored.HasField("spilled") else stored.response
        return kind.FromString(content)

    def spill(self, account: str, pieces: Iterable[bytes]) -> BlobReference:
        """Write content as a blob. Names are used once, so that collecting garbage can't race."""
        with self._blobs.writer(f"records/{account}/{uuid4().hex}") as writer:
            for piece in pieces:
                writer.write(piece)
        ref = writer.ref
        return BlobReference(uri=ref.uri, sha256=ref.sha256, size_bytes=ref.size)

    def read(self, reference: BlobReference) -> bytes:
        """The content of a blob, verified."""
        return self._blobs.read(BlobRef(reference.uri, reference.sha256, reference.size_bytes))

    def pieces(self, reference: BlobReference, size: int) -> Iterator[bytes]:
        """The same in pieces, at least one; verified when the last has been read."""
        ref = BlobRef(reference.uri, reference.sha256, reference.size_bytes)
        with self._blobs.open(ref) as content:
            yield content.read(size)
            while piece := content.read(size):
                yield piece
