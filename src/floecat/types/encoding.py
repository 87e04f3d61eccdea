"""ValueEncoders: values to canonical strings and back, one at a time or an array at once."""

from dataclasses import dataclass, field

import pyarrow as pa

from floecat.types.arrays.strings import encode_array
from floecat.types.errors import InvalidValueError
from floecat.types.logical import LogicalType
from floecat.types.policy import TimestampPolicy
from floecat.types.values.plain import Value, format_value, python_value, read_value


@dataclass(frozen=True, slots=True)
class ValueEncoders:
    """The canonical string form of values, under a policy for timestamps without a zone.

    Every method raises `InvalidValueError` for what isn't a value of the type; the message names
    `column` when it is given.
    """

    policy: TimestampPolicy = field(default_factory=TimestampPolicy)

    def encode_to_string(
        self, logical: LogicalType, value: object, *, column: str | None = None
    ) -> str:
        """The canonical string of a typed Python, numpy or pyarrow value, or of its text.

        Encoding a canonical string gives it back. Fractions of a second beyond the type's precision
        are cut off, towards the past; for bounds, `bounds.lower_bound` and `upper_bound` know
        better.
        """
        try:
            return format_value(logical, read_value(logical, value, self.policy))
        except InvalidValueError as error:
            raise _located(error, column) from None

    def decode_from_string(
        self, logical: LogicalType, encoded: str, *, column: str | None = None
    ) -> Value:
        """The Python value of a canonical string."""
        try:
            return python_value(logical, read_value(logical, encoded, self.policy))
        except InvalidValueError as error:
            raise _located(error, column) from None

    def encode_array_to_strings(
        self,
        logical: LogicalType,
        array: pa.Array | pa.ChunkedArray,
        *,
        column: str | None = None,
    ) -> pa.Array | pa.ChunkedArray:
        """`encode_to_string` of every element, as large_string; NULL stays NULL."""
        try:
            if isinstance(array, pa.ChunkedArray):
                chunks = [encode_array(logical, chunk, self.policy) for chunk in array.chunks]
                return pa.chunked_array(chunks, pa.large_string())
            return encode_array(logical, array, self.policy)
        except InvalidValueError as error:
            raise _located(error, column) from None


def _located(error: InvalidValueError, column: str | None) -> InvalidValueError:
    return error if column is None else error.in_column(column)
