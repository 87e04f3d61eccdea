"""Plans as blobs: the children of a job, one after another, so that any page can be read alone."""

from collections.abc import Iterable, Iterator
from itertools import islice

from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.reconciler.stored_pb2 import PlannedJob
from floecat.artifacts.payloads import blob_ref, reference
from floecat.storage.blobs.frames import read_frames, write_frames
from floecat.storage.blobs.port import BlobStore


class Plans:
    """Writes plans once, and reads them page by page."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs

    def write(self, name: str, children: Iterable[PlannedJob]) -> tuple[BlobReference, int]:
        """A plan under a name of its own, and how many children it has."""
        count = 0

        def contents() -> Iterator[bytes]:
            nonlocal count
            for child in children:
                count += 1
                yield child.SerializeToString()

        return reference(write_frames(self._blobs, name, contents())), count

    def read(
        self, plan: BlobReference, offset: int, limit: int
    ) -> Iterator[tuple[PlannedJob, int]]:
        """Up to `limit` children from an offset on, each with the offset behind it."""
        for frame in islice(read_frames(self._blobs, blob_ref(plan), offset), limit):
            yield PlannedJob.FromString(frame.content), frame.end
