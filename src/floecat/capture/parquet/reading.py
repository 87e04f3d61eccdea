"""ParquetSource: one open parquet file, read leaf by leaf and batch by batch."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from floecat.capture.leaves import FileLeaf, leaf_values
from floecat.capture.memory import MemoryLimit
from floecat.capture.parquet.errors import MalformedParquetError
from floecat.capture.parquet.footers import ChunkDetails, framed, parse_footer, read_footer
from floecat.capture.parquet.schemas import KnownSchemas
from floecat.capture.parquet.spans import FileSpans, Span, SpansFile

_BATCH_BYTES: Final = 32 * 1024 * 1024
_MAX_BATCH_ROWS: Final = 1 << 20
_MIN_BATCH_ROWS: Final = 1 << 10
_MOST_BATCHES: Final = 1 << 16
"""Of lists, of which a row may be large; sizes are what the file claims."""
_VALUE_BYTES: Final = 8
"""What a value takes up at least, about, however few bytes the file has for it: in lists there may
be many in a row, all alike."""
_SHORT_BYTES: Final = 16
"""Texts that take less in the file may be references to longer ones."""
_LARGE_CHUNK: Final = 64 * 1024 * 1024
"""Column chunks from this size on are read a buffer at a time, not whole; and of far files no more
than this is held in memory."""
_BUFFER: Final = 4 * 1024 * 1024
_LARGE_INDEX: Final = 32 * 1024 * 1024
_LARGE_FOOTER: Final = 1024 * 1024
"""From this size on it may take up a lot when it is read."""
_TEXTS: Final = frozenset({"BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"})


@dataclass(frozen=True, slots=True)
class ReadAs:
    """What values are read as."""

    dictionary: bool = False
    """As dictionaries, which has to be what all pages are."""
    unit: str = "us"
    """Of INT96, which has nanoseconds, and days that are too far away for them."""
    in_small_batches: bool = False
    """Because larger ones took too much memory."""


_PLAINLY: Final = ReadAs()


class ParquetSource:
    """A file whose footer has been read. Memory is that of a batch, however large the file is.

    `is_far`: asking for bytes takes long, so more is asked for at a time, and early.
    """

    def __init__(
        self,
        file: pa.NativeFile,
        size: int,
        schemas: KnownSchemas | None = None,
        limit: MemoryLimit | None = None,
        *,
        is_far: bool = False,
    ) -> None:
        self._is_far = is_far
        self._limit = limit
        self._spans = FileSpans(file, size, is_far=is_far)
        self._file = pa.PythonFile(SpansFile(self._spans, size), "r") if is_far else file
        self._chunk_bytes = 0
        self._content = read_footer(self._spans, size)
        is_small = len(self._content) < _LARGE_FOOTER
        with nullcontext() if limit is None or is_small else limit.kept():
            self.footer = parse_footer(self._content)
        self.statistics = self.footer.statistics
        known = KnownSchemas() if schemas is None else schemas
        self.schema = known.of(self.footer.schema, lambda: self._plain)
        width = len(self.schema.stored)
        if any(len(group) != width for group in self.footer.row_groups):
            raise MalformedParquetError("its row groups don't have the columns of its schema")

    @property
    def bytes_read(self) -> int:
        """How many bytes of the file were asked for so far."""
        return self._spans.bytes_read + self._chunk_bytes

    @cached_property
    def _plain(self) -> pq.ParquetFile:
        """Opened when there is something to read besides the footer."""
        return pq.ParquetFile(
            self._file,
            metadata=pq.read_metadata(pa.BufferReader(framed(self._content))),
            memory_map=False,
            pre_buffer=False,  # what is read early is up to us
            coerce_int96_timestamp_unit=_PLAINLY.unit,
        )

    def expect_values(self, leaves: Collection[FileLeaf], row_groups: Sequence[int]) -> None:
        """Read a far file's chunks of some leaves in one go, if they aren't large."""
        if self._is_far:
            self._spans.expect(self._chunks(leaves, row_groups), _LARGE_CHUNK)

    def _chunks(self, leaves: Collection[FileLeaf], row_groups: Sequence[int]) -> Iterator[Span]:
        for group in row_groups:
            for leaf in leaves:
                place = self.footer.row_groups[group][leaf.number].pages
                if place is not None:
                    yield place

    def expect_page_indexes(self, leaves: Collection[FileLeaf]) -> None:
        """Read the page indexes of some leaves in as few requests as it takes."""
        groups = self.footer.row_groups
        chunks = [group[leaf.number] for group in groups for leaf in leaves]
        spans = (span for chunk in chunks for span in (chunk.column_index, chunk.offset_index))
        self._spans.expect((span for span in spans if span is not None), _LARGE_INDEX)

    def read(self, span: Span) -> bytes:
        """Some bytes of the file. Raises `MalformedParquetError` if it hasn't so many."""
        return self._spans.read(span)

    def is_at_hand(self, span: Span) -> bool:
        """Whether to read bits of it, one after another, takes no requests."""
        return not self._is_far or self._spans.has(span)

    def batches(
        self,
        leaf: FileLeaf,
        row_groups: Sequence[int],
        *,
        form: ReadAs = _PLAINLY,
        look: Callable[[int], None] | None = None,
    ) -> Iterator[pa.Array]:
        """A leaf's values in some row groups.

        `look` is called with each row group while its chunk is at hand, which of a large far file
        it isn't for long.
        """
        if not row_groups:
            return
        chunks = [self.footer.row_groups[group][leaf.number] for group in row_groups]
        self._count(chunks)
        largest = max(chunk.compressed_bytes for chunk in chunks)
        reader = self._reader(
            [leaf] if form.dictionary else [], form.unit, streamed=largest > _LARGE_CHUNK
        )
        batch_rows = self._batch_rows(leaf, row_groups, form, reader)
        for stretch in self._stretches(leaf, row_groups):
            with self._ahead([leaf], stretch):
                if look is not None:
                    for group in stretch:
                        look(group)
                # By number: a name with a dot in it could be taken for a path.
                for batch in self._decoded(reader, batch_rows, stretch, [leaf.number]):
                    yield leaf_values(batch.column(0), leaf.path)

    def _batch_rows(
        self, leaf: FileLeaf, row_groups: Sequence[int], form: ReadAs, reader: pq.ParquetFile
    ) -> int:
        """How many rows are read at a time, by how much they seem to take up."""
        rows = sum(self.statistics.row_counts[group] for group in row_groups)
        least = max(1, rows // _MOST_BATCHES) if leaf.repeated else _MIN_BATCH_ROWS
        if form.in_small_batches:
            return least
        chunks = [self.footer.row_groups[group][leaf.number] for group in row_groups]
        values = sum(chunk.value_count for chunk in chunks)
        encoded = sum(chunk.uncompressed_bytes for chunk in chunks)
        size = max(encoded, _VALUE_BYTES * values)
        is_text = self.schema.stored[leaf.number].physical_type in _TEXTS
        if is_text and not form.dictionary and encoded < _SHORT_BYTES * values:
            size = max(size, self._decoded_size(leaf, row_groups[0], reader) * rows)
        return max(least, min(_MAX_BATCH_ROWS, _BATCH_BYTES * rows // max(size, 1)))

    def _decoded_size(self, leaf: FileLeaf, group: int, reader: pq.ParquetFile) -> int:
        """Bytes of a row, by the first ones of a row group."""
        with self._ahead([leaf], [group]):
            first = next(self._decoded(reader, _MIN_BATCH_ROWS, [group], [leaf.number]), None)
        return 0 if first is None or not first.num_rows else int(first.nbytes // first.num_rows)

    def _ahead(
        self, leaves: Sequence[FileLeaf], row_groups: Sequence[int]
    ) -> AbstractContextManager[None]:
        """Have some chunks of a far file at hand for a while, unless they are large."""
        if not self._is_far:
            return nullcontext()
        return self._spans.holding(self._chunks(leaves, row_groups), _LARGE_CHUNK)

    def _count(self, chunks: Iterable[ChunkDetails]) -> None:
        if not self._is_far:  # whose bytes are counted as they are asked for
            self._chunk_bytes += sum(chunk.compressed_bytes for chunk in chunks)

    def _stretches(self, leaf: FileLeaf, row_groups: Sequence[int]) -> Iterator[list[int]]:
        """Row groups that are read in one go: of far files what fits into memory at once."""
        stretch: list[int] = []
        ahead = 0
        for group in row_groups:
            size = self.footer.row_groups[group][leaf.number].compressed_bytes
            if self._is_far and stretch and ahead + size > _LARGE_CHUNK:
                yield stretch
                stretch, ahead = [], 0
            stretch.append(group)
            ahead += size
        yield stretch

    def side_by_side(
        self, leaves: Sequence[FileLeaf], batch_rows: int, *, as_dictionary: Sequence[FileLeaf]
    ) -> Iterator[list[pa.Array]]:
        """The values of some top-level leaves, row by row, of the whole file."""
        groups = self.footer.row_groups
        chunks = [group[leaf.number] for group in groups for leaf in leaves]
        if not chunks:
            return
        self._count(chunks)
        largest = max(chunk.compressed_bytes for chunk in chunks)
        reader = self._reader(as_dictionary, _PLAINLY.unit, streamed=largest > _LARGE_CHUNK)
        numbers = sorted(leaf.number for leaf in leaves)
        everything = list(range(len(groups)))
        with self._ahead(leaves, everything):
            for batch in self._decoded(reader, batch_rows, everything, numbers):
                yield [batch.column(numbers.index(leaf.number)) for leaf in leaves]

    def _decoded(
        self,
        reader: pq.ParquetFile,
        batch_rows: int,
        row_groups: Sequence[int],
        numbers: Sequence[int],
    ) -> Iterator[pa.RecordBatch]:
        batches = reader.reader.iter_batches(
            batch_rows, row_groups=row_groups, column_indices=numbers, use_threads=False
        )
        return batches if self._limit is None else self._limit.each(batches)

    def _reader(
        self, as_dictionary: Sequence[FileLeaf], unit: str, *, streamed: bool
    ) -> pq.ParquetFile:
        if not as_dictionary and not streamed and unit == _PLAINLY.unit:
            return self._plain
        return pq.ParquetFile(
            self._file,
            metadata=self._plain.metadata,
            memory_map=False,
            buffer_size=_BUFFER if streamed else 0,
            pre_buffer=False,
            read_dictionary=[self.schema.stored[leaf.number].path for leaf in as_dictionary],
            coerce_int96_timestamp_unit=unit,
        )
