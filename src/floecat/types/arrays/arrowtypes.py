"""Questions about Arrow types that pyarrow has no single answer to."""

import pyarrow as pa


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
