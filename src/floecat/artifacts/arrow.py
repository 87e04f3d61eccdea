"""Arrow files in the blob store: written whole, mapped into memory when they are read."""

import mmap
from collections.abc import Iterable
from typing import Final

import pyarrow as pa

from floecat.errors import DataLossError
from floecat.storage.blobs.port import BlobRef, BlobStore


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
