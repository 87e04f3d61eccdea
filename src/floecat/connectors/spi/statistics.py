"""StatsEngine: from the files of a snapshot to the statistics of files, columns and table."""

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from ai.floedb.floecat.catalog.stats_pb2 import (
    ScalarStats,
    Sketch,
    SketchRole,
    TableValueStats,
    TargetStatsRecord,
)
from ai.floedb.floecat.execution.scan_pb2 import ScanFile, ScanFileContent
from floecat.connectors.spi.columns import NumberedColumn
from floecat.connectors.spi.emitter import StatsProtoEmitter
from floecat.connectors.spi.merging import ScalarMerge
from floecat.connectors.spi.ndv import ColumnNdv, NdvProvider
from floecat.connectors.spi.records import ScanBundle

_EXACT: Final = frozenset({ScanFileContent.SFC_DELETION_VECTOR})
_POSITIONAL: Final = _EXACT | {ScanFileContent.SFC_POSITION_DELETES}


class StatsEngine(Protocol):
    """Turns a snapshot's files into statistics."""

    def capture(
        self, bundle: ScanBundle, columns: Sequence[NumberedColumn]
    ) -> Iterator[TargetStatsRecord]:
        """A FILE record per data file as it is read, then COLUMN records, TABLE last."""


class GenericStatsEngine:
    """Merges what the files' metadata says; memory grows with the columns, not the files."""

    def __init__(self, emitter: StatsProtoEmitter, ndv: NdvProvider | None = None) -> None:
        self._emitter = emitter
        self._ndv = ndv

    def capture(
        self, bundle: ScanBundle, columns: Sequence[NumberedColumn]
    ) -> Iterator[TargetStatsRecord]:
        """A FILE record per data file as it is read, then COLUMN records, TABLE last."""
        merges = {
            column.column_id: ScalarMerge(column.column.logical_type, column.column.name)
            for column in columns
        }
        totals = _Totals(bundle.delete_files)
        for file in bundle.data_files:
            known = {part.column_id: part.scalar for part in file.columns}
            rows = file.record_count if file.HasField("record_count") else None
            for column_id, merge in merges.items():
                merge.add(known.get(column_id), rows)
            yield self._emitter.file(file, totals.add(file, rows))
        for column_id, merge in merges.items():
            yield self._emitter.column(column_id, self._with_ndv(column_id, merge.result()))
        yield self._emitter.table(totals.result())

    def _with_ndv(self, column_id: int, stats: ScalarStats) -> ScalarStats:
        found = self._ndv.find_ndv(column_id) if self._ndv else None
        if found is not None:
            _put_ndv(stats, found)
        return stats


def _put_ndv(stats: ScalarStats, found: ColumnNdv) -> None:
    stats.ndv.CopyFrom(found.ndv)
    if found.sketch is not None:
        stats.sketches.append(
            Sketch(
                role=SketchRole.SR_NDV,
                type=found.sketch.type,
                parameters=found.sketch.parameters,
                data=found.sketch.data,
                size_bytes=len(found.sketch.data),
            )
        )


class _Totals:
    """Rows, files and bytes, and what the deletes leave of them."""

    def __init__(self, deletes: Sequence[ScanFile]) -> None:
        self._deletes = deletes
        self._rows: int | None = 0
        self._files = 0
        self._size = 0
        self._in_use: set[int] = set()

    def add(self, file: ScanFile, rows: int | None) -> int | None:
        """Count a data file; the rows of it that a query sees, where that is known."""
        self._rows = None if self._rows is None or rows is None else self._rows + rows
        self._files += 1
        self._size += file.file_size_bytes
        self._in_use.update(file.delete_file_indexes)
        return self._live_in(file, rows)

    def _live_in(self, file: ScanFile, rows: int | None) -> int | None:
        """Known when a deletion vector, or nothing, takes rows away: other deletes may overlap."""
        deletes = [self._deletes[index] for index in file.delete_file_indexes]
        if rows is None or any(file.content not in _EXACT for file in deletes):
            return None
        return rows - sum(file.record_count for file in deletes)

    def result(self) -> TableValueStats:
        used = [self._deletes[index] for index in sorted(self._in_use)]
        value = TableValueStats(
            row_count=self._rows,
            data_file_count=self._files,
            data_size_bytes=self._size,
            delete_file_count=len(used),
            delete_size_bytes=sum(file.file_size_bytes for file in used),
        )
        if self._rows is not None:
            positional = (file.record_count for file in used if file.content in _POSITIONAL)
            value.live_row_count = self._rows - sum(positional)
            value.live_row_count_exact = all(file.content in _EXACT for file in used)
        return value
