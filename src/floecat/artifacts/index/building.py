"""Building a snapshot's scan index: what an older one has is named again, the rest is written.

A part of which less than half is live is written anew, without what isn't. Small parts are put
together with new rows once these are at least half as many, so that a row is written again only
when its part grows by half: with every snapshot a little is written, and parts stay few.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from ai.floedb.floecat.catalog.stats_pb2 import FileIdentity
from ai.floedb.floecat.catalog.table_pb2 import ColumnId
from ai.floedb.floecat.common.common_pb2 import BlobReference, ResourceId
from ai.floedb.floecat.execution.scan_pb2 import ScanFile
from ai.floedb.floecat.execution.stored_pb2 import ScanIndex
from floecat.artifacts.index.counting import PositionCounts
from floecat.artifacts.index.deletes import DeleteOverlay, FileDeletes, PlacedRows, write_known
from floecat.artifacts.index.layout import FORMAT_VERSION, MAX_ROWS, identity_hash
from floecat.artifacts.index.reading import Bits, ScanIndexFile, live_part
from floecat.artifacts.index.rows import (
    KeptRows,
    NewRow,
    NewRows,
    OpenSegment,
    PartRows,
    SegmentUse,
)
from floecat.artifacts.index.writing import PartWriter
from floecat.artifacts.opened import OpenedSegments
from floecat.artifacts.payloads import reference
from floecat.errors import DataLossError
from floecat.storage.blobs.frames import write_frames
from floecat.storage.blobs.port import BlobStore

Origins = np.ndarray[Any, np.dtype[np.int64]]
"""Where rows came from: the number of an older part or of new rows, and the row there."""

_NEW: Final = 1 << 20
"""New rows are numbered from here on, behind every older part."""


class ScanIndexBuilder:
    """Takes a snapshot's files, kept and new, in any order; memory is bounded by a part's size."""

    def __init__(
        self,
        blobs: BlobStore,
        prefix: str,
        opened: OpenSegment,
        base: ScanIndexFile | None = None,
        max_rows: int = MAX_ROWS,
    ) -> None:
        self._blobs = blobs
        self._prefix = prefix
        self._opened = opened
        self._base = base
        self._max_rows = max_rows
        self._writer = PartWriter(blobs, prefix, max_rows)
        self._kept: dict[int, Bits] = {}
        self._identities: dict[int, Any] = {}
        self._new = NewRows(opened)
        self._new_number = _NEW
        self._placed: list[PlacedRows] = []
        self.deletes = DeleteOverlay(blobs)
        """What deletes leave of the files; known when the index is finished."""

    def keep(self, identity: FileIdentity, part: int, row: int, deletes: FileDeletes) -> None:
        """Use a row of the older index again. DataLossError if it isn't this file's."""
        live = self._rows_kept(part)
        self._require(identity, part, row)
        live[row] = True
        self.deletes.add(part << 32 | row, deletes)

    def row_count(self, part: int, row: int) -> int | None:
        """How many rows a file of the older index has."""
        count: int | None = self._older.part(part).core.column("row_count")[row].as_py()
        return count

    def known(self, identity: FileIdentity, part: int, row: int) -> list[SegmentUse]:
        """What the older index knows of a file that something else was learnt of."""
        self._rows_kept(part)
        self._require(identity, part, row)
        file = self._older.part(part)
        return [
            SegmentUse(file.segment(use), use.file, file.part.shapes[use.shape])
            for use in file.uses(row)
        ]

    def add(self, row: NewRow, deletes: FileDeletes) -> None:
        """Take a file that isn't in the older index, or not with these results."""
        self.deletes.add(self._new_number << 32 | len(self._new), deletes)
        self._new.add(row)
        if len(self._new) == self._max_rows:
            self._write([(self._new_number, None, self._new)])
            self._new = NewRows(self._opened)
            self._new_number += 1

    def finish(
        self,
        table_id: ResourceId,
        snapshot_id: int,
        delete_files: Sequence[ScanFile],
        counts: PositionCounts | None = None,
        columns: Sequence[ColumnId] = (),
        *,
        source_ids: bool = False,
    ) -> BlobReference:
        """Write what is left, and the manifest. `counts` know the positions of delete files."""
        again = self._to_rewrite()
        for number in sorted(self._kept.keys() - again):
            self._keep_part(number)
        for group in self._groups(sorted(again)):
            self._write(group)
        index = ScanIndex(
            format_version=FORMAT_VERSION,
            table_id=table_id,
            snapshot_id=snapshot_id,
            parts=[placed.part for placed in self._placed],
            files=sum(placed.part.live_rows for placed in self._placed),
            delete_files_total=len(delete_files),
            columns=columns,
            source_ids=source_ids,
        )
        if delete_files:
            contents = (file.SerializeToString(deterministic=True) for file in delete_files)
            written = write_frames(self._blobs, f"{self._prefix}/delete-files", contents)
            index.delete_files.CopyFrom(reference(written))
        self._write_deletes(index, counts or PositionCounts({}, OpenedSegments(self._blobs)))
        with self._blobs.writer(f"{self._prefix}/index") as writer:
            writer.write(index.SerializeToString(deterministic=True))
        return reference(writer.ref)

    def _require(self, identity: FileIdentity, part: int, row: int) -> None:
        hashes = self._identities[part]
        if not 0 <= row < len(hashes) or hashes[row] != identity_hash(identity):
            raise DataLossError(
                f"{identity.file_path} isn't at row {row} of part {part}, where the plan has it"
            )

    def _rows_kept(self, number: int) -> Bits:
        if number not in self._kept:
            part = self._older.part(number)
            self._kept[number] = np.zeros(part.part.rows, np.bool_)
            self._identities[number] = part.core.column("identity").to_numpy()
        return self._kept[number]

    @property
    def _older(self) -> ScanIndexFile:
        if self._base is None:
            raise DataLossError("the plan uses files again, but names no index to take them of")
        return self._base

    def _to_rewrite(self) -> set[int]:
        """Older parts that are written anew: sparse ones, and small ones beside what is new."""
        counts = {number: int(live.sum()) for number, live in self._kept.items()}
        again = {n for n, count in counts.items() if 2 * count < len(self._kept[n])}
        total = len(self._new) + sum(counts[number] for number in again)
        for number in sorted(counts.keys() - again, key=counts.__getitem__):
            if counts[number] <= 2 * total and counts[number] + total <= self._max_rows:
                again.add(number)
                total += counts[number]
        return again

    def _groups(self, numbers: Sequence[int]) -> Iterator[list["_Source"]]:
        """Rows that are written together: about as many as a part takes. New ones come last."""
        group: list[_Source] = []
        rows = 0
        for number in numbers:
            chosen = np.nonzero(self._kept[number])[0].astype(np.int64)
            if rows and rows + len(chosen) > self._max_rows:
                yield group
                group, rows = [], 0
            if len(chosen):
                group.append((number, chosen, KeptRows(self._older.part(number), chosen)))
                rows += len(chosen)
        if len(self._new):
            group.append((self._new_number, None, self._new))
        if group:
            yield group

    def _keep_part(self, number: int) -> None:
        live = live_part(self._older.index.parts[number].part, self._kept[number])
        rows = np.arange(live.rows, dtype=np.int64)
        self._placed.append(PlacedRows(live, np.int64(number) << 32 | rows))

    def _write(self, group: "Sequence[_Source]") -> None:
        sources: list[PartRows] = [rows for _, _, rows in group]
        origins = np.concatenate([_origins(source) for source in group])
        for written in self._writer.write(sources):
            live = live_part(written.manifest, np.ones(written.part.rows, np.bool_))
            self._placed.append(PlacedRows(live, origins[written.order]))

    def _write_deletes(self, index: ScanIndex, counts: PositionCounts) -> None:
        written = self.deletes.write(f"{self._prefix}/deletes", self._placed, counts)
        if written is not None:
            index.deletes.CopyFrom(written)
        write_known(self._blobs, f"{self._prefix}/known-deletes", index, counts)


_Source = tuple[int, "Origins | None", PartRows]
"""The number of an older part or of new rows, the rows that are taken (None: all), and them."""


def _origins(source: _Source) -> Origins:
    number, chosen, rows = source
    taken = np.arange(rows.core.num_rows, dtype=np.int64) if chosen is None else chosen
    return np.int64(number) << 32 | taken
