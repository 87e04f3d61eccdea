"""Canonical strings back to Arrow arrays, typed as `arrow_type_of` says.

Arrow reads whole arrays at once. When it can't read one of them, all are read by the scalar code,
and those that the type can't hold become NULL: years with more than four digits are read that way,
whole numbers of more than 64 bits have no place in an array.
"""

from typing import Any, Final
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from floecat.types.arrays.arrowtypes import arrow_type_of
from floecat.types.errors import InvalidValueError
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType
from floecat.types.policy import TimestampPolicy
from floecat.types.values.plain import read_value

_BYTES: Final = frozenset({Kind.BINARY, Kind.UUID})
_TIMES: Final = frozenset({Kind.TIME, Kind.TIMESTAMP, Kind.TIMESTAMPTZ})
_NANOS_PER_MICRO: Final = 1_000
_POLICY: Final = TimestampPolicy()


def read_array(logical: LogicalType, strings: pa.Array) -> pa.Array:
    """The values of canonical strings. NULL stays NULL, and so becomes what can't be held."""
    wanted = arrow_type_of(logical)
    if pa.types.is_null(wanted) or strings.null_count == len(strings):
        return pa.nulls(len(strings), wanted)
    if logical.kind not in _BYTES:
        try:
            return _cast(logical, strings, wanted)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            pass  # one of them is unusual
    return pa.array([_held(logical, text, wanted) for text in strings.to_pylist()], wanted)


def _cast(logical: LogicalType, strings: pa.Array, wanted: pa.DataType) -> pa.Array:
    if logical.kind is not Kind.TIME:
        return strings.cast(wanted)
    day = pa.scalar("1970-01-01", pa.large_string())
    moments = pc.binary_join_element_wise(day, strings, pa.scalar("T", pa.large_string()))
    return moments.cast(pa.timestamp("us")).cast(wanted)


def _held(logical: LogicalType, text: str | None, wanted: pa.DataType) -> pa.Scalar | None:
    """One value; None for what Arrow has no room for, and what isn't a value."""
    if text is None:
        return None
    try:
        plain: Any = read_value(logical, text, _POLICY)
        if logical.kind in _TIMES:
            plain, beyond = divmod(plain, _NANOS_PER_MICRO)
            if beyond:
                return None
        return pa.scalar(plain.bytes if isinstance(plain, UUID) else plain, wanted)
    except (InvalidValueError, pa.ArrowInvalid, OverflowError):
        return None
