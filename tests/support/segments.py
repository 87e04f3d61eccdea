"""Segments made by hand: what a capture would leave of files whose columns hold whole numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ai.floedb.floecat.catalog.index_pb2 import (
    IAS_READY,
    IndexArtifactCoverage,
    IndexArtifactRecord,
)
from ai.floedb.floecat.catalog.stats_pb2 import FC_DATA, FileIdentity, FileTargetStats
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.execution.capture_pb2 import SegmentReference
from ai.floedb.floecat.execution.scan_pb2 import SFC_DATA, SFC_POSITION_DELETES, ScanFile
from ai.floedb.floecat.execution.stored_pb2 import (
    ColumnCoverage,
    CoverageShape,
    HeldSegment,
    SegmentDeleteFile,
    SegmentFile,
    SegmentManifest,
    SegmentPart,
)
from floecat.artifacts.columns import ColumnRow
from floecat.artifacts.merging import ColumnMerge
from floecat.artifacts.payloads import reference
from floecat.artifacts.positions import PositionRun, positions_writer
from floecat.artifacts.segments import number_shapes, write_columns, write_manifest
from floecat.sketches.frequencies import FrequencySketch
from floecat.sketches.hashing import hash_integers
from floecat.sketches.quantiles import QuantileSketch
from floecat.sketches.theta import ThetaSketch
from floecat.storage.blobs.port import BlobStore
from floecat.types.logical import LogicalType
from floecat.types.messages import to_message
from floecat.types.parse import parse_type

INT = parse_type("INT")
ACCOUNT = "acme"
TABLE = ResourceId(account_id=ACCOUNT, id="orders", kind=common_pb2.RK_TABLE)


@dataclass(frozen=True)
class Content:
    """A file: its path, and the values of its columns by column id."""

    path: str
    columns: Mapping[int, Sequence[int | None]] = field(default_factory=dict)
    rows_told: int | None = None

    @property
    def rows(self) -> int:
        if self.rows_told is not None:
            return self.rows_told
        return max((len(values) for values in self.columns.values()), default=0)

    @property
    def identity(self) -> FileIdentity:
        return FileIdentity(file_path=self.path, size_bytes=100 + self.rows, format_mark="1")

    @property
    def scan_file(self) -> ScanFile:
        return ScanFile(
            file_path=self.path,
            file_size_bytes=100 + self.rows,
            record_count=self.rows,
            file_format="parquet",
            content=SFC_DATA,
            format_mark="1",
            sequence_number=7,
        )


@dataclass(frozen=True)
class Deletes:
    """A file of position deletes: its path, and rows of data file and position, in any order."""

    path: str
    rows: Sequence[tuple[str, int]]
    rows_at_once: int = 4
    """It is read in batches of so many."""

    @property
    def identity(self) -> FileIdentity:
        return FileIdentity(file_path=self.path, size_bytes=10 + len(self.rows), format_mark="2")

    @property
    def scan_file(self) -> ScanFile:
        return ScanFile(
            file_path=self.path,
            file_size_bytes=10 + len(self.rows),
            record_count=len(self.rows),
            file_format="parquet",
            content=SFC_POSITION_DELETES,
            format_mark="2",
        )

    def batches(self) -> Iterator[list[PositionRun]]:
        """As it would be read."""
        for start in range(0, len(self.rows), self.rows_at_once):
            some = self.rows[start : start + self.rows_at_once]
            named = {path: {p for other, p in some if other == path} for path, _ in some}
            yield [PositionRun(path, np.array(sorted(named[path]))) for path in sorted(named)]


def row_of(values: Sequence[int | None], *, sketches: bool = True) -> ColumnRow:
    """What is to be known of a column."""
    present = [value for value in values if value is not None]
    numbers = np.array(present, np.int64)
    row = ColumnRow(
        value_count=len(values),
        null_count=len(values) - len(present),
        minimum=str(min(present)) if present else None,
        maximum=str(max(present)) if present else None,
        minimum_tight=bool(present),
        maximum_tight=bool(present),
        width_bytes=8 * len(present),
        rows_seen=len(values),
    )
    if not sketches:
        return row
    hashes = hash_integers(numbers, 8)
    counts = (
        {str(value): present.count(value) for value in set(present)} if len(present) < 1000 else {}
    )
    kept = {name: getattr(row, name) for name in ColumnRow.__dataclass_fields__}
    kept.update(
        theta=ThetaSketch.of(hashes).to_bytes(),
        quantiles=QuantileSketch.of(numbers.astype(np.float64)).to_bytes(),
        frequencies=FrequencySketch.of(counts).to_bytes(),
    )
    return ColumnRow(**kept)


def _bare(row: ColumnRow | None) -> ColumnRow | None:
    return row and replace(row, theta=None, quantiles=None, frequencies=None)


@dataclass
class SegmentMaker:
    """Writes segments into a blob store, each below a prefix of its own."""

    blobs: BlobStore
    table_id: ResourceId = field(default_factory=lambda: TABLE)
    snapshot_id: int = 1
    files_per_part: int = 2
    sketches: bool = True
    sketches_per_file: bool = True
    sidecars: bool = False
    hashed_as: str = "long"
    type: LogicalType = INT

    def coverage(self, column_ids: Sequence[int]) -> CoverageShape:
        return CoverageShape(
            columns=[
                ColumnCoverage(
                    column_id=column_id,
                    name=f"c{column_id}",
                    logical_type=to_message(self.type),
                    hashed_as=self.hashed_as,
                    ndv=self.sketches,
                    quantiles=self.sketches,
                    frequent_items=self.sketches,
                )
                for column_id in column_ids
            ]
        )

    def write(
        self, prefix: str, files: Sequence[Content], deletes: Sequence[Deletes] = ()
    ) -> SegmentReference:
        """Write a segment of these files; its id is its prefix."""
        column_ids = sorted({column_id for file in files for column_id in file.columns})
        manifest = SegmentManifest(
            segment_id=prefix,
            table_id=self.table_id,
            snapshot_id=self.snapshot_id,
            blob_prefix=prefix,
            job_id="job",
        )
        shapes = (self.coverage(sorted(file.columns)) for file in files)
        contents = [shape.SerializeToString(deterministic=True) for shape in shapes]
        numbers = dict(
            zip((file.path for file in files), number_shapes(manifest, contents), strict=True)
        )
        merges = {column_id: ColumnMerge(self.type) for column_id in column_ids}
        for start in range(0, len(files), self.files_per_part):
            some = files[start : start + self.files_per_part]
            rows = {
                column_id: [
                    row_of(file.columns[column_id], sketches=self.sketches)
                    if column_id in file.columns
                    else None
                    for file in some
                ]
                for column_id in column_ids
            }
            part = manifest.parts.add(
                files=[self._file(prefix, file, numbers[file.path]) for file in some]
            )
            here = {column_id: ColumnMerge(self.type) for column_id in column_ids}
            for column_id, listed in rows.items():
                for file, row in zip(some, listed, strict=True):
                    if column_id in file.columns:
                        merges[column_id].add(row, file.rows)
                        here[column_id].add(row, file.rows)
            if not self.sketches_per_file:
                rows = {column_id: [_bare(row) for row in kept] for column_id, kept in rows.items()}
                merged = {column_id: [merge.result()] for column_id, merge in here.items()}
                together = write_columns(self.blobs, f"{prefix}/together/{start:06}", merged)
                part.together.CopyFrom(reference(together))
            columns = write_columns(self.blobs, f"{prefix}/parts/{start:06}", rows)
            part.columns.CopyFrom(reference(columns))
        for start in range(0, len(deletes), self.files_per_part):
            some_deletes = deletes[start : start + self.files_per_part]
            manifest.parts.append(self._positions(f"{prefix}/positions/{start:06}", some_deletes))
        partials = {column_id: [merge.result()] for column_id, merge in merges.items()}
        manifest.partials.CopyFrom(
            reference(write_columns(self.blobs, f"{prefix}/partials", partials))
        )
        return write_manifest(self.blobs, manifest)

    def _positions(self, name: str, deletes: Sequence[Deletes]) -> SegmentPart:
        part = SegmentPart()
        with positions_writer(self.blobs, name) as writer:
            for file in deletes:
                first = writer.batches
                for runs in file.batches():
                    writer.write(runs)
                part.delete_files.append(
                    SegmentDeleteFile(
                        identity=file.identity,
                        rows=len(file.rows),
                        first_batch=first,
                        batches=writer.batches - first,
                    )
                )
        part.positions.CopyFrom(reference(writer.ref))
        return part

    def held(
        self, prefix: str, files: Sequence[Content], deletes: Sequence[Deletes] = ()
    ) -> HeldSegment:
        """The same, as indexes speak of it."""
        written = self.write(prefix, files, deletes)
        return HeldSegment(
            segment_id=written.segment_id, manifest=written.manifest, blob_prefix=prefix
        )

    def _file(self, prefix: str, file: Content, shape: int) -> SegmentFile:
        stats = FileTargetStats(
            identity=file.identity, file_format="parquet", content=FC_DATA, row_count=file.rows
        )
        made = SegmentFile(stats=stats, shape=shape)
        if self.sidecars:
            made.artifact.CopyFrom(self._sidecar(prefix, file))
        return made

    def _sidecar(self, prefix: str, file: Content) -> IndexArtifactRecord:
        name = f"{prefix}/sidecars/{file.path.replace('/', '_').replace(':', '_')}"
        with self.blobs.writer(name) as writer:
            writer.write(f"page bounds of {file.path}".encode())
        return IndexArtifactRecord(
            target_file=file.identity,
            artifact=reference(writer.ref),
            state=IAS_READY,
            artifact_format="parquet-page-bounds",
            artifact_format_version=1,
            coverage=IndexArtifactCoverage(
                row_count=file.rows, row_group_count=1, page_count=1, column_ids=file.columns
            ),
        )
