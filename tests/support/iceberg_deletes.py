"""Position deletes, which pyiceberg reads but doesn't write: its own parts, put together."""

import uuid
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    ManifestWriterV2,
)
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation
from pyiceberg.table.update.snapshot import _FastAppendFiles
from pyiceberg.typedef import Record
from typing_extensions import override

_COLUMNS = pa.schema(
    [
        pa.field("file_path", pa.string(), False, {"PARQUET:field_id": "2147483546"}),
        pa.field("pos", pa.int64(), False, {"PARQUET:field_id": "2147483545"}),
    ]
)


class _DeleteManifestWriter(ManifestWriterV2):
    @override
    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    @property
    @override
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}


class _RowDelta(_FastAppendFiles):
    """Adds a delete file beside whatever is there."""

    delete_file: DataFile

    @override
    def _process_manifests(self, manifests: list[ManifestFile]) -> list[ManifestFile]:
        spec = self._transaction.table_metadata.spec()
        writer = _DeleteManifestWriter(
            spec, self.schema(), self.new_manifest_output(), self._snapshot_id, self._compression
        )
        with writer:
            writer.add(
                ManifestEntry.from_args(
                    status=ManifestEntryStatus.ADDED,
                    snapshot_id=self._snapshot_id,
                    data_file=self.delete_file,
                )
            )
        return [*manifests, writer.to_manifest_file()]


def delete_positions(table: Table, file_path: str, partition: Record, rows: list[int]) -> str:
    """Delete rows of one file. Returns the path of the delete file."""
    return delete_rows(table, [(file_path, row) for row in rows], partition, of_one_file=True)


def delete_rows(
    table: Table,
    rows: Sequence[tuple[str, int]],
    partition: Record | None = None,
    *,
    of_one_file: bool = False,
    file_format: FileFormat = FileFormat.PARQUET,
) -> str:
    """Delete rows of files of one partition, as they are listed. Returns the delete file's path."""
    path = table.location_provider().new_data_location(f"{uuid.uuid4()}-deletes.parquet")
    columns = {"file_path": [path for path, _ in rows], "pos": [row for _, row in rows]}
    output = table.io.new_output(path)
    with output.create() as stream:
        pq.write_table(pa.table(columns, schema=_COLUMNS), stream)
    bounds = {2147483546: rows[0][0].encode()} if of_one_file else {}
    delete_file = DataFile.from_args(
        content=DataFileContent.POSITION_DELETES,
        file_path=path,
        file_format=file_format,
        partition=partition or Record(),
        record_count=len(rows),
        file_size_in_bytes=len(output),
        column_sizes={},
        value_counts={},
        null_value_counts={},
        nan_value_counts={},
        lower_bounds=bounds,
        upper_bounds=bounds,
    )
    delete_file.spec_id = table.spec().spec_id
    with table.transaction() as transaction:
        update = _RowDelta(Operation.DELETE, transaction, table.io)
        update.delete_file = delete_file
        update.commit()
    table.refresh()
    return path
