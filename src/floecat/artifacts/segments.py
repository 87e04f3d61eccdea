"""Segments: what one executed group of files left behind, and how it is found again.

    {prefix}/manifest        SegmentManifest: files, what was learnt of them, and the parts
    {prefix}/parts/{task}    Arrow: a batch per column, a row per file of the part
    {prefix}/together/{task} Arrow: the same in one row, where files have no sketches of their own
    {prefix}/positions/…     Arrow: what the delete files of the part take away (`positions`)
    {prefix}/partials        Arrow: a batch per column, one row: all files that were read for it
    {prefix}/sidecars/…      page bounds per source file

A segment never changes. Everything it names lies below its prefix, so that who keeps the prefix
keeps the segment.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import pyarrow as pa

from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.execution.capture_pb2 import SegmentReference
from ai.floedb.floecat.execution.stored_pb2 import (
    ColumnCoverage,
    SegmentDeleteFile,
    SegmentFile,
    SegmentManifest,
    SegmentPart,
)
from floecat.artifacts.arrow import open_arrow, write_arrow
from floecat.artifacts.columns import SCHEMA, ColumnRow, from_batch, to_batch
from floecat.artifacts.payloads import blob_ref, read_message, reference
from floecat.artifacts.versions import require_version
from floecat.connectors.spi.merging import MOST
from floecat.errors import DataLossError
from floecat.storage.blobs.port import BlobRef, BlobStore

FORMAT_VERSION: Final = 1


def write_columns(
    blobs: BlobStore, name: str, columns: Mapping[int, Sequence[ColumnRow | None]]
) -> BlobRef:
    """Write rows by column; each column has one per file, in the same order."""
    batches = (to_batch(column_id, columns[column_id]) for column_id in sorted(columns))
    return write_arrow(blobs, name, SCHEMA, batches)


def write_manifest(blobs: BlobStore, manifest: SegmentManifest) -> SegmentReference:
    """Write the manifest last: with it the segment is whole."""
    manifest.format_version = FORMAT_VERSION
    with blobs.writer(f"{manifest.blob_prefix}/manifest") as writer:
        writer.write(manifest.SerializeToString())
    files = [file for part in manifest.parts for file in part.files]
    return SegmentReference(
        segment_id=manifest.segment_id,
        manifest=reference(writer.ref),
        files=len(files),
        rows=min(sum(file.stats.row_count for file in files), MOST),
        format_version=FORMAT_VERSION,
    )


class ColumnFile:
    """An Arrow file of columns, opened: a part, or the partials of a segment."""

    def __init__(self, blobs: BlobStore, columns: BlobReference) -> None:
        self._reader = open_arrow(blobs, blob_ref(columns))
        if not self._reader.schema.equals(SCHEMA):
            raise DataLossError(f"{columns.uri} isn't laid out as columns of a segment")

    @cached_property
    def _places(self) -> dict[int, int]:
        batches = (self._reader.get_batch(n) for n in range(self._reader.num_record_batches))
        return {batch.column("column_id")[0].as_py(): n for n, batch in enumerate(batches)}

    @property
    def column_ids(self) -> frozenset[int]:
        """The columns that something is known of."""
        return frozenset(self._places)

    def batch(self, column_id: int) -> pa.RecordBatch | None:
        """A column's rows; None when nothing is known of it."""
        place = self._places.get(column_id)
        return None if place is None else self._reader.get_batch(place)

    def rows(self, column_id: int, rows: Sequence[int]) -> list[ColumnRow | None]:
        """What is known of a column in several files."""
        batch = self.batch(column_id)
        if batch is None:
            return [None] * len(rows)
        # At once, which costs little more than one of them.
        return [_row(known) for known in batch.take(pa.array(rows, pa.int64())).to_pylist()]

    def row(self, column_id: int, row: int) -> ColumnRow | None:
        """What is known of a column in one file."""
        batch = self.batch(column_id)
        return None if batch is None else from_batch(batch, row)


def _row(known: dict[str, Any]) -> ColumnRow | None:
    del known["column_id"]
    return ColumnRow(**known) if known.pop("present") else None


