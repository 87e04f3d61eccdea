"""Matrices of bytes, a row a value, to Arrow arrays of variable length and back.

Building text and bytes in numpy, column by column, and copying once is what makes the vectorised
forms fast; this is the copying.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Bytes: TypeAlias = npt.NDArray[np.uint8]
Flags: TypeAlias = npt.NDArray[np.bool_]
Counts: TypeAlias = npt.NDArray[np.int64]


def whole_rows(rows: Bytes, arrow_type: pa.DataType) -> pa.Array:
    """An array whose values are the rows (large_string or large_binary)."""
    count, width = rows.shape
    offsets = np.arange(count + 1, dtype=np.int64) * width
    return _array(arrow_type, offsets, np.ascontiguousarray(rows))


def kept_bytes(rows: Bytes, keep: Flags, arrow_type: pa.DataType) -> pa.Array:
    """An array whose values are the kept bytes of each row."""
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(keep.sum(axis=1), out=offsets[1:])
    return _array(arrow_type, offsets, rows[keep])


def fixed_rows(array: pa.Array, width: int) -> Bytes:
    """The values of a string or binary array without nulls, all `width` bytes long, as rows."""
    large = array.cast(pa.large_binary())
    start = large.offset
    _, offsets_buffer, data = large.buffers()
    if data is None:
        return np.zeros((len(large), width), dtype=np.uint8)
    first = np.frombuffer(offsets_buffer, dtype=np.int64, count=1, offset=8 * start)[0]
    values = np.frombuffer(data, dtype=np.uint8, count=len(large) * width, offset=int(first))
    return values.reshape(len(large), width)


def _array(arrow_type: pa.DataType, offsets: Counts, data: Bytes) -> pa.Array:
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(arrow_type, len(offsets) - 1, buffers)
