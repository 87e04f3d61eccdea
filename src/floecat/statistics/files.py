"""FILE records and index artifacts of a captured snapshot, from its scan index and segments."""

from collections.abc import Iterator
from dataclasses import dataclass

from ai.floedb.floecat.catalog.index_pb2 import IndexArtifactRecord
from ai.floedb.floecat.catalog.stats_pb2 import (
    FC_DATA,
    FileColumnStats,
    FileIdentity,
    FileTargetStats,
    StatsMetadata,
    TargetStatsRecord,
)
from ai.floedb.floecat.reconciler.stored_pb2 import FinalSnapshot
from ai.floedb.floecat.statistics.statistics_pb2 import FileStatsTarget, StatsTarget
from floecat.artifacts.columns import to_scalar
from floecat.artifacts.index.parts import IndexPartFile, Use
from floecat.artifacts.index.reading import LiveFile, ScanIndexFile
from floecat.artifacts.opened import OpenedSegments
from floecat.statistics.records import PRODUCER
from floecat.statistics.store import SnapshotPlace, StatsQuery


@dataclass(frozen=True, slots=True)
class CapturedFiles:
    """The files of a finalized snapshot."""

    place: SnapshotPlace
    final: FinalSnapshot
    index: ScanIndexFile
    opened: OpenedSegments

    def record(self, file: LiveFile, query: StatsQuery) -> TargetStatsRecord:
        """What is known of a file."""
        part = self.index.part(file.part)
        uses = part.uses(file.row)
        value = self._file(part, file)
        if not value.failure:
            value.columns.extend(self._columns(part, uses, query))
        metadata = StatsMetadata(
            producer=PRODUCER,
            captured_at=self.final.finalized_at,
            generation=self.final.generation,
            job_id=self.final.finalizer_job_id,
        )
        return TargetStatsRecord(
            table_id=self.place.table,
            snapshot_id=self.place.snapshot_id,
            target=StatsTarget(file=FileStatsTarget(file_path=value.identity.file_path)),
            metadata=metadata,
            file=value,
        )

    def artifact(self, file: LiveFile) -> IndexArtifactRecord | None:
        """The file's sidecar, as of this snapshot."""
        part = self.index.part(file.part)
        found = self.opened.sidecar((part.segment(use), use.file) for use in part.uses(file.row))
        if found is None:
            return None
        record = IndexArtifactRecord()
        record.CopyFrom(found)
        record.table_id.CopyFrom(self.place.table)
        record.snapshot_id = self.place.snapshot_id
        return record

    def artifacts(self, after: str | None) -> Iterator[tuple[str, IndexArtifactRecord]]:
        """The sidecars of files behind a key, in order."""
        for file in self.index.files(after):
            found = self.artifact(file)
            if found is not None:
                yield file.key, found

    def _file(self, part: IndexPartFile, file: LiveFile) -> FileTargetStats:
        planned = part.scan_file(file.row)
        failure: str | None = part.core.column("failure")[file.row].as_py()
        value = FileTargetStats(
            identity=FileIdentity(
                file_path=part.path(file.row),
                size_bytes=part.core.column("size")[file.row].as_py(),
                format_mark=part.core.column("format_mark")[file.row].as_py(),
            ),
            file_format=planned.file_format,
            content=FC_DATA,
            row_count=self.index.row_count(file),
            live_row_count=self.index.deleted(file).live_row_count,
            partition_values=planned.partition_values,
            failure=failure or "",
        )
        if planned.HasField("partition_spec_id"):
            value.partition_spec_id = planned.partition_spec_id
        if planned.HasField("sequence_number"):
            value.sequence_number = planned.sequence_number
        return value

    def _columns(
        self, part: IndexPartFile, uses: "list[Use]", query: StatsQuery
    ) -> Iterator[FileColumnStats]:
        chosen = part.choices.of(tuple(use.shape for use in uses))
        # Files outlive schemas: columns are called as this snapshot does, and others are gone.
        names = self.index.names
        wanted = chosen.keys() & (query.column_ids or chosen.keys()) & (names or chosen).keys()
        found: dict[int, FileColumnStats] = {}
        for ordinal, use in enumerate(uses):
            here = {column_id for column_id in wanted if chosen[column_id] == ordinal}
            if not here:
                continue
            columns, row = self.opened.columns(part.segment(use), use.file)
            for coverage in part.part.shapes[use.shape].columns:
                learnt = (
                    columns.row(coverage.column_id, row) if coverage.column_id in here else None
                )
                if learnt is not None:
                    scalar = to_scalar(coverage, learnt, sketches=query.sketches)
                    scalar.display_name = names.get(coverage.column_id, scalar.display_name)
                    stats = FileColumnStats(column_id=coverage.column_id, scalar=scalar)
                    found[coverage.column_id] = stats
        yield from (found[column_id] for column_id in sorted(found))
