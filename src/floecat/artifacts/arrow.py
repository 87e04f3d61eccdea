"""Arrow files in the blob store: written whole or by the batch, mapped into memory when read."""

import io
import mmap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pyarrow as pa

from floecat.errors import DataLossError
from floecat.storage.blobs.port import BlobRef, BlobStore, BlobWriter


def write_arrow(
    blobs: BlobStore, name: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> BlobRef:
    """Write an uncompressed Arrow file: what is compressed can't be mapped."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema) as file:
        for batch in batches:
            file.write_batch(batch)
    with blobs.writer(name) as writer:
        writer.write(memoryview(sink.getvalue()))
    return writer.ref


class ArrowWriter:
    """An Arrow file that is being written; no more than a batch of it is in memory."""

    def __init__(self, blob: BlobWriter, file: "pa.ipc.RecordBatchFileWriter") -> None:
        self._blob = blob
        self._file = file
        self.batches = 0
        """How many were written."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Append a batch."""
        self._file.write_batch(batch)
        self.batches += 1

    @property
    def ref(self) -> BlobRef:
        """What was written; known once the context was left."""
        return self._blob.ref


@contextmanager
def arrow_writer(blobs: BlobStore, name: str, schema: pa.Schema) -> Iterator[ArrowWriter]:
    """Write an Arrow file of any length. Leaving by an exception discards it."""
    with blobs.writer(name) as blob, pa.ipc.new_file(_Sink(blob), schema) as file:
        yield ArrowWriter(blob, file)


class _Sink(io.RawIOBase):
    """A blob as Arrow writes to it."""

    def __init__(self, blob: BlobWriter) -> None:
        self._blob = blob

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data)
        self._blob.write(view)
        return view.nbytes


_SMALL: Final = 256 * 1024
"""Up to here a file is read: that costs less than finding a local copy of it, and mapping that."""


def open_arrow(blobs: BlobStore, ref: BlobRef) -> "pa.ipc.RecordBatchFileReader":
    """Open an Arrow file. What is read of it stays valid however long it is kept."""
    try:
        return pa.ipc.open_file(pa.py_buffer(_content(blobs, ref)))
    except pa.ArrowInvalid as error:
        raise DataLossError(f"{ref.uri} isn't an Arrow file: {error}") from error


def _content(blobs: BlobStore, ref: BlobRef) -> "bytes | mmap.mmap":
    if ref.size <= _SMALL:
        return blobs.read(ref)
    with blobs.materialize(ref) as local:
        return mmap.mmap(local.fileno(), 0, access=mmap.ACCESS_READ)
