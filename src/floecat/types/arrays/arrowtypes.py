"""Questions about Arrow types that pyarrow has no single answer to."""

from typing import Final

import pyarrow as pa

from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType

_PLAIN: Final = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.INT: pa.int64(),
    Kind.FLOAT: pa.float32(),
    Kind.DOUBLE: pa.float64(),
    Kind.DATE: pa.date32(),
    Kind.TIME: pa.time64("us"),
    Kind.TIMESTAMP: pa.timestamp("us"),
    Kind.TIMESTAMPTZ: pa.timestamp("us", "UTC"),
    Kind.STRING: pa.large_string(),
    Kind.BINARY: pa.large_binary(),
    Kind.UUID: pa.binary(16),
}
_SHORT_DECIMAL: Final = 38


def arrow_type_of(logical: LogicalType) -> pa.DataType:
    """The Arrow type that holds a logical type's values; null for what isn't a scalar."""
    if logical.kind is Kind.DECIMAL:
        precision, scale = logical.precision or _SHORT_DECIMAL, logical.scale or 0
        kind = pa.decimal128 if precision <= _SHORT_DECIMAL else pa.decimal256
        return kind(precision, scale)
    return _PLAIN.get(logical.kind, pa.null())


def is_text(arrow_type: pa.DataType) -> bool:
    """Strings, whatever their offsets."""
    return arrow_type in {pa.string(), pa.large_string(), pa.string_view()}


def is_binary(arrow_type: pa.DataType) -> bool:
    """Bytes, whatever their offsets, or of fixed length."""
    variable = arrow_type in {pa.binary(), pa.large_binary(), pa.binary_view()}
    return variable or pa.types.is_fixed_size_binary(arrow_type)


def is_single_float(arrow_type: pa.DataType) -> bool:
    """Floats that a float32 holds."""
    return arrow_type in {pa.float16(), pa.float32()}


def is_wall_clock(arrow_type: pa.DataType) -> bool:
    """Timestamps without a zone."""
    return pa.types.is_timestamp(arrow_type) and arrow_type.tz is None


def is_instant(arrow_type: pa.DataType) -> bool:
    """Timestamps with a zone; Arrow counts them from UTC whatever the zone is."""
    return pa.types.is_timestamp(arrow_type) and arrow_type.tz is not None
