"""Planner: a connector's output as the `ScanFile`s that executors read, statistics included."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from ai.floedb.floecat.catalog.stats_pb2 import FileColumnStats, TargetStatsRecord
from ai.floedb.floecat.execution.scan_pb2 import ScanFile
from floecat.connectors.spi.records import ScanBundle


class Planner(Protocol):
    """Completes the files of a snapshot for executors."""

    def plan(self, bundle: ScanBundle, file_stats: Iterable[TargetStatsRecord]) -> ScanBundle:
        """The same files in the same order, each with the column statistics known about it."""


class StatisticsPlanner:
    """Adds what FILE records know to files that came without; what a file brought itself wins."""

    def plan(self, bundle: ScanBundle, file_stats: Iterable[TargetStatsRecord]) -> ScanBundle:
        by_path = {record.target.file.file_path: record for record in file_stats}
        if not by_path:
            return bundle
        return replace(bundle, data_files=_Completed(bundle.data_files, by_path))


@dataclass(frozen=True, slots=True)
class _Completed:
    files: Iterable[ScanFile]
    records: dict[str, TargetStatsRecord]

    def __iter__(self) -> Iterator[ScanFile]:
        for file in self.files:
            record = self.records.get(file.file_path)
            yield file if record is None else _completed(file, record)


def _completed(file: ScanFile, record: TargetStatsRecord) -> ScanFile:
    if record.file.identity.size_bytes not in {0, file.file_size_bytes}:
        return file  # another file has lain at this path
    merged: dict[int, FileColumnStats] = {part.column_id: part for part in record.file.columns}
    merged.update((part.column_id, part) for part in file.columns)
    complete = ScanFile()
    complete.CopyFrom(file)
    del complete.columns[:]
    complete.columns.extend(merged.values())
    if not complete.HasField("record_count") and record.file.HasField("row_count"):
        complete.record_count = record.file.row_count
    return complete
