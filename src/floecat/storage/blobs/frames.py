"""Messages one after another in a blob, so that any of them can be read alone."""

from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final, NamedTuple

from floecat.errors import DataLossError
from floecat.storage.blobs.port import BlobRef, BlobStore

_LENGTH_BYTES: Final = 4


class Frame(NamedTuple):
    """A message's bytes, and where it lies."""

    content: bytes
    offset: int
    end: int


def framed(content: bytes) -> bytes:
    """A message with its length in front."""
    return len(content).to_bytes(_LENGTH_BYTES, "big") + content


def write_frames(blobs: BlobStore, name: str, contents: Iterable[bytes]) -> BlobRef:
    """Write messages under a name of their own."""
    with blobs.writer(name) as writer:
        for content in contents:
            writer.write(framed(content))
    return writer.ref


def read_frames(blobs: BlobStore, ref: BlobRef, offset: int = 0) -> Iterator[Frame]:
    """Messages from an offset on. Read to the end from the start, they are verified."""
    with blobs.open(ref) as opened:
        if offset:
            opened.seek(offset)
        yield from frames_in(opened, offset, ref.uri)


def frames_in(opened: BinaryIO, offset: int, what: str) -> Iterator[Frame]:
    """Messages of an open stream."""
    while header := opened.read(_LENGTH_BYTES):
        length = int.from_bytes(header, "big")
        content = opened.read(length)
        if len(header) != _LENGTH_BYTES or len(content) != length:
            raise DataLossError(f"{what} is cut off")
        end = offset + _LENGTH_BYTES + length
        yield Frame(content, offset, end)
        offset = end
