"""What deletes make of a snapshot's files: gathered as these come in, and written once it is known
where each of them lies.
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.execution.stored_pb2 import HeldSegment, LivePart, ScanIndex
from floecat.artifacts.arrow import write_arrow
from floecat.artifacts.index.counting import (
    UNKNOWN,
    DeletedFiles,
    PositionCounts,
    places_within,
)
from floecat.artifacts.index.layout import DELETES, KNOWN_DELETES
from floecat.artifacts.index.parts import IndexPartFile
from floecat.artifacts.payloads import reference
from floecat.storage.blobs.port import BlobStore

Numbers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class FileDeletes:
    """The deletes of a file."""

    delete_files: Sequence[int] = ()
    live_row_count: int | None = None
    """None: it isn't known, or has still to be counted."""
    row_count: int | None = None


class PlacedRows(NamedTuple):
    """A part of an index, and where each of its rows came from."""

    part: LivePart
    origins: Numbers


class _Placed(NamedTuple):
    """Files that deletes apply to, in one part."""

    part: int
    rows: Numbers
    entries: Numbers
    """Their numbers in the overlay."""


class DeleteOverlay:
    """Takes the deletes of files: 32 bytes per file, and four per delete that applies to it."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._origins = array("q")
        self._ends = array("q", [0])
        self._delete_files = array("i")
        self._live = array("q")
        self._row_counts = array("q")
        self.taken = 0
        """Rows that position deletes take away, where that was counted here."""
        self.is_complete = True
        """Whether it is known of every file which of its rows are live."""

    def add(self, origin: int, deletes: FileDeletes) -> None:
        """Take a file's deletes, if it has any."""
        if deletes.delete_files:
            self._origins.append(origin)
            self._delete_files.extend(deletes.delete_files)
            self._ends.append(len(self._delete_files))
            self._live.append(_known(deletes.live_row_count))
            self._row_counts.append(_known(deletes.row_count))

    def write(
        self, name: str, placed: Sequence[PlacedRows], counts: PositionCounts
    ) -> BlobReference | None:
        """Write every file's deletes with what they leave of it; None if there are none."""
        if not self._origins:
            return None
        files = list(self._found(placed))
        live = np.concatenate([self._live_rows(some, placed, counts) for some in files])
        self.is_complete = bool((live >= 0).all())
        lists = pa.ListArray.from_arrays(
            pa.array(self._ends, pa.int32()), pa.array(self._delete_files, pa.int32())
        )
        columns = [
            pa.array(np.concatenate([np.full(len(f.rows), f.part) for f in files]), pa.int32()),
            pa.array(np.concatenate([some.rows for some in files]), pa.int32()),
            lists.take(pa.array(np.concatenate([some.entries for some in files]))),
            pa.array(live, pa.int64(), mask=live < 0),
        ]
        batch = pa.RecordBatch.from_arrays(columns, schema=DELETES)
        return reference(write_arrow(self._blobs, name, DELETES, [batch]))

    def _found(self, placed: Sequence[PlacedRows]) -> Iterator[_Placed]:
        origins = np.array(self._origins, np.int64)
        order = np.argsort(origins)
        ordered = origins[order]
        for number, part in enumerate(placed):
            at = np.minimum(np.searchsorted(ordered, part.origins), len(ordered) - 1)
            rows = np.nonzero(ordered[at] == part.origins)[0]
            yield _Placed(number, rows, order[at[rows]])

    def _live_rows(
        self, some: _Placed, placed: Sequence[PlacedRows], counts: PositionCounts
    ) -> Numbers:
        """What is left of some files; UNKNOWN where that can't be told."""
        live = np.array(self._live, np.int64)[some.entries]
        row_counts = np.array(self._row_counts, np.int64)[some.entries]
        uncounted = np.nonzero((live < 0) & (row_counts >= 0))[0]
        files, delete_files = self._pairs(some.entries[uncounted])
        known = np.isin(delete_files, np.fromiter(counts.known, np.int64))
        if not known.any():
            return live
        part = IndexPartFile.open(self._blobs, placed[some.part].part.part)
        deleted = DeletedFiles(
            paths=part.core.column("path").take(pa.array(some.rows[uncounted])),
            row_counts=row_counts[uncounted],
            files=files[known],
            delete_files=delete_files[known],
        )
        taken = counts.taken(deleted)
        self.taken += int(taken[taken > 0].sum())
        is_sure = (taken >= 0) & (np.bincount(files[~known], minlength=len(taken)) == 0)
        live[uncounted] = np.where(is_sure, deleted.row_counts - taken, UNKNOWN)
        return live

    def _pairs(self, entries: Numbers) -> tuple[Numbers, Numbers]:
        """The deletes of some files: the place of each among these files, and its number."""
        ends = np.array(self._ends, np.int64)
        sizes = ends[entries + 1] - ends[entries]
        files = np.repeat(np.arange(len(entries)), sizes)
        places = ends[entries][files] + places_within(sizes)
        numbers = np.array(self._delete_files, np.int64)[places]
        return files, numbers


def write_known(blobs: BlobStore, name: str, index: ScanIndex, counts: PositionCounts) -> None:
    """Write into an index which segment knows the positions of which delete file."""
    segments: dict[str, tuple[int, HeldSegment]] = {}
    rows: list[tuple[int, int, int]] = []
    for number, use in sorted(counts.known.items()):
        held = segments.setdefault(use.segment.manifest.sha256, (len(segments), use.segment))
        rows.append((number, held[0], use.file))
    if rows:
        arrays = [pa.array(values, pa.int32()) for values in zip(*rows, strict=True)]
        batch = pa.RecordBatch.from_arrays(arrays, schema=KNOWN_DELETES)
        index.known_deletes.CopyFrom(reference(write_arrow(blobs, name, KNOWN_DELETES, [batch])))
        index.delete_segments.extend(held for _, held in segments.values())


def _known(count: int | None) -> int:
    return UNKNOWN if count is None else count
