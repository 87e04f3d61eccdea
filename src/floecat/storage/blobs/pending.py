"""A blob being written: counted and hashed on its way, whatever takes the bytes."""

import hashlib
from collections.abc import Callable
from typing import Final

from floecat.errors import AlreadyExistsError, FailedPreconditionError, LimitExceededError
from floecat.storage.blobs.port import BlobRef

MAX_BLOB_BYTES: Final = 5 * 1024**3
"""The most that S3 copies in one go, which is how a large blob gets its name there."""


class PendingBlob:
    """The BlobWriter of every backend. What is written goes on to `append`."""

    def __init__(self, append: Callable[[memoryview], object]) -> None:
        self._append = append
        self._digest = hashlib.sha256()
        self._size = 0
        self._ref: BlobRef | None = None

    def write(self, data: bytes | memoryview) -> None:
        view = memoryview(data)
        view = (view if view.contiguous else memoryview(bytes(view))).cast("B")
        if self._size + view.nbytes > MAX_BLOB_BYTES:
            raise LimitExceededError(f"a blob has at most {MAX_BLOB_BYTES} bytes")
        self._digest.update(view)
        self._size += view.nbytes
        self._append(view)

    @property
    def ref(self) -> BlobRef:
        if self._ref is None:
            raise FailedPreconditionError("a blob's reference is known once it is committed")
        return self._ref

    def measured(self, uri: str) -> BlobRef:
        """What the reference will be if what was written so far is all."""
        return BlobRef(uri, self._digest.hexdigest(), self._size)

    def committed(self, ref: BlobRef) -> None:
        """Make the reference known."""
        self._ref = ref


def taken(name: str) -> AlreadyExistsError:
    """The error for a name that holds other bytes."""
    return AlreadyExistsError(
        f"the blob {name!r} exists and holds other bytes", reason="BLOB_EXISTS"
    )
