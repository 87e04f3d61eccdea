"""Reading a blob: a seekable stream over ranged reads, hashed as far as it is read in order."""

import hashlib
import io
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Final

from typing_extensions import override

from floecat.errors import DataLossError, InvalidArgumentError
from floecat.storage.blobs.port import BlobRef

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_BUFFER_BYTES: Final = 1024 * 1024


def open_stream(
    ref: BlobRef,
    fetch: Callable[[int, int], bytes],
    *,
    close: Callable[[], object] | None = None,
    buffer_bytes: int = _BUFFER_BYTES,
) -> BinaryIO:
    """A stream over `fetch(offset, length)`."""
    return io.BufferedReader(_VerifiedStream(ref, fetch, close), buffer_bytes)


def clipped(ref: BlobRef, offset: int, length: int | None) -> tuple[int, int]:
    """A range of the blob, cut off at its end, as offset and length."""
    if offset < 0 or (length is not None and length < 0):
        raise InvalidArgumentError("the offset and the length of a read aren't negative")
    start = min(offset, ref.size)
    rest = ref.size - start
    return start, rest if length is None else min(length, rest)


def checked_range(ref: BlobRef, length: int, data: bytes) -> bytes:
    """What was read of a range; of the whole, only if it is what was written."""
    if len(data) != length or (length == ref.size and _digest(data) != ref.sha256):
        raise changed(ref)
    return data


def changed(ref: BlobRef) -> DataLossError:
    """The error for bytes that aren't those of the reference."""
    return DataLossError(f"{ref.uri} doesn't hold the bytes that were written")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class _VerifiedStream(io.RawIOBase):
    """Compares the hash when the last byte is reached by reading everything before it."""

    def __init__(
        self,
        ref: BlobRef,
        fetch: Callable[[int, int], bytes],
        close: Callable[[], object] | None,
    ) -> None:
        super().__init__()
        self._ref = ref
        self._fetch = fetch
        self._close = close
        self._position = 0
        self._digest = hashlib.sha256()
        self._hashed = 0

    @override
    def readable(self) -> bool:
        return True

    @override
    def seekable(self) -> bool:
        return True

    @override
    def tell(self) -> int:
        return self._position

    @override
    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._ref.size}[whence]
        if base + offset < 0:
            raise InvalidArgumentError("a stream has nothing before its start")
        self._position = base + offset
        return self._position

    @override
    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer).cast("B")
        start, length = clipped(self._ref, self._position, view.nbytes)
        if length == 0:
            if self._ref.size == 0:
                self._verify(0, b"")
            return 0
        data = self._fetch(start, length)
        if not data:
            raise changed(self._ref)
        self._verify(start, data)
        view[: len(data)] = data
        self._position = start + len(data)
        return len(data)

    @override
    def close(self) -> None:
        if not self.closed and self._close is not None:
            self._close()
        super().close()

    def _verify(self, start: int, data: bytes) -> None:
        if start <= self._hashed <= start + len(data):
            self._digest.update(memoryview(data)[self._hashed - start :])
            self._hashed = start + len(data)
        if self._hashed == self._ref.size and self._digest.hexdigest() != self._ref.sha256:
            raise changed(self._ref)
