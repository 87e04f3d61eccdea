"""Segments that were opened lately: those who go through files come back to the same ones."""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Final, TypeVar

from ai.floedb.floecat.catalog.index_pb2 import IndexArtifactRecord
from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.execution.stored_pb2 import HeldSegment, SegmentDeleteFile
from floecat.artifacts.positions import PositionsFile
from floecat.artifacts.segments import ColumnFile, Segment
from floecat.storage.blobs.port import BlobStore

_SEGMENTS: Final = 64
_FILES: Final = 32
"""Column files and positions are mapped, and each keeps a file of the system open."""

T = TypeVar("T")


class OpenedSegments:
    """Opens segments, and keeps the last few. May be shared by threads."""

    def __init__(self, blobs: BlobStore, opening: Callable[[], object] = lambda: None) -> None:
        self._blobs = blobs
        self._opening = opening
        self._segments: OrderedDict[str, Segment] = OrderedDict()
        self._files: OrderedDict[str, ColumnFile] = OrderedDict()
        self._positions: OrderedDict[str, PositionsFile] = OrderedDict()
        self._lock = Lock()

    def open(self, held: HeldSegment) -> Segment:
        """A segment, whole as it was written."""
        self._opening()
        return self._kept(
            self._segments,
            held.manifest,
            lambda: Segment.open(self._blobs, held.manifest),
            _SEGMENTS,
        )

    def columns(self, held: HeldSegment, number: int) -> tuple[ColumnFile, int]:
        """The column file that has a file of a segment, and the file's row there."""
        segment = self.open(held)
        row = number
        for part in segment.manifest.parts:
            if row < len(part.files):
                return self._column_file(part.columns), row
            row -= len(part.files)
        return segment.part_of(number)

    def positions(self, held: HeldSegment, number: int) -> tuple[PositionsFile, SegmentDeleteFile]:
        """The positions that have those of a delete file of a segment, and where they are."""
        part, file = self.open(held).delete_file(number)
        opened = self._kept(
            self._positions,
            part.positions,
            lambda: PositionsFile(self._blobs, part.positions),
            _FILES,
        )
        return opened, file

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
        return self._kept(self._files, columns, lambda: ColumnFile(self._blobs, columns), _FILES)

    def _kept(
        self,
        kept: OrderedDict[str, T],
        reference: BlobReference,
        opened: Callable[[], T],
        most: int,
    ) -> T:
        with self._lock:
            found = kept.get(reference.sha256)
        if found is None:
            found = opened()
        with self._lock:
            kept[reference.sha256] = found
            kept.move_to_end(reference.sha256)
            if len(kept) > most:
                kept.popitem(last=False)
        return found


def _columns_in(artifact: IndexArtifactRecord) -> int:
    return len(artifact.coverage.column_ids)
