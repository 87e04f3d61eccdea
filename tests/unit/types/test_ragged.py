"""Rows of bytes to Arrow arrays and back, whatever part of a larger array they are."""

import numpy as np
import pyarrow as pa

from floecat.types.arrays.ragged import (
    first_bytes,
    fixed_rows,
    fixed_width_values,
    last_bytes,
    rows_by_length,
    whole_rows,
)

ROWS = np.frombuffer(b"abcdefghi", dtype=np.uint8).reshape(3, 3)
LENGTHS = np.array([1, 3, 0], dtype=np.uint8)


def test_rows_become_values() -> None:
    assert whole_rows(ROWS, pa.large_binary()).to_pylist() == [b"abc", b"def", b"ghi"]
    assert first_bytes(ROWS, LENGTHS, pa.large_binary()).to_pylist() == [b"a", b"def", b""]
    assert last_bytes(ROWS, LENGTHS, pa.large_binary()).to_pylist() == [b"c", b"def", b""]


def test_equal_lengths_need_no_mask() -> None:
    lengths = np.array([2, 2, 2], dtype=np.uint8)
    assert first_bytes(ROWS, lengths, pa.large_string()).to_pylist() == ["ab", "de", "gh"]


def test_no_rows_at_all() -> None:
    empty, none = ROWS[:0], LENGTHS[:0]
    for array in (
        whole_rows(empty, pa.large_string()),
        first_bytes(empty, none, pa.large_string()),
    ):
        array.validate(full=True)
        assert array.to_pylist() == []
    assert fixed_rows(pa.array([], pa.string()), 3).shape == (0, 3)


def test_slices_are_read_from_where_they_begin() -> None:
    text = pa.array(["abc", "def", "ghi"], pa.large_string())
    assert fixed_rows(text[1:], 3).tobytes() == b"defghi"
    assert fixed_rows(text[1:2].cast(pa.string()), 3).tobytes() == b"def"
    numbers = pa.array([1, 2, 3], pa.int16())
    assert fixed_width_values(numbers[1:2]).tobytes() == b"\x02\x00"


def test_rows_are_grouped_by_length() -> None:
    array = pa.array([b"xx", b"ab", None, b"c", b"de", b""], pa.large_binary())[1:]
    grouped = {rows.shape[1]: (at.tolist(), rows.tobytes()) for at, rows in rows_by_length(array)}
    assert grouped == {0: ([4], b""), 1: ([2], b"c"), 2: ([0, 3], b"abde")}
