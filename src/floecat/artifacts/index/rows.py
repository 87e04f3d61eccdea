"""Rows on their way into an index part: new ones from segments, and ones kept from older parts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from ai.floedb.floecat.catalog.stats_pb2 import FileIdentity
from ai.floedb.floecat.execution.scan_pb2 import ScanFile
from ai.floedb.floecat.execution.stored_pb2 import (
    CoverageShape,
    HeldSegment,
    IndexColumn,
    IndexPartitionField,
)
from floecat.artifacts.index.bounds import partition_values
from floecat.artifacts.index.choosing import Choices
from floecat.artifacts.index.gathering import GatheredBounds
from floecat.artifacts.index.layout import CORE, identity_hash, partition_column
from floecat.artifacts.index.parts import IndexPartFile, Use
from floecat.artifacts.segments import Segment
from floecat.artifacts.types import stored_type

OpenSegment = Callable[[HeldSegment], Segment]

_OF_ONE_SNAPSHOT: Final = ("columns", "delete_file_indexes")


class PartRows(Protocol):
    """Rows with everything that a part has of them, in some order."""

    @property
    def core(self) -> pa.Table: ...
    @property
    def scan_files(self) -> pa.Array | pa.ChunkedArray: ...
    @property
    def segments(self) -> Sequence[HeldSegment]: ...
    @property
    def shapes(self) -> Sequence[CoverageShape]: ...
    @property
    def partition_fields(self) -> Sequence[IndexPartitionField]: ...
    @property
    def columns(self) -> Mapping[int, IndexColumn]: ...

    def bounds(self, column_ids: Sequence[int]) -> Mapping[int, pa.StructArray]:
        """Counts and bounds of columns, one per file; without those that nothing is known of."""


class KeptRows:
    """Rows of an older part that are still live."""

    def __init__(self, part: IndexPartFile, rows: "np.ndarray[Any, np.dtype[np.int64]]") -> None:
        self._part = part
        self._rows = pa.array(rows, pa.int64())
        self.core = pa.Table.from_batches([part.core]).take(self._rows)
        self.segments = part.part.segments
        self.shapes = part.part.shapes
        self.partition_fields = part.part.partition_fields
        self.columns = part.columns

    @property
    def scan_files(self) -> pa.Array:
        """Each as a scan has it."""
        return self._part.scan_file_array().take(self._rows)

    def bounds(self, column_ids: Sequence[int]) -> Mapping[int, pa.StructArray]:
        """Counts and bounds of columns."""
        found = {column_id: self._part.bounds(column_id) for column_id in column_ids}
        return {
            column_id: bounds.take(self._rows)
            for column_id, bounds in found.items()
            if bounds is not None
        }


class SegmentUse(NamedTuple):
    """A segment that knows of a new file."""

    segment: HeldSegment
    file: int
    shape: CoverageShape


class DeleteUse(NamedTuple):
    """A segment that knows the positions of a delete file."""

    segment: HeldSegment
    file: int
    """Its number among the segment's delete files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRow:
    """A file that no part has yet, or not with these results."""

    identity: FileIdentity
    scan_file: ScanFile
    row_count: int | None
    uses: Sequence[SegmentUse]
    """Oldest first."""
    failure: str = ""


@dataclass
class _Gathered:
    """Columns of the core while rows come in."""

    values: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in CORE.names})
    partitions: list[Mapping[int, str | None]] = field(default_factory=list)
    scan_files: list[bytes] = field(default_factory=list)


