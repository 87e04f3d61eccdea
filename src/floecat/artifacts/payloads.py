"""References to blobs, as records carry them and as the blob store takes them."""

from ai.floedb.floecat.common.common_pb2 import BlobReference
from floecat.storage.blobs.port import BlobRef


def blob_ref(message: BlobReference) -> BlobRef:
    """What the blob store takes."""
    return BlobRef(message.uri, message.sha256, message.size_bytes)


def reference(ref: BlobRef) -> BlobReference:
    """What records carry."""
    return BlobReference(uri=ref.uri, sha256=ref.sha256, size_bytes=ref.size)
