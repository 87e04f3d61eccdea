"""The pieces of a result: a few in memory, or many in a blob, invisible until somebody names it."""

from collections.abc import Iterable, Iterator
from typing import Final

from ai.floedb.floecat.common.common_pb2 import BlobReference
from floecat.artifacts.payloads import blob_ref, reference
from floecat.storage.blobs.frames import Frame, framed, read_frames
from floecat.storage.blobs.port import BlobStore

_IN_MEMORY: Final = 256 * 1024
"""Pieces up to this size together need no blob while they come in."""


class Pieces:
    """Messages in order, that can be read any number of times."""

    def __init__(self, blobs: BlobStore, name: str, contents: Iterable[bytes]) -> None:
        self._blobs = blobs
        self._name = name
        self._kept: list[bytes] = []
        self._blob: BlobReference | None = None
        self._collect(iter(contents))

    def frames(self) -> Iterator[Frame]:
        """Every piece, with the place it has, or would have, in a blob."""
        if self._blob is not None:
            yield from read_frames(self._blobs, blob_ref(self._blob))
            return
        offset = 0
        for content in self._kept:
            end = offset + len(framed(content))
            yield Frame(content, offset, end)
            offset = end

    def as_blob(self) -> BlobReference:
        """The pieces in a blob, for whoever reads them later."""
        return self._blob or self._spill(iter(()))

    def _collect(self, contents: Iterator[bytes]) -> None:
        size = 0
        for content in contents:
            self._kept.append(content)
            size += len(content)
            if size > _IN_MEMORY:
                self._spill(contents)

    def _spill(self, rest: Iterator[bytes]) -> BlobReference:
        with self._blobs.writer(self._name) as writer:
            for content in self._kept:
                writer.write(framed(content))
            for content in rest:
                writer.write(framed(content))
        self._kept = []
        self._blob = reference(writer.ref)
        return self._blob


class WrittenPieces(Pieces):
    """Pieces that the worker wrote itself and only names."""

    def __init__(self, blobs: BlobStore, blob: BlobReference) -> None:
        super().__init__(blobs, "", ())
        self._blob = blob
