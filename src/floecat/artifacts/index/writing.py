"""Writing index parts: rows of any origin, joined, ordered and cut."""

from collections.abc import Iterator, Sequence
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
from floecat.artifacts.index.layout import (
    BOUNDS,
    CORE,
    FORMAT_VERSION,
    MAX_ROWS,
    PARTITION,
    SCAN_FILES,
    USES,
    partition_column,
)
from floecat.artifacts.index.rows import PartRows
from floecat.artifacts.payloads import reference
from floecat.artifacts.targets import path_key
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
            core=self._arrow(f"{prefix}/core", core.schema, [core]),
            scan_files=self._arrow(f"{prefix}/files", SCAN_FILES, [files]),
            partition_fields=[joined.fields[number] for number in sorted(joined.fields)],
            segments=segments,
            shapes=shapes,
        )
        self._write_columns(prefix, joined, order, part)
        with self._blobs.writer(f"{prefix}/part") as writer:
            writer.write(part.SerializeToString(deterministic=True))
        return WrittenPart(reference(writer.ref), part, order)

    def _write_columns(self, prefix: str, joined: "_Joined", order: Rows, part: IndexPart) -> None:
        waiting: list[tuple[IndexColumn, pa.Table]] = []
        for column, table in joined.bounds(order):
            waiting.append((column, table))
            if sum(held.nbytes for _, held in waiting) >= _FILE_BYTES:
                self._write_file(prefix, waiting, part)
                waiting = []
        if waiting:
            self._write_file(prefix, waiting, part)

    def _write_file(
        self, prefix: str, columns: Sequence[tuple[IndexColumn, pa.Table]], part: IndexPart
    ) -> None:
        number = len(part.column_files)
        tables = [table for _, table in columns]
        part.column_files.append(self._arrow(f"{prefix}/columns/{number:06}", BOUNDS, tables))
        for batch, (column, _) in enumerate(columns):
            placed = part.columns.add()
            placed.CopyFrom(column)
            placed.file, placed.batch = number, batch

    def _arrow(self, name: str, schema: pa.Schema, tables: Sequence[pa.Table]) -> BlobReference:
        batches = (table.combine_chunks().to_batches()[0] for table in tables)
        return reference(write_arrow(self._blobs, name, schema, batches))


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

    def bounds(self, order: Rows) -> Iterator[tuple[IndexColumn, pa.Table]]:
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
                parts = [
                    tables.get(column_id, _nothing(length))
                    for tables, length in zip(found, self._lengths, strict=True)
                ]
                table = pa.concat_tables(parts).combine_chunks().take(order)
                if pc.any(table.column("present")).as_py():
                    yield columns[column_id], _with_presence(table)

    def _core(self, source: PartRows) -> pa.Table:
        """A source's rows, with segments and shapes numbered as they are here."""
        shift = (len(self.segments), len(self.shapes))
        self.segments.extend(source.segments)
        self.shapes.extend(source.shapes)
        core = source.core
        for number in sorted(self.fields):
            name = partition_column(number)
            if name not in core.column_names:
                absent = pa.array([{"present": False}] * core.num_rows, PARTITION)
                core = core.append_column(name, absent)
        ordered = [*CORE.names, *(partition_column(number) for number in sorted(self.fields))]
        return _with_uses(core.select(ordered), lambda s, f, h: (s + shift[0], f, h + shift[1]))


def _chunks(array: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    return array.chunks if isinstance(array, pa.ChunkedArray) else [array]


def _nothing(rows: int) -> pa.Table:
    return pa.Table.from_arrays([pa.nulls(rows, part.type) for part in BOUNDS], schema=BOUNDS)


def _with_presence(table: pa.Table) -> pa.Table:
    place = BOUNDS.get_field_index("present")
    return table.set_column(place, BOUNDS.field(place), pc.fill_null(table.column(place), False))


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