class NewRows:
    """Rows of new files. What is known of their columns is read from segments when it is wanted."""

    def __init__(self, opened: OpenSegment) -> None:
        self._opened = opened
        self._gathered = _Gathered()
        self._uses: list[Sequence[Use]] = []
        self._segment_numbers: dict[str, int] = {}
        self._shape_numbers: dict[bytes, int] = {}
        self._fields: dict[int, IndexPartitionField] = {}
        self.segments: list[HeldSegment] = []
        self.shapes: list[CoverageShape] = []

    def __len__(self) -> int:
        return len(self._uses)

    def add(self, row: NewRow) -> None:
        """Take a file."""
        file = _stripped(row.scan_file)
        uses = [self._use(use) for use in row.uses]
        self._uses.append(uses)
        values: dict[str, Any] = {
            "path": row.identity.file_path,
            "size": row.identity.size_bytes,
            "format_mark": row.identity.format_mark,
            "identity": identity_hash(row.identity),
            "row_count": row.row_count,
            "partition_spec_id": (
                file.partition_spec_id if file.HasField("partition_spec_id") else None
            ),
            "sequence_number": file.sequence_number if file.HasField("sequence_number") else None,
            "failure": row.failure or None,
            "segments": [use._asdict() for use in uses],
        }
        for name, value in values.items():
            self._gathered.values[name].append(value)
        self._gathered.partitions.append(self._partition(file))
        self._gathered.scan_files.append(file.SerializeToString(deterministic=True))

    @property
    def core(self) -> pa.Table:
        """What every file is."""
        arrays = [pa.array(self._gathered.values[part.name], part.type) for part in CORE]
        table = pa.Table.from_arrays(arrays, schema=CORE)
        for number, partitioned in sorted(self._fields.items()):
            known = ((number in file, file.get(number)) for file in self._gathered.partitions)
            values = partition_values(stored_type(partitioned.type), known)
            table = table.append_column(partition_column(number), values)
        return table

    @property
    def scan_files(self) -> pa.Array:
        """Each as a scan has it."""
        return pa.array(self._gathered.scan_files, pa.large_binary())

    @property
    def partition_fields(self) -> Sequence[IndexPartitionField]:
        """What files are partitioned by."""
        return [self._fields[number] for number in sorted(self._fields)]

    @property
    def columns(self) -> Mapping[int, IndexColumn]:
        """Every column that something was learnt of; the newest name and type."""
        found: dict[int, IndexColumn] = {}
        for shape in self.shapes:
            for column in shape.columns:
                found[column.column_id] = IndexColumn(
                    column_id=column.column_id, name=column.name, logical_type=column.logical_type
                )
        return found

    def bounds(self, column_ids: Sequence[int]) -> Mapping[int, pa.StructArray]:
        """Counts and bounds of columns, from the segments that speak of them."""
        gathering = {column_id: GatheredBounds(len(self)) for column_id in column_ids}
        for number, wanted in self._by_segment(column_ids).items():
            self._gather(self._opened(self.segments[number]), wanted, gathering)
        types = {number: column.logical_type for number, column in self.columns.items()}
        return {
            column_id: gathered.typed(stored_type(types[column_id]))
            for column_id, gathered in gathering.items()
            if gathered
        }

    def _by_segment(self, column_ids: Sequence[int]) -> "dict[int, _Wanted]":
        choices = Choices(self.shapes)
        found: dict[int, _Wanted] = {}
        for row, uses in enumerate(self._uses):
            chosen = choices.of(tuple(use.shape for use in uses))
            for ordinal, use in enumerate(uses):
                columns = frozenset(c for c in column_ids if chosen.get(c) == ordinal)
                of_segment = found.setdefault(use.segment, {})
                of_segment.setdefault((use.shape, columns), []).append((use.file, row))
        return found

    def _gather(
        self, segment: Segment, wanted: "_Wanted", gathering: Mapping[int, GatheredBounds]
    ) -> None:
        first = 0
        for part, columns in segment.parts():
            end = first + len(part.files)
            for (shape, column_ids), files in wanted.items():
                here = [(file - first, row) for file, row in files if first <= file < end]
                for column in self.shapes[shape].columns if here else ():
                    number = column.column_id
                    batch = columns.batch(number) if number in column_ids else None
                    if batch is not None:
                        gathering[number].add(column.logical_type, batch, here)
            first = end

    def _use(self, use: SegmentUse) -> Use:
        segment = self._segment_numbers.setdefault(use.segment.manifest.sha256, len(self.segments))
        if segment == len(self.segments):
            self.segments.append(use.segment)
        content = use.shape.SerializeToString(deterministic=True)
        shape = self._shape_numbers.setdefault(content, len(self.shapes))
        if shape == len(self.shapes):
            self.shapes.append(use.shape)
        return Use(segment, use.file, shape)

    def _partition(self, file: ScanFile) -> Mapping[int, str | None]:
        known: dict[int, str | None] = {}
        for value in file.partition_values:
            number = value.partition_field_id
            known[number] = value.value if value.HasField("value") else None
            self._fields[number] = IndexPartitionField(
                partition_field_id=number, name=value.name, type=value.type
            )
        return known


_Wanted = dict[tuple[int, frozenset[int]], list[tuple[int, int]]]
"""Of a segment: files by their shape and the columns that it speaks of; each file's number, and the
row that it becomes."""


def _stripped(file: ScanFile) -> ScanFile:
    """Without what another snapshot, or another reader, sees differently."""
    bare = ScanFile()
    bare.CopyFrom(file)
    for name in _OF_ONE_SNAPSHOT:
        bare.ClearField(name)
    return bare
