"""Types of columns, as what was stored says them."""

from ai.floedb.floecat.types import types_pb2
from floecat.types.errors import InvalidTypeError
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType
from floecat.types.messages import from_message


def stored_type(message: types_pb2.LogicalType) -> LogicalType:
    """The type of a column; one that isn't known here has no order, so its bounds say nothing."""
    try:
        return from_message(message)
    except InvalidTypeError:
        return LogicalType(Kind.VARIANT)
