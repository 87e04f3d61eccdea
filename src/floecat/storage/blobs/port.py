"""The BlobStore port: immutable content under a name that is used once.

Must not know any backend, nor what the bytes mean. A blob becomes *visible* to users only when a
committed record names it; this port knows nothing of that.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO, Protocol


@dataclass(frozen=True, slots=True)
class BlobRef:
    """A blob that was written whole: where it is, and how to tell that it is still the same."""

    uri: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class BlobInfo:
    """An entry of a listing. Listings don't read content, so there is no hash."""

    name: str
    uri: str
    size: int
    modified_at: datetime


class BlobWriter(Protocol):
    """An open blob: leaving its context commits it, leaving by an exception discards it."""

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes; memory stays bounded however much is written."""
        ...

    @property
    def ref(self) -> BlobRef:
        """What was committed. Known only after the context was left normally."""
        ...


class BlobStore(Protocol):
    """Immutable content. Every method is safe to call from any thread.

    Names are relative, `/`-separated, and never leave the store; no part starts with a dot
    (`InvalidArgumentError`). A name must not be a folder of another, which not every backend sees.
    A URI starts with its backend's scheme: `memory:`, `file:` or `s3:`.
    """

    def writer(self, name: str) -> AbstractContextManager[BlobWriter]:
        """Stream a new blob. It appears whole and durable when the context is left, or not at all.

        Writing the same bytes under the same name again is fine and yields the same reference;
        other bytes raise `AlreadyExistsError` and leave the first ones untouched.
        """
        ...

    def open(self, ref: BlobRef) -> BinaryIO:
        """A seekable stream. Read from start to end it raises `DataLossError` if bytes changed."""
        ...

    def read(self, ref: BlobRef, *, offset: int = 0, length: int | None = None) -> bytes:
        """A range; clipped at the end. Only a read of the whole is checked against the hash."""
        ...

    def list(self, prefix: str = "", *, after: str | None = None, limit: int) -> Sequence[BlobInfo]:
        """Up to `limit` committed blobs whose name starts with `prefix`, by name, after `after`."""
        ...

    def delete(self, name: str) -> bool:
        """Remove a blob; whether there was one."""
        ...

    def materialize(self, ref: BlobRef) -> BinaryIO:
        """A verified local copy, opened as a real file, to map into memory.

        Copies are kept in a cache bounded in bytes. The file stays readable while it is open or
        mapped, even when the cache drops it or the blob is deleted.
        """
        ...

    def close(self) -> None:
        """Give back every handle. Closing twice is fine."""
        ...
