"""StatsEngine: from the files of a snapshot to the statistics of files, columns and table."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from ai.floedb.floecat.catalog.stats_pb2 import (
    ScalarStats,
    Sketch,
    SketchRole,
    TargetStatsRecord,
)
from floecat.connectors.spi.columns import NumberedColumn
from floecat.connectors.spi.emitter import StatsProtoEmitter
from floecat.connectors.spi.merging import ScalarMerge
from floecat.connectors.spi.ndv import ColumnNdv, NdvProvider
from floecat.connectors.spi.records import ScanBundle
from floecat.connectors.spi.totals import SnapshotTotals


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
        totals = SnapshotTotals(bundle.delete_files)
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
