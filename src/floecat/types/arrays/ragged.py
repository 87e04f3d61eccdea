"""Matrices of bytes, a row a value, to Arrow arrays of variable length and back.

Building text and bytes in numpy, column by column, and copying once is what makes the vectorised
forms fast; this is the copying.
"""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Bytes: TypeAlias = npt.NDArray[np.uint8]
Flags: TypeAlias = npt.NDArray[np.bool_]
Counts: TypeAlias = npt.NDArray[np.int64]


def whole_rows(rows: Bytes, arrow_type: pa.DataType) -> pa.Array:
    """An array whose values are the rows (large_string or large_binary)."""
    count, width = rows.shape
    offsets = np.arange(count + 1, dtype=np.int64) * width
    return _array(arrow_type, offsets, np.ascontiguousarray(rows))


def first_bytes(rows: Bytes, lengths: Bytes, arrow_type: pa.DataType) -> pa.Array:
    """An array whose values are the first `lengths` bytes of each row."""
    longest = int(lengths.max(initial=0))
    if longest == int(lengths.min(initial=longest)):
        return whole_rows(rows[:, :longest], arrow_type)
    keep = np.arange(rows.shape[1], dtype=np.uint8) < lengths[:, None]
    return _array(arrow_type, _offsets(lengths), rows[keep])


def last_bytes(rows: Bytes, lengths: Bytes, arrow_type: pa.DataType) -> pa.Array:
    """An array whose values are the last `lengths` bytes of each row."""
    keep = np.arange(rows.shape[1], 0, -1, dtype=np.uint8) <= lengths[:, None]
    return _array(arrow_type, _offsets(lengths), rows[keep])


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


def fixed_width_values(array: pa.Array) -> Bytes:
    """The raw bytes of an array of fixed-width values, a row each; those of NULL mean nothing."""
    width = array.type.byte_width
    data = np.frombuffer(array.buffers()[1], dtype=np.uint8)
    start = array.offset * width
    return data[start : start + len(array) * width].reshape(-1, width)


def rows_by_length(array: pa.Array) -> Iterator[tuple[Counts, Bytes]]:
    """The positions and rows of all values of one length, length by length, without the NULLs."""
    lengths = pc.fill_null(pc.binary_length(array), -1).to_numpy()
    for length in np.unique(lengths[lengths >= 0]).tolist():
        positions = np.flatnonzero(lengths == length)
        yield positions, fixed_rows(array.take(pa.array(positions)), length)


def with_nulls_of(source: pa.Array, array: pa.Array) -> pa.Array:
    """The array, but NULL wherever the source is."""
    if not source.null_count:
        return array
    return pc.if_else(source.is_valid(), array, pa.scalar(None, array.type))


def _offsets(lengths: Bytes) -> Counts:
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _array(arrow_type: pa.DataType, offsets: Counts, data: Bytes) -> pa.Array:
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(arrow_type, len(offsets) - 1, buffers)
