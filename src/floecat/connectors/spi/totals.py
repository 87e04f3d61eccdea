"""SnapshotTotals: rows, files and bytes of a snapshot, and what deletes leave of them."""

from collections.abc import Sequence
from typing import Final

from ai.floedb.floecat.catalog.stats_pb2 import TableValueStats
from ai.floedb.floecat.execution.scan_pb2 import ScanFile, ScanFileContent
from floecat.connectors.spi.merging import MOST

_EXACT: Final = frozenset({ScanFileContent.SFC_DELETION_VECTOR})
_POSITIONAL: Final = _EXACT | {ScanFileContent.SFC_POSITION_DELETES}


class SnapshotTotals:
    """Adds data files up; memory grows with the delete files only."""

    def __init__(self, deletes: Sequence[ScanFile]) -> None:
        self._deletes = deletes
        self._rows: int | None = 0
        self._files = 0
        self._size = 0
        self._in_use: set[int] = set()

    def add(self, file: ScanFile, rows: int | None) -> int | None:
        """Count a data file; the rows of it that a query sees, where that is known."""
        self._rows = None if self._rows is None or rows is None else min(self._rows + rows, MOST)
        self._files += 1
        self._size = min(self._size + file.file_size_bytes, MOST)
        self._in_use.update(file.delete_file_indexes)
        return self._live_in(file, rows)

    def _live_in(self, file: ScanFile, rows: int | None) -> int | None:
        """Known when a deletion vector, or nothing, takes rows away: other deletes may overlap."""
        deletes = [self._deletes[index] for index in file.delete_file_indexes]
        if rows is None or any(file.content not in _EXACT for file in deletes):
            return None
        return max(rows - sum(file.record_count for file in deletes), 0)

    def result(self) -> TableValueStats:
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
            positional = (file.record_count for file in used if file.content in _POSITIONAL)
            value.live_row_count = max(self._rows - sum(positional), 0)
            value.live_row_count_exact = all(file.content in _EXACT for file in used)
        return value
