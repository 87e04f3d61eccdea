"""LogicalType to and from the contract's message."""

from ai.floedb.floecat.types import types_pb2
from floecat.types.errors import InvalidTypeError
from floecat.types.kinds import IntervalRange, Kind
from floecat.types.logical import LogicalType, StructField


def to_message(logical: LogicalType) -> types_pb2.LogicalType:
    """The message of a type. What is None stays absent."""
    return types_pb2.LogicalType(
        kind=types_pb2.LogicalTypeKind.ValueType(logical.kind),
        precision=logical.precision,
        scale=logical.scale,
        temporal_precision=logical.temporal_precision,
        interval_range=types_pb2.IntervalRange.ValueType(logical.interval_range),
        interval_leading_precision=logical.interval_leading_precision,
        interval_fractional_precision=logical.interval_fractional_precision,
        element=_to_optional_message(logical.element),
        key=_to_optional_message(logical.key),
        value=_to_optional_message(logical.value),
        fields=[_to_field_message(field) for field in logical.fields],
    )


def from_message(message: types_pb2.LogicalType) -> LogicalType:
    """The type of a message; raises `InvalidTypeError` when the message isn't a valid type."""
    return LogicalType(
        kind=_kind(message.kind),
        precision=_optional_int(message, "precision"),
        scale=_optional_int(message, "scale"),
        temporal_precision=_optional_int(message, "temporal_precision"),
        interval_range=_interval_range(message.interval_range),
        interval_leading_precision=_optional_int(message, "interval_leading_precision"),
        interval_fractional_precision=_optional_int(message, "interval_fractional_precision"),
        element=_optional_type(message, "element"),
        key=_optional_type(message, "key"),
        value=_optional_type(message, "value"),
        fields=tuple(_from_field_message(field) for field in message.fields),
    )


def _to_optional_message(logical: LogicalType | None) -> types_pb2.LogicalType | None:
    return None if logical is None else to_message(logical)


def _to_field_message(field: StructField) -> types_pb2.StructField:
    return types_pb2.StructField(
        name=field.name,
        type=to_message(field.type),
        nullable=field.nullable,
        field_id=field.field_id,
    )


def _from_field_message(message: types_pb2.StructField) -> StructField:
    return StructField(
        name=message.name,
        type=from_message(message.type),
        nullable=message.nullable,
        field_id=message.field_id if message.HasField("field_id") else None,
    )


def _optional_int(message: types_pb2.LogicalType, field: str) -> int | None:
    present = message.HasField(field)  # type: ignore[arg-type]  # the stub lists literals
    return int(getattr(message, field)) if present else None


def _optional_type(message: types_pb2.LogicalType, field: str) -> LogicalType | None:
    present = message.HasField(field)  # type: ignore[arg-type]  # the stub lists literals
    return from_message(getattr(message, field)) if present else None


def _kind(number: int) -> Kind:
    try:
        return Kind(number)
    except ValueError:
        raise InvalidTypeError(
            f"a logical type needs a kind from 1 to {max(Kind).value}, and {number} isn't one"
        ) from None


def _interval_range(number: int) -> IntervalRange:
    try:
        return IntervalRange(number)
    except ValueError:
        raise InvalidTypeError(f"{number} isn't an interval range; use IR_UNSPECIFIED") from None
