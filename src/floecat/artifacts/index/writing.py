"""Writing index parts: rows of any origin, joined, ordered and cut."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.execution.stored_pb2 import (
    CoverageShape,
    HeldSegment,
    IndexColumn,
    IndexPart,
    IndexPartitionField,
)
from floecat.artifacts.arrow import write_arrow
from floecat.artifacts.index.bounds import (
    bounds_type,
    partition_type,
    widened_bounds,
    widened_values,
)
from floecat.artifacts.index.layout import (
    CORE,
    FORMAT_VERSION,
    MAX_ROWS,
    SCAN_FILES,
    USES,
    bounds_column,
    partition_column,
)
from floecat.artifacts.index.rows import PartRows
from floecat.artifacts.payloads import reference
from floecat.artifacts.targets import path_key
from floecat.artifacts.types import stored_type
from floecat.storage.blobs.port import BlobStore

_CELLS: Final = 2_000_000
"""Rows times columns that are in memory at once: about 150 MB of counts and bounds."""
_FILE_BYTES: Final = 1024 * 1024
"""Columns share a file until it has this much, so that small parts have few blobs."""

K = TypeVar("K")
V = TypeVar("V")

Rows = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """A part in the blob store."""

    manifest: BlobReference
    part: IndexPart
    order: Rows
    """Which of the rows that were given each of its rows is."""


class PartWriter:
    """Writes parts below a prefix, each under a number of its own."""

    def __init__(self, blobs: BlobStore, prefix: str, max_rows: int = MAX_ROWS) -> None:
        self._blobs = blobs
        self._prefix = prefix
        self._max_rows = max_rows
        self._count = 0

    def write(self, sources: Sequence[PartRows]) -> Iterator[WrittenPart]:
        """Rows of several origins as parts: by path, none larger than a part may be."""
        joined = _Joined(sources)
        for start in range(0, len(joined.order), self._max_rows):
            yield self._write(joined, joined.order[start : start + self._max_rows])

    def _write(self, joined: "_Joined", order: Rows) -> WrittenPart:
        prefix = f"{self._prefix}/parts/{self._count:06}"
        self._count += 1
        core, segments, shapes = _renumbered(joined.core.take(order), joined)
        files = pa.Table.from_arrays([joined.scan_files.take(pa.array(order))], schema=SCAN_FILES)
        part = IndexPart(
            format_version=FORMAT_VERSION,
            rows=len(order),
            core=self._arrow(f"{prefix}/core", core),
            scan_files=self._arrow(f"{prefix}/files", files),
            partition_fields=[joined.fields[number] for number in sorted(joined.fields)],
            segments=segments,
            shapes=shapes,
        )
        self._write_columns(prefix, joined, order, part)
        with self._blobs.writer(f"{prefix}/part") as writer:
            writer.write(part.SerializeToString(deterministic=True))
        return WrittenPart(reference(writer.ref), part, order)

    def _write_columns(self, prefix: str, joined: "_Joined", order: Rows, part: IndexPart) -> None:
        waiting: list[tuple[IndexColumn, pa.StructArray]] = []
        for column, bounds in joined.bounds(order):
            waiting.append((column, bounds))
            if sum(held.nbytes for _, held in waiting) >= _FILE_BYTES:
                self._write_file(prefix, waiting, part)
                waiting = []
        if waiting:
            self._write_file(prefix, waiting, part)

    def _write_file(
        self, prefix: str, columns: Sequence[tuple[IndexColumn, pa.StructArray]], part: IndexPart
    ) -> None:
        number = len(part.column_files)
        table = pa.table({bounds_column(column.column_id): held for column, held in columns})
        part.column_files.append(self._arrow(f"{prefix}/columns/{number:06}", table))
        for column, _ in columns:
            placed = part.columns.add()
            placed.CopyFrom(column)
            placed.file = number

    def _arrow(self, name: str, table: pa.Table) -> BlobReference:
        batches = table.combine_chunks().to_batches()
        return reference(write_arrow(self._blobs, name, table.schema, batches))


class _Joined:
    """Rows of several origins, numbered one after another."""

    def __init__(self, sources: Sequence[PartRows]) -> None:
        self._sources = sources
        self.fields: dict[int, IndexPartitionField] = {}
        for source in sources:
            self.fields.update({f.partition_field_id: f for f in source.partition_fields})
        self.segments: list[HeldSegment] = []
        self.shapes: list[CoverageShape] = []
        cores = [self._core(source) for source in sources]
        self._lengths = [core.num_rows for core in cores]
        self.core = pa.concat_tables(cores).combine_chunks()
        self.scan_files = pa.chunked_array(
            [chunk for source in sources for chunk in _chunks(source.scan_files)],
            pa.large_binary(),
        )
        keys = [path_key(path) for path in self.core.column("path").to_pylist()]
        self.order: Rows = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)

    def bounds(self, order: Rows) -> Iterator[tuple[IndexColumn, pa.StructArray]]:
        """Every column that something is known of, in the order of some rows."""
        columns: dict[int, IndexColumn] = {}
        for source in self._sources:
            columns.update(source.columns)
        ids = sorted(columns)
        step = max(1, _CELLS // max(1, sum(self._lengths)))
        for start in range(0, len(ids), step):
            block = ids[start : start + step]
            found = [source.bounds(block) for source in self._sources]
            for column_id in block:
                column = columns[column_id]
                bounds = pa.concat_arrays(self._bounds_of(column, found)).take(pa.array(order))
                if bounds.null_count < len(bounds):
                    yield column, bounds

    def _bounds_of(
        self, column: IndexColumn, found: Sequence[Mapping[int, pa.StructArray]]
    ) -> Iterator[pa.StructArray]:
        """What each source knows of a column, typed as it is now."""
        now = stored_type(column.logical_type)
        for source, arrays, length in zip(self._sources, found, self._lengths, strict=True):
            bounds = arrays.get(column.column_id)
            if bounds is None:
                yield pa.nulls(length, bounds_type(now))
            else:
                before = stored_type(source.columns[column.column_id].logical_type)
                yield widened_bounds(bounds, before, now)

    def _core(self, source: PartRows) -> pa.Table:
        """A source's rows, with segments and shapes numbered as they are here."""
        shift = (len(self.segments), len(self.shapes))
        self.segments.extend(source.segments)
        self.shapes.extend(source.shapes)
        core = source.core.select(CORE.names)
        for number in sorted(self.fields):
            core = core.append_column(partition_column(number), self._partition(source, number))
        return _with_uses(core, lambda s, f, h: (s + shift[0], f, h + shift[1]))

    def _partition(self, source: PartRows, number: int) -> pa.StructArray:
        """A source's values of a partition field, typed as it is now."""
        now = stored_type(self.fields[number].type)
        for field in source.partition_fields:
            if field.partition_field_id == number:
                values = source.core.column(partition_column(number)).combine_chunks()
                return widened_values(values, stored_type(field.type), now)
        return pa.nulls(source.core.num_rows, partition_type(now))


