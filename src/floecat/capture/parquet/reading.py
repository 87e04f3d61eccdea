"""ParquetSource: one open parquet file, read leaf by leaf and batch by batch."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from floecat.capture.leaves import FileLeaf, leaf_values
from floecat.capture.parquet.footers import Span, parse_footer, read_footer
from floecat.capture.parquet.schemas import KnownSchemas
from floecat.capture.parquet.thrift import MalformedThriftError

_BATCH_BYTES: Final = 32 * 1024 * 1024
_MAX_BATCH_ROWS: Final = 1 << 20
_MIN_BATCH_ROWS: Final = 1 << 10
_LARGE_CHUNK: Final = 64 * 1024 * 1024
"""Column chunks from this size on are read a buffer at a time, not whole."""
_BUFFER: Final = 4 * 1024 * 1024


class ParquetSource:
    """A file whose footer has been read. Memory is that of a batch, however large the file is."""

    def __init__(self, file: pa.NativeFile, size: int, schemas: KnownSchemas | None = None) -> None:
        self._file = file
        content = read_footer(file, size)
        self.bytes_read = len(content)
        self.footer = parse_footer(content)
        self.statistics = self.footer.statistics
        known = KnownSchemas() if schemas is None else schemas
        self.schema = known.of(self.footer.schema, lambda: self._plain)
        width = len(self.schema.stored)
        if any(len(group) != width for group in self.footer.row_groups):
            raise MalformedThriftError("its row groups don't have the columns of its schema")

    @cached_property
    def _plain(self) -> pq.ParquetFile:
        """Opened when there is something to read besides the footer."""
        return pq.ParquetFile(self._file, memory_map=False, coerce_int96_timestamp_unit="us")

    def read(self, span: Span) -> bytes:
        """Some bytes of the file; fewer if it hasn't so many."""
        content = bytes(self._file.read_at(span.length, span.offset))
        self.bytes_read += len(content)
        return content

    def batches(
        self, leaf: FileLeaf, row_groups: Sequence[int], *, as_dictionary: bool = False
    ) -> Iterator[pa.Array]:
        """A leaf's values in some row groups; as dictionaries if that is what all its pages are."""
        if not row_groups:
            return
        chunks = [self.footer.row_groups[group][leaf.number] for group in row_groups]
        self.bytes_read += sum(chunk.compressed_bytes for chunk in chunks)
        largest = max(chunk.compressed_bytes for chunk in chunks)
        reader = self._reader([leaf] if as_dictionary else [], streamed=largest > _LARGE_CHUNK)
        size = sum(chunk.uncompressed_bytes for chunk in chunks)
        rows = sum(self.statistics.row_counts[group] for group in row_groups)
        batch_rows = _BATCH_BYTES * rows // max(size, 1)
        # By number: a name with a dot in it could be taken for a path.
        for batch in reader.reader.iter_batches(
            max(_MIN_BATCH_ROWS, min(_MAX_BATCH_ROWS, batch_rows)),
            row_groups=list(row_groups),
            column_indices=[leaf.number],
            use_threads=False,
        ):
            yield leaf_values(batch.column(0), leaf.path)

    def side_by_side(
        self, leaves: Sequence[FileLeaf], batch_rows: int, *, as_dictionary: Sequence[FileLeaf]
    ) -> Iterator[list[pa.Array]]:
        """The values of some top-level leaves, row by row, of the whole file."""
        groups = self.footer.row_groups
        chunks = [group[leaf.number] for group in groups for leaf in leaves]
        if not chunks:
            return
        self.bytes_read += sum(chunk.compressed_bytes for chunk in chunks)
        largest = max(chunk.compressed_bytes for chunk in chunks)
        reader = self._reader(as_dictionary, streamed=largest > _LARGE_CHUNK)
        numbers = sorted(leaf.number for leaf in leaves)
        for batch in reader.reader.iter_batches(
            batch_rows,
            row_groups=list(range(len(groups))),
            column_indices=numbers,
            use_threads=False,
        ):
            yield [batch.column(numbers.index(leaf.number)) for leaf in leaves]

    def _reader(self, as_dictionary: Sequence[FileLeaf], *, streamed: bool) -> pq.ParquetFile:
        if not as_dictionary and not streamed:
            return self._plain
        return pq.ParquetFile(
            self._file,
            metadata=self._plain.metadata,
            memory_map=False,
            buffer_size=_BUFFER if streamed else 0,
            pre_buffer=not streamed,
            read_dictionary=[self.schema.stored[leaf.number].path for leaf in as_dictionary],
            coerce_int96_timestamp_unit="us",
        )
