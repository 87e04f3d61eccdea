"""Segments that were opened lately: those who go through files come back to the same ones."""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Final

from ai.floedb.floecat.catalog.index_pb2 import IndexArtifactRecord
from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.execution.stored_pb2 import HeldSegment
from floecat.artifacts.segments import ColumnFile, Segment
from floecat.storage.blobs.port import BlobStore

_SEGMENTS: Final = 64
_FILES: Final = 32
"""Column files are mapped, and each keeps a file of the system open."""


class OpenedSegments:
    """Opens segments, and keeps the last few. May be shared by threads."""

    def __init__(self, blobs: BlobStore, opening: Callable[[], object] = lambda: None) -> None:
        self._blobs = blobs
        self._opening = opening
        self._segments: OrderedDict[str, Segment] = OrderedDict()
        self._files: OrderedDict[str, ColumnFile] = OrderedDict()
        self._lock = Lock()

    def open(self, held: HeldSegment) -> Segment:
        """A segment, whole as it was written."""
        self._opening()
        with self._lock:
            found = self._segments.get(held.manifest.sha256)
        if found is None:
            found = Segment.open(self._blobs, held.manifest)
        with self._lock:
            self._segments[held.manifest.sha256] = found
            self._segments.move_to_end(held.manifest.sha256)
            if len(self._segments) > _SEGMENTS:
                self._segments.popitem(last=False)
        return found

    def columns(self, held: HeldSegment, number: int) -> tuple[ColumnFile, int]:
        """The column file that has a file of a segment, and the file's row there."""
        segment = self.open(held)
        row = number
        for part in segment.manifest.parts:
            if row < len(part.files):
                return self._column_file(part.columns), row
            row -= len(part.files)
        return segment.part_of(number)

    def sidecar(self, uses: Iterable[tuple[HeldSegment, int]]) -> IndexArtifactRecord | None:
        """A file's sidecar: of several the one with the most columns, the newest of those.

        `uses` are the segments that know the file, oldest first, each with its number there. A
        newer sidecar has the columns of older ones too, if those could be read.
        """
        best: IndexArtifactRecord | None = None
        for held, number in uses:
            found = self.open(held).files[number]
            if found.HasField("artifact") and (
                best is None or _columns_in(found.artifact) >= _columns_in(best)
            ):
                best = found.artifact
        return best

    def _column_file(self, columns: BlobReference) -> ColumnFile:
        with self._lock:
            found = self._files.get(columns.sha256)
        if found is None:
            found = ColumnFile(self._blobs, columns)
        with self._lock:
            self._files[columns.sha256] = found
            self._files.move_to_end(columns.sha256)
            if len(self._files) > _FILES:
                self._files.popitem(last=False)
        return found


def _columns_in(artifact: IndexArtifactRecord) -> int:
    return len(artifact.coverage.column_ids)
