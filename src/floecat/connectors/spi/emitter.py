"""StatsProtoEmitter: statistics as the contract's records, one per target."""

from dataclasses import dataclass, field

from google.protobuf.timestamp_pb2 import Timestamp

from ai.floedb.floecat.catalog.stats_pb2 import (
    FileContent,
    FileIdentity,
    FileTargetStats,
    ScalarStats,
    StatsMetadata,
    TableValueStats,
    TargetStatsRecord,
)
from ai.floedb.floecat.execution.scan_pb2 import ScanFile, ScanFileContent
from ai.floedb.floecat.statistics.statistics_pb2 import (
    ColumnStatsTarget,
    FileStatsTarget,
    StatsTarget,
    TableStatsTarget,
)

_CONTENT = {
    ScanFileContent.SFC_DATA: FileContent.FC_DATA,
    ScanFileContent.SFC_POSITION_DELETES: FileContent.FC_POSITION_DELETES,
    ScanFileContent.SFC_EQUALITY_DELETES: FileContent.FC_EQUALITY_DELETES,
    ScanFileContent.SFC_DELETION_VECTOR: FileContent.FC_DELETION_VECTOR,
}


@dataclass(frozen=True, slots=True)
class StatsProtoEmitter:
    """Wraps values for one snapshot. The table's id is the caller's to fill in."""

    producer: str
    snapshot_id: int
    captured_at: Timestamp = field(default_factory=Timestamp)

    def table(self, value: TableValueStats) -> TargetStatsRecord:
        """The record of the table."""
        return self._record(StatsTarget(table=TableStatsTarget()), table=value)

    def column(self, column_id: int, value: ScalarStats) -> TargetStatsRecord:
        """The record of a column."""
        target = StatsTarget(column=ColumnStatsTarget(column_id=column_id))
        return self._record(target, scalar=value)

    def file(self, file: ScanFile, live_rows: int | None = None) -> TargetStatsRecord:
        """The record of a planned file."""
        value = FileTargetStats(
            identity=FileIdentity(
                file_path=file.file_path,
                size_bytes=file.file_size_bytes,
                format_mark=file.format_mark,
            ),
            file_format=file.file_format,
            content=_CONTENT[file.content],
            row_count=file.record_count if file.HasField("record_count") else None,
            live_row_count=live_rows,
            columns=file.columns,
            partition_values=file.partition_values,
        )
        if file.HasField("partition_spec_id"):
            value.partition_spec_id = file.partition_spec_id
        if file.HasField("sequence_number"):
            value.sequence_number = file.sequence_number
        return self._record(StatsTarget(file=FileStatsTarget(file_path=file.file_path)), file=value)

    def _record(
        self,
        target: StatsTarget,
        *,
        table: TableValueStats | None = None,
        scalar: ScalarStats | None = None,
        file: FileTargetStats | None = None,
    ) -> TargetStatsRecord:
        return TargetStatsRecord(
            snapshot_id=self.snapshot_id,
            target=target,
            metadata=StatsMetadata(producer=self.producer, captured_at=self.captured_at),
            table=table,
            scalar=scalar,
            file=file,
        )
