"""SnapshotTotals: rows, files and bytes of a snapshot, and what deletes leave of them."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Final

from ai.floedb.floecat.catalog.stats_pb2 import TableValueStats
from ai.floedb.floecat.execution.scan_pb2 import ScanFile, ScanFileContent
from floecat.connectors.spi.merging import MOST

_VECTOR: Final = ScanFileContent.SFC_DELETION_VECTOR
_POSITIONS: Final = ScanFileContent.SFC_POSITION_DELETES


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedPositions:
    """What position deletes take away, where their files were read."""

    delete_files: Container[int]
    """The delete files that were read, by number."""
    taken: int
    """Rows, each once, of the files whose live rows weren't known when they were added."""
    is_complete: bool
    """Whether the live rows of every file are known by now."""


class SnapshotTotals:
    """Adds data files up; memory grows with the delete files only."""

    def __init__(self, deletes: Sequence[ScanFile]) -> None:
        self._deletes = deletes
        self._rows: int | None = 0
        self._taken = 0
        self._files = 0
        self._size = 0
        self._in_use: set[int] = set()

    def add(self, file: ScanFile, rows: int | None, live: int | None = None) -> int | None:
        """Count a data file; the rows of it that a query sees, where that is known.

        Deletion vectors tell it. Other deletes may overlap, or have to be compared with rows: then
        it is unknown, unless `live` says it.
        """
        self._rows = None if self._rows is None or rows is None else min(self._rows + rows, MOST)
        self._files += 1
        self._size = min(self._size + file.file_size_bytes, MOST)
        self._in_use.update(file.delete_file_indexes)
        if rows is None:
            return None
        if live is not None:
            self._taken += rows - live
            return live
        deletes = [self._deletes[index] for index in file.delete_file_indexes]
        in_vectors = sum(one.record_count for one in deletes if one.content == _VECTOR)
        self._taken += min(in_vectors, rows)
        is_known = all(one.content == _VECTOR for one in deletes)
        return max(rows - in_vectors, 0) if is_known else None

    def unread(self, read: Container[int] = ()) -> list[ScanFile]:
        """The files of position deletes that apply to some file, and weren't read."""
        return [
            self._deletes[number]
            for number in sorted(self._in_use)
            if self._deletes[number].content == _POSITIONS and number not in read
        ]

    def result(self, counted: CountedPositions | None = None) -> TableValueStats:
        """The statistics of the table."""
        used = [self._deletes[index] for index in sorted(self._in_use)]
        value = TableValueStats(
            row_count=self._rows,
            data_file_count=self._files,
            data_size_bytes=self._size,
            delete_file_count=len(used),
            delete_size_bytes=min(sum(file.file_size_bytes for file in used), MOST),
        )
        if self._rows is not None:
            known = counted or CountedPositions(delete_files=(), taken=0, is_complete=False)
            guessed = sum(file.record_count for file in self.unread(known.delete_files))
            value.live_row_count = max(self._rows - self._taken - known.taken - guessed, 0)
            only_vectors = all(file.content == _VECTOR for file in used)
            value.live_row_count_exact = only_vectors or known.is_complete
        return value
