"""The files of a version, planned from the log alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from ai.floedb.floecat.catalog.stats_pb2 import PartitionValue
from ai.floedb.floecat.execution.scan_pb2 import ScanFile, ScanFileContent
from floecat.connectors.delta.log.actions import Add
from floecat.connectors.delta.log.replay import DeltaLog, Version
from floecat.connectors.delta.schema import DeltaColumn, DeltaSchema
from floecat.connectors.delta.statistics import FileStatistics, row_count
from floecat.connectors.delta.values import Unclear, partition_value
from floecat.connectors.delta.vectors import vector_file
from floecat.connectors.spi.columns import ColumnScope
from floecat.connectors.spi.records import ScanBundle
from floecat.security.guard import scheme_of
from floecat.types.messages import to_message
from floecat.types.policy import TimestampPolicy

_AUTHORITY = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://[^/]*)?")
FIRST_PARTITION_FIELD = 1000
"""Delta numbers no partition fields; ours count from where Iceberg's do."""


def plan(
    log: DeltaLog,
    version: Version,
    schema: DeltaSchema,
    columns: ColumnScope | None,
    policy: TimestampPolicy,
) -> ScanBundle:
    """The files of a version; statistics of the columns asked for."""
    deletes = tuple(_vectors(log, version))
    indexes = {file.referenced_data_file: number for number, file in enumerate(deletes)}
    statistics = _statistics(schema, columns, policy)
    return ScanBundle(
        snapshot_id=version.number,
        schema_json=version.metadata.schema_json,
        columns=schema.sources,
        delete_files=deletes,
        data_files=_DataFiles(log, version.number, schema.partitions, indexes, statistics),
    )


def file_uri(root: str, path: str) -> str:
    """Where a file is. Logs write paths URL-encoded, relative to the table or absolute."""
    decoded = unquote(path)
    if scheme_of(path):
        return decoded
    if decoded.startswith("/"):
        return f"{_AUTHORITY.match(root)[0]}{decoded}"  # type: ignore[index]  # roots have a scheme
    return f"{root}/{decoded}"


def _vectors(log: DeltaLog, version: Version) -> Iterator[ScanFile]:
    if not version.protocol.has_deletion_vectors:
        return
    root = log.files.root
    for add in log.adds(version.number, with_statistics=False):
        if add.vector is not None:
            yield vector_file(add.vector, root, file_uri(root, add.path))


def _statistics(
    schema: DeltaSchema, columns: ColumnScope | None, policy: TimestampPolicy
) -> FileStatistics | None:
    if columns is None:
        return None
    by_path = {column.source.path: column for column in schema.columns}
    chosen = [(c.column_id, by_path[c.column.path]) for c in columns.selected(schema.sources)]
    return FileStatistics(chosen, schema.partitions, policy)


@dataclass(frozen=True, slots=True)
class _DataFiles:
    """Data files, the log read anew on each pass."""

    log: DeltaLog
    version: int
    partitions: tuple[DeltaColumn, ...]
    vectors: dict[str, int]
    statistics: FileStatistics | None

    def __iter__(self) -> Iterator[ScanFile]:
        for add in self.log.adds(self.version):
            yield self._file(add)

    def _file(self, add: Add) -> ScanFile:
        uri = file_uri(self.log.files.root, add.path)
        file = ScanFile(
            file_path=uri,
            file_size_bytes=add.size,
            record_count=row_count(add),
            file_format="parquet",
            content=ScanFileContent.SFC_DATA,
            partition_values=self._partition_values(add),
            columns=self.statistics.of(add) if self.statistics else (),
            first_row_id=add.base_row_id,
            format_mark=str(add.modified_ms),
        )
        if self.partitions:
            file.partition_spec_id = 0
        if uri in self.vectors:
            file.delete_file_indexes.append(self.vectors[uri])
        return file

    def _partition_values(self, add: Add) -> Iterator[PartitionValue]:
        for number, column in enumerate(self.partitions, FIRST_PARTITION_FIELD):
            logical = column.source.logical_type
            value = partition_value(logical, add.partition_values.get(column.physical[0]))
            if isinstance(value, Unclear):
                continue  # nobody must prune by a value that may mean another moment
            yield PartitionValue(
                partition_field_id=number,
                name=column.source.name,
                type=to_message(logical),
                value=value,
            )
