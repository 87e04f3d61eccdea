"""What an index part holds of a column: counts and bounds, typed, so that scans compare arrays.

A struct for every file, NULL where nothing is known of the column. Statistics come with canonical
strings as bounds; they are read as what the column was when the file was captured, and widened to
what it is now. A bound that the type can't hold is NULL: unknown, so that nothing is pruned by it.
"""

from collections.abc import Iterable
from typing import Final

import numpy as np
import pyarrow as pa

from floecat.types.arrays.arrowtypes import arrow_type_of
from floecat.types.arrays.reading import read_array
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType

_COUNTS: Final = ("value_count", "null_count", "nan_count")
_ENDS: Final = ("minimum", "maximum")
_TIGHT: Final = ("minimum_tight", "maximum_tight")
LEARNT: Final = (*_COUNTS, *_ENDS, *_TIGHT, "present")
"""What is taken of a segment's rows, whose bounds are canonical strings."""
_WIDER: Final = {
    Kind.INT: {Kind.INT, Kind.FLOAT, Kind.DOUBLE, Kind.DECIMAL},
    Kind.FLOAT: {Kind.DOUBLE},
    Kind.DECIMAL: {Kind.DECIMAL},
    Kind.DATE: {Kind.TIMESTAMP},
}
"""What columns of a kind may become, their bounds staying bounds."""
_LONGEST_DECIMAL: Final = 38


def bounds_type(logical: LogicalType) -> pa.StructType:
    """The type of a column's counts and bounds."""
    ends = arrow_type_of(logical)
    return pa.struct(
        [
            *((name, pa.int64()) for name in _COUNTS),
            *((name, ends) for name in _ENDS),
            *((name, pa.bool_()) for name in _TIGHT),
        ]
    )


def partition_type(logical: LogicalType) -> pa.StructType:
    """The type of a partition field's values: NULL where the file's spec hasn't the field.

    A value that can't be held is not there either: what is in the struct is the file's value.
    """
    return pa.struct([("value", arrow_type_of(logical))])


def partition_values(
    logical: LogicalType, values: Iterable[tuple[bool, str | None]]
) -> pa.StructArray:
    """Partition values as they are stored, from whether a file has the field and its string."""
    present, texts = zip(*values, strict=True)
    strings = pa.array(texts, pa.large_string())
    read = read_array(logical, strings)
    unreadable = read.is_null().to_numpy(False) & strings.is_valid().to_numpy(False)
    return pa.StructArray.from_arrays(
        [read],
        fields=list(partition_type(logical)),
        mask=pa.array(~np.array(present) | unreadable),
    )


def widened_values(values: pa.StructArray, before: LogicalType, now: LogicalType) -> pa.StructArray:
    """Partition values of a field whose type is another now."""
    held = values.field("value")
    read = _widened(held, before, now)
    lost = read.is_null().to_numpy(False) & held.is_valid().to_numpy(False)
    mask = pa.array(values.is_null().to_numpy(False) | lost)
    return pa.StructArray.from_arrays([read], fields=list(partition_type(now)), mask=mask)


def typed_bounds(rows: pa.Table, before: LogicalType, now: LogicalType) -> pa.StructArray:
    """Bounds of a segment's rows of a column, which was `before` when they were learnt."""
    ends = [_widened(read_array(before, _one(rows, name)), before, now) for name in _ENDS]
    present = _one(rows, "present").to_numpy(zero_copy_only=False)
    return pa.StructArray.from_arrays(
        [
            *(_one(rows, name) for name in _COUNTS),
            *ends,
            *(_one(rows, name) for name in _TIGHT),
        ],
        fields=list(bounds_type(now)),
        mask=pa.array(~present),
    )


def widened_bounds(bounds: pa.StructArray, before: LogicalType, now: LogicalType) -> pa.StructArray:
    """Bounds of a column whose type is another now."""
    wanted = bounds_type(now)
    if bounds.type == wanted:
        return bounds
    columns = [
        _widened(bounds.field(name), before, now) if name in _ENDS else bounds.field(name)
        for name in wanted.names
    ]
    return pa.StructArray.from_arrays(columns, fields=list(wanted), mask=bounds.is_null())


def _widened(values: pa.Array, before: LogicalType, now: LogicalType) -> pa.Array:
    wanted = arrow_type_of(now)
    if values.type == wanted:
        return values
    if now.kind in _WIDER.get(before.kind, ()):
        try:
            if before.kind is Kind.INT and now.kind is Kind.DECIMAL:
                values = values.cast(pa.decimal128(_LONGEST_DECIMAL, wanted.scale))
            return values.cast(wanted)
        except pa.ArrowInvalid:
            pass  # some don't fit
    return pa.nulls(len(values), wanted)


def _one(rows: pa.Table, name: str) -> pa.Array:
    """A column as one array."""
    return pa.concat_arrays(rows.column(name).chunks)