def _chunks(array: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    return array.chunks if isinstance(array, pa.ChunkedArray) else [array]


def _renumbered(
    core: pa.Table, joined: _Joined
) -> tuple[pa.Table, list[HeldSegment], list[CoverageShape]]:
    """Only what these rows speak of, each segment and each shape once."""
    segments: dict[str, tuple[int, HeldSegment]] = {}
    shapes: dict[bytes, tuple[int, CoverageShape]] = {}
    used = _used(core)
    segment_numbers = np.zeros(len(joined.segments), np.int32)
    for number in np.unique(used[0]):
        held = joined.segments[number]
        segment_numbers[number] = _number(segments, held.manifest.sha256, held)
    shape_numbers = np.zeros(len(joined.shapes), np.int32)
    for number in np.unique(used[2]):
        content = joined.shapes[number].SerializeToString(deterministic=True)
        shape_numbers[number] = _number(shapes, content, joined.shapes[number])
    numbered = _with_uses(core, lambda s, f, h: (segment_numbers[s], f, shape_numbers[h]))
    return numbered, [held for _, held in segments.values()], [s for _, s in shapes.values()]


def _number(known: dict[K, tuple[int, V]], key: K, value: V) -> int:
    return known.setdefault(key, (len(known), value))[0]


def _used(core: pa.Table) -> tuple[Rows, Rows, Rows]:
    flat = core.column("segments").combine_chunks().flatten()
    return tuple(
        flat.field(name).to_numpy(zero_copy_only=False) for name in ("segment", "file", "shape")
    )


def _with_uses(core: pa.Table, change: Any) -> pa.Table:
    """The core with other numbers in what its rows say of segments."""
    lists = core.column("segments").combine_chunks()
    if isinstance(lists, pa.ChunkedArray):
        lists = pa.concat_arrays(lists.chunks) if lists.num_chunks else pa.array([], USES)
    sizes = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    numbers = change(*_used(core))
    arrays = [pa.array(values, pa.int32()) for values in numbers]
    struct = pa.StructArray.from_arrays(arrays, fields=list(USES.value_type))
    made = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), struct, type=USES)
    place = core.schema.get_field_index("segments")
    return core.set_column(place, CORE.field("segments"), made)
