"""Types of columns, as far as merging has to know them."""

from ai.floedb.floecat.types import types_pb2
from floecat.types.errors import InvalidTypeError
from floecat.types.kinds import Kind
from floecat.types.logical import LogicalType
from floecat.types.messages import from_message


def mergeable_type(message: types_pb2.LogicalType) -> LogicalType:
    """The type of a column; one that isn't known has no order, so bounds of it aren't merged."""
    try:
        return from_message(message)
    except InvalidTypeError:
        return LogicalType(Kind.VARIANT)
