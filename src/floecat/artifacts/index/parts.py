"""An index part, opened for reading."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.execution.scan_pb2 import ScanFile
from ai.floedb.floecat.execution.stored_pb2 import HeldSegment, IndexColumn, IndexPart
from floecat.artifacts.arrow import open_arrow
from floecat.artifacts.index.bounds import bounds_type
from floecat.artifacts.index.choosing import Choices
from floecat.artifacts.index.layout import CORE, FORMAT_VERSION, bounds_column
from floecat.artifacts.payloads import blob_ref, read_message
from floecat.artifacts.targets import path_key
from floecat.artifacts.types import stored_type
from floecat.artifacts.versions import require_version
from floecat.errors import DataLossError
from floecat.storage.blobs.port import BlobStore

Numbers = np.ndarray[Any, np.dtype[np.int32]]


class Use(NamedTuple):
    """A segment that knows of a file."""

    segment: int
    """Its number in the part."""
    file: int
    """The file's number in the segment."""
    shape: int
    """What was learnt, by its number in the part."""


class IndexPartFile:
    """A part: rows by number, in the order of their paths. Files are fetched when asked for."""

    def __init__(self, blobs: BlobStore, part: IndexPart) -> None:
        self._blobs = blobs
        self.part = part
        self.choices = Choices(part.shapes)

    @classmethod
    def open(cls, blobs: BlobStore, reference: BlobReference) -> "IndexPartFile":
        """Open a part by its manifest."""
        part = read_message(blobs, reference, IndexPart)
        require_version(f"the index part {reference.uri}", part.format_version, FORMAT_VERSION)
        return cls(blobs, part)

    @cached_property
    def core(self) -> pa.RecordBatch:
        """What every file is."""
        batch = self._batch(self.part.core)
        if batch.num_rows != self.part.rows or batch.schema.names[: len(CORE)] != CORE.names:
            raise DataLossError(f"{self.part.core.uri} isn't the core of its part")
        return batch

    @cached_property
    def _paths(self) -> pa.Array:
        return self.core.column("path")

    @cached_property
    def _scan_files(self) -> pa.Array:
        return self._batch(self.part.scan_files).column("scan_file")

    @cached_property
    def segments(self) -> "list[HeldSegment]":
        """The segments that its files are known from."""
        return list(self.part.segments)

    @cached_property
    def columns(self) -> Mapping[int, IndexColumn]:
        """The columns that something is known of, by id."""
        return {column.column_id: column for column in self.part.columns}

    def bounds(self, column_id: int) -> pa.StructArray | None:
        """Counts and typed bounds of a column, one per file; None if nothing is known of it."""
        column = self.columns.get(column_id)
        if column is None:
            return None
        file = self.part.column_files[column.file]
        batch = self._batch(file)
        place = batch.schema.get_field_index(bounds_column(column_id))
        wanted = bounds_type(stored_type(column.logical_type))
        if batch.num_rows != self.part.rows or place < 0 or batch.column(place).type != wanted:
            raise DataLossError(f"{file.uri} isn't of its part")
        return batch.column(place)

    def path(self, row: int) -> str:
        """A file's path."""
        return str(self._paths[row].as_py())

    def key(self, row: int) -> str:
        """What a file is ordered by."""
        return path_key(self.path(row))

    def scan_file_array(self) -> pa.Array:
        """Every file as a scan has it."""
        return self._scan_files

    def scan_file_bytes(self, row: int) -> bytes:
        """A file as a scan has it, without its columns' statistics and its deletes."""
        return bytes(self._scan_files[row].as_py())

    def scan_file(self, row: int) -> ScanFile:
        """The same, read."""
        return ScanFile.FromString(self.scan_file_bytes(row))

    def uses(self, row: int) -> list[Use]:
        """The segments that know of a file, oldest first."""
        offsets, numbers = self._uses
        return [Use(*use) for use in numbers[offsets[row] : offsets[row + 1]].tolist()]

    @cached_property
    def _uses(self) -> "tuple[Numbers, Numbers]":
        """Where each file's uses begin, and all of them: segment, file and shape."""
        lists = self.core.column("segments")
        flat = lists.values
        names = ("segment", "file", "shape")
        numbers = [flat.field(name).to_numpy(zero_copy_only=False) for name in names]
        return lists.offsets.to_numpy(), np.stack(numbers, axis=1)

    def segment(self, use: Use) -> HeldSegment:
        """The segment that is meant."""
        return self.segments[use.segment]

    def find(self, path: str) -> int | None:
        """The row of a path."""
        key = path_key(path)
        row = bisect_left(range(self.part.rows), key, key=self.key)
        return row if row < self.part.rows and self.path(row) == path else None

    def after(self, key: str | None) -> int:
        """The first row behind a key."""
        return 0 if key is None else bisect_right(range(self.part.rows), key, key=self.key)

    def blobs(self) -> Iterator[BlobReference]:
        """Everything that the part consists of, besides its manifest."""
        yield self.part.core
        yield self.part.scan_files
        yield from self.part.column_files

    def _batch(self, reference: BlobReference) -> pa.RecordBatch:
        reader = open_arrow(self._blobs, blob_ref(reference))
        if reader.num_record_batches != 1:
            raise DataLossError(f"{reference.uri} isn't one batch of rows")
        return reader.get_batch(0)
