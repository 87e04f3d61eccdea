"""Planning: the files of a snapshot, streamed manifest by manifest."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ai.floedb.floecat.execution.scan_pb2 import ScanFile, ScanFileContent
from floecat.connectors.iceberg.deletes import DeleteIndex
from floecat.connectors.iceberg.equality import EqualityMatcher
from floecat.connectors.iceberg.errors import reading
from floecat.connectors.iceberg.manifests import (
    DATA,
    DELETES,
    Entry,
    Manifest,
    list_manifests,
    open_manifest,
)
from floecat.connectors.iceberg.metadata import Snapshot, TableMetadata
from floecat.connectors.iceberg.metrics import MetricsReader
from floecat.connectors.iceberg.naming import named
from floecat.connectors.iceberg.partitions import PartitionKey, PartitionReader, partition_readers
from floecat.connectors.iceberg.schema import leaves_of
from floecat.connectors.iceberg.snapshots import schema_json
from floecat.connectors.iceberg.storage import SourceFiles
from floecat.connectors.spi.columns import ColumnScope, SourceColumn
from floecat.connectors.spi.records import ScanBundle
from floecat.types.policy import TimestampPolicy

_DATA_FILE: Final = ScanFileContent.SFC_DATA


def columns_of(metadata: TableMetadata, snapshot: Snapshot) -> tuple[SourceColumn, ...]:
    """The leaves of a snapshot's schema, with the names that files have them under."""
    leaves = leaves_of(metadata.schema_of(snapshot))
    return named((leaf.column for leaf in leaves), metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning:
    """What a snapshot is planned with."""

    relation: str
    """How the table is called in errors."""
    metadata: TableMetadata
    files: SourceFiles
    policy: TimestampPolicy

    def plan(self, snapshot: Snapshot, scope: ColumnScope | None) -> ScanBundle:
        """The snapshot's files. Delete manifests are read now, data manifests as they are asked."""
        with reading(self.relation):
            schema = self.metadata.schema_of(snapshot)
            leaves = leaves_of(schema)
            metrics = MetricsReader(leaves, scope, self.policy)
            readers = partition_readers(self.metadata)
            manifests = list_manifests(self.files, snapshot)
            deletes = self._deletes([m for m in manifests if m.content == DELETES], readers)
        return ScanBundle(
            snapshot_id=snapshot.snapshot_id,
            schema_json=schema_json(schema),
            columns=columns_of(self.metadata, snapshot),
            delete_files=tuple(deletes.files),
            data_files=_DataFiles(
                planning=self,
                manifests=[m for m in manifests if m.content == DATA],
                readers=readers,
                metrics=metrics,
                deletes=deletes,
            ),
        )

    def _deletes(
        self, manifests: Sequence[Manifest], readers: Mapping[int, PartitionReader]
    ) -> DeleteIndex:
        index = DeleteIndex(EqualityMatcher(self.metadata.schemas))
        for manifest in manifests:
            reader = readers[manifest.spec_id]
            unpartitioned = self.metadata.specs[manifest.spec_id].is_unpartitioned
            with open_manifest(self.files, manifest, metrics=True) as opened:
                for entry in opened.entries:
                    record = entry["data_file"]
                    key = reader.key(record["partition"], opened.partition_names)
                    file = scan_file(entry, manifest.spec_id, reader, key)
                    index.add(file, record, key, is_unpartitioned=unpartitioned)
        return index


@dataclass(frozen=True, slots=True, kw_only=True)
class _DataFiles:
    """The data files; each pass reads the manifests anew, one at a time."""

    planning: Planning
    manifests: Sequence[Manifest]
    readers: Mapping[int, PartitionReader]
    metrics: MetricsReader
    deletes: DeleteIndex

    def __iter__(self) -> Iterator[ScanFile]:
        for manifest in self.manifests:
            with reading(self.planning.relation):
                yield from self._of(manifest)

    def _of(self, manifest: Manifest) -> Iterator[ScanFile]:
        reader = self.readers[manifest.spec_id]
        with_columns = bool(self.metrics)
        metrics = with_columns or self.deletes.compares_columns
        with open_manifest(self.planning.files, manifest, metrics=metrics) as opened:
            for entry in opened.entries:
                record = entry["data_file"]
                key = reader.key(record["partition"], opened.partition_names)
                file = scan_file(entry, manifest.spec_id, reader, key)
                if self.deletes.files:
                    applying = self.deletes.applying_to(file, record, key)
                    file.delete_file_indexes.extend(applying)
                if with_columns:
                    self.metrics.put_into(file.columns, record)
                yield file


def scan_file(entry: Entry, spec_id: int, reader: PartitionReader, key: PartitionKey) -> ScanFile:
    """A file as executors see it, before its deletes and statistics."""
    record: Mapping[str, Any] = entry["data_file"]
    return ScanFile(
        file_path=record["file_path"],
        file_size_bytes=record["file_size_in_bytes"],
        record_count=record["record_count"],
        file_format=record["file_format"].lower(),
        content=_DATA_FILE,
        partition_spec_id=spec_id,
        partition_values=reader.values(key),
        sequence_number=entry["sequence_number"],
        split_offsets=record.get("split_offsets"),
        first_row_id=record.get("first_row_id"),
        format_mark=str(entry["file_sequence_number"]),
    )