class Segment:
    """A segment, opened for reading. Files are numbered across its parts, in order."""

    def __init__(self, blobs: BlobStore, manifest: SegmentManifest) -> None:
        self._blobs = blobs
        self.manifest = manifest

    @classmethod
    def open(cls, blobs: BlobStore, manifest: BlobReference) -> "Segment":
        """Open a segment by its manifest."""
        read = read_message(blobs, manifest, SegmentManifest)
        require_version(f"the segment {manifest.uri}", read.format_version, FORMAT_VERSION)
        return cls(blobs, read)

    @cached_property
    def files(self) -> tuple[SegmentFile, ...]:
        """Every file."""
        return tuple(file for part in self.manifest.parts for file in part.files)

    @cached_property
    def delete_files(self) -> tuple[SegmentDeleteFile, ...]:
        """Every file of position deletes; numbered apart from the others."""
        return tuple(file for part in self.manifest.parts for file in part.delete_files)

    def coverage(self, file: SegmentFile) -> Sequence[ColumnCoverage]:
        """What was learnt of a file."""
        return self.manifest.shapes[file.shape].columns

    @cached_property
    def columns(self) -> Mapping[int, ColumnCoverage]:
        """Every column that something was learnt of, as the first shape that has it says."""
        found: dict[int, ColumnCoverage] = {}
        for shape in self.manifest.shapes:
            for column in shape.columns:
                found.setdefault(column.column_id, column)
        return found

    @cached_property
    def partials(self) -> ColumnFile:
        """One row per column: all files that were read for it."""
        return ColumnFile(self._blobs, self.manifest.partials)

    @property
    def sketch_bytes(self) -> int:
        """What the sketches of its files take up, of each by itself."""
        return sum(part.sketch_bytes for part in self.manifest.parts)

    @property
    def has_sketches_together(self) -> bool:
        """Whether there are sketches of all files together, and not of each."""
        return any(part.together.uri for part in self.manifest.parts)

    def is_asked(self, file: SegmentFile, column_id: int) -> bool:
        """Whether a file was read for a column, whatever came of it."""
        return column_id in self._asked[file.shape]

    def asked(self, column_id: int) -> int:
        """How many files were."""
        counts = self._files_by_shape.items()
        return sum(count for shape, count in counts if column_id in self._asked[shape])

    @cached_property
    def _files_by_shape(self) -> Mapping[int, int]:
        """Files share few shapes, and who merges asks for every column of every segment."""
        return Counter(file.shape for file in self.files)

    @cached_property
    def _asked(self) -> "Sequence[frozenset[int]]":
        """By shape."""
        shapes = self.manifest.shapes
        return [frozenset(column.column_id for column in shape.columns) for shape in shapes]

    def parts(self) -> Iterator[tuple[SegmentPart, ColumnFile]]:
        """The parts that have files, one after another, each opened."""
        for part in self.manifest.parts:
            if part.files:
                yield part, ColumnFile(self._blobs, part.columns)

    def blobs(self) -> Iterator[BlobReference]:
        """Every blob that the segment consists of, besides its manifest."""
        yield self.manifest.partials
        for part in self.manifest.parts:
            named = (part.columns, part.positions, part.together)
            yield from (blob for blob in named if blob.uri)
            yield from (f.artifact.artifact for f in part.files if f.artifact.artifact.uri)

    def together(self, part: SegmentPart) -> ColumnFile | None:
        """All files of a part in one row, where they have no sketches of their own."""
        return ColumnFile(self._blobs, part.together) if part.together.uri else None

    def part_of(self, number: int) -> tuple[ColumnFile, int]:
        """The opened part of a file by its number, and its row there."""
        row = number
        for part in self.manifest.parts:
            if row < len(part.files):
                return ColumnFile(self._blobs, part.columns), row
            row -= len(part.files)
        raise DataLossError(f"segment {self.manifest.segment_id} has no file {number}")

    def delete_file(self, number: int) -> tuple[SegmentPart, SegmentDeleteFile]:
        """A file of position deletes by its number, and the part that has its positions."""
        left = number
        for part in self.manifest.parts:
            if 0 <= left < len(part.delete_files):
                return part, part.delete_files[left]
            left -= len(part.delete_files)
        raise DataLossError(f"segment {self.manifest.segment_id} has no delete file {number}")


def number_shapes(manifest: SegmentManifest, shapes: Iterable[bytes]) -> Sequence[int]:
    """Put shapes into a manifest, each once; where each of them is."""
    places = {
        shape.SerializeToString(deterministic=True): n for n, shape in enumerate(manifest.shapes)
    }
    numbers: list[int] = []
    for content in shapes:
        if content not in places:
            places[content] = len(manifest.shapes)
            manifest.shapes.add().MergeFromString(content)
        numbers.append(places[content])
    return numbers
