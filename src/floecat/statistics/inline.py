"""Statistics that came as records: put into a segment, so that all that follows knows only those.

An upstream's own metadata tells of files without any of them being read. What it tells is sent as
FILE records, a few at a time.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress

from ai.floedb.floecat.catalog.index_pb2 import IndexArtifactRecord
from ai.floedb.floecat.catalog.stats_pb2 import (
    NM_DICTIONARY,
    SR_FREQUENT_ITEMS,
    SR_NDV,
    SR_QUANTILES,
    FileTargetStats,
    ScalarStats,
)
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.execution.capture_pb2 import SegmentReference
from ai.floedb.floecat.execution.stored_pb2 import (
    ColumnCoverage,
    CoverageShape,
    SegmentFile,
    SegmentManifest,
    SegmentPart,
)
from floecat.artifacts.columns import (
    FREQUENCIES_TYPE,
    THETA_TYPE,
    ColumnRow,
)
from floecat.artifacts.merging import ColumnMerge
from floecat.artifacts.payloads import reference
from floecat.artifacts.segments import number_shapes, write_columns, write_manifest
from floecat.artifacts.types import stored_type
from floecat.sketches.quantiles import QUANTILES_TYPE
from floecat.storage.blobs.port import BlobStore
from floecat.types.bounds import Bound, lower_bound, upper_bound
from floecat.types.errors import InvalidValueError


class InlineSegment:
    """A segment on its way: the files of one group, a part in memory."""

    def __init__(self, blobs: BlobStore, prefix: str, table_id: ResourceId, job_id: str) -> None:
        self._blobs = blobs
        self._manifest = SegmentManifest(
            segment_id=prefix, table_id=table_id, blob_prefix=prefix, job_id=job_id
        )

    def write(
        self,
        snapshot_id: int,
        files: Iterable[FileTargetStats],
        artifacts: Mapping[str, IndexArtifactRecord],
    ) -> SegmentReference:
        """Write what is known of files; their sidecars by path."""
        listed = list(files)
        shapes = [_shape(file, artifacts.get(file.identity.file_path)) for file in listed]
        contents = [shape.SerializeToString(deterministic=True) for shape in shapes]
        numbers = number_shapes(self._manifest, contents)
        part = SegmentPart()
        for file, number in zip(listed, numbers, strict=True):
            part.files.append(_segment_file(file, number, artifacts))
        rows = _rows(listed)
        prefix = self._manifest.blob_prefix
        columns = write_columns(self._blobs, f"{prefix}/parts/000000", rows)
        part.columns.CopyFrom(reference(columns))
        self._manifest.parts.append(part)
        self._manifest.snapshot_id = snapshot_id
        partials = write_columns(self._blobs, f"{prefix}/partials", _partials(listed, rows, shapes))
        self._manifest.partials.CopyFrom(reference(partials))
        return write_manifest(self._blobs, self._manifest)


def to_row(stats: ScalarStats) -> ColumnRow:
    """What a record tells of a column, as segments have it."""
    sketches = {(s.role, s.type): s.data for s in stats.sketches if s.data}
    exact = stats.ndv.WhichOneof("value") == "exact" and stats.ndv.method == NM_DICTIONARY
    low, high = _bounds(stats)
    return ColumnRow(
        value_count=stats.value_count if stats.HasField("value_count") else None,
        null_count=stats.null_count if stats.HasField("null_count") else None,
        nan_count=stats.nan_count if stats.HasField("nan_count") else None,
        minimum=None if low is None else low.encoded,
        maximum=None if high is None else high.encoded,
        minimum_tight=low is not None and low.is_tight,
        maximum_tight=high is not None and high.is_tight,
        width_bytes=_width(stats),
        rows_seen=stats.ndv.rows_seen if stats.ndv.HasField("rows_seen") else None,
        dictionary_ndv=stats.ndv.exact if exact else None,
        theta=sketches.get((SR_NDV, THETA_TYPE)),
        quantiles=sketches.get((SR_QUANTILES, QUANTILES_TYPE)),
        frequencies=sketches.get((SR_FREQUENT_ITEMS, FREQUENCIES_TYPE)),
    )


def _bounds(stats: ScalarStats) -> tuple[Bound | None, Bound | None]:
    """Bounds as they are written here; one that isn't of the column's type is none."""
    logical = stored_type(stats.logical_type)
    low = high = None
    with suppress(InvalidValueError):
        if stats.HasField("min"):
            low = lower_bound(logical, stats.min, is_tight=stats.min_tight)
    with suppress(InvalidValueError):
        if stats.HasField("max"):
            high = upper_bound(logical, stats.max, is_tight=stats.max_tight)
    return low, high


def _width(stats: ScalarStats) -> int | None:
    known = stats.HasField("value_count") and stats.HasField("null_count")
    if not known or not stats.HasField("average_width_bytes"):
        return None
    return round(stats.average_width_bytes * (stats.value_count - stats.null_count))


def _shape(file: FileTargetStats, artifact: IndexArtifactRecord | None) -> CoverageShape:
    indexed = set(artifact.coverage.column_ids) if artifact is not None else set()
    shape = CoverageShape()
    for column in sorted(file.columns, key=lambda column: column.column_id):
        row = to_row(column.scalar)
        shape.columns.append(
            ColumnCoverage(
                column_id=column.column_id,
                name=column.scalar.display_name,
                logical_type=column.scalar.logical_type,
                ndv=row.theta is not None,
                quantiles=row.quantiles is not None,
                frequent_items=row.frequencies is not None,
                page_index=column.column_id in indexed,
            )
        )
    return shape


def _segment_file(
    file: FileTargetStats, shape: int, artifacts: Mapping[str, IndexArtifactRecord]
) -> SegmentFile:
    made = SegmentFile(stats=file, shape=shape)
    made.stats.ClearField("columns")
    artifact = artifacts.get(file.identity.file_path)
    if artifact is not None:
        made.artifact.CopyFrom(artifact)
        made.artifact.ClearField("table_id")
        made.artifact.ClearField("snapshot_id")
    return made


def _rows(files: list[FileTargetStats]) -> dict[int, list[ColumnRow | None]]:
    rows: dict[int, list[ColumnRow | None]] = {}
    for place, file in enumerate(files):
        for column in file.columns:
            held = rows.setdefault(column.column_id, [None] * len(files))
            held[place] = to_row(column.scalar)
    return rows


def _partials(
    files: list[FileTargetStats],
    rows: Mapping[int, list[ColumnRow | None]],
    shapes: Iterable[CoverageShape],
) -> dict[int, list[ColumnRow | None]]:
    types = {column.column_id: column.logical_type for s in shapes for column in s.columns}
    merged: dict[int, list[ColumnRow | None]] = {}
    for column_id, column_rows in rows.items():
        merge = ColumnMerge(stored_type(types[column_id]))
        for file, row in zip(files, column_rows, strict=True):
            merge.add(row, file.row_count if file.HasField("row_count") else None)
        merged[column_id] = [merge.result()]
    return merged
