"""Plans as blobs: the children of a job, one after another, so that any page can be read alone."""

from collections.abc import Iterable, Iterator
from typing import Final

from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.reconciler.stored_pb2 import PlannedJob
from floecat.errors import DataLossError
from floecat.storage.blobs.port import BlobRef, BlobStore

_LENGTH_BYTES: Final = 4


class Plans:
    """Writes plans once, and reads them page by page."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs

    def write(self, name: str, children: Iterable[PlannedJob]) -> tuple[BlobReference, int]:
        """A plan under a name of its own, and how many children it has."""
        count = 0
        with self._blobs.writer(name) as writer:
            for child in children:
                content = child.SerializeToString()
                writer.write(len(content).to_bytes(_LENGTH_BYTES, "big") + content)
                count += 1
        ref = writer.ref
        return BlobReference(uri=ref.uri, sha256=ref.sha256, size_bytes=ref.size), count

    def read(
        self, plan: BlobReference, offset: int, limit: int
    ) -> Iterator[tuple[PlannedJob, int]]:
        """Up to `limit` children from an offset on, each with the offset behind it."""
        ref = BlobRef(plan.uri, plan.sha256, plan.size_bytes)
        with self._blobs.open(ref) as opened:
            opened.seek(offset)
            for _ in range(limit):
                header = opened.read(_LENGTH_BYTES)
                if not header:
                    return
                length = int.from_bytes(header, "big")
                content = opened.read(length)
                if len(header) != _LENGTH_BYTES or len(content) != length:
                    raise DataLossError(f"the plan {plan.uri} is cut off")
                offset += _LENGTH_BYTES + length
                yield PlannedJob.FromString(content), offset
