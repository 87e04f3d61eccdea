"""What can be wrong with a type or a value. Every message says what to do about it."""

from typing import Self

from floecat.errors import InvalidArgumentError


class InvalidTypeError(InvalidArgumentError):
    """A logical type with parameters it can't have, or a type string that doesn't parse."""

    default_reason = "INVALID_TYPE"


class UnsupportedTypeError(InvalidArgumentError):
    """A type of some format that has no logical type, or the other way round."""

    default_reason = "UNSUPPORTED_TYPE"


class InvalidValueError(InvalidArgumentError):
    """A value that isn't one of its logical type."""

    default_reason = "INVALID_VALUE"

    def in_column(self, column: str) -> Self:
        """The same error, naming the column it happened in."""
        return type(self)(
            f"column {column!r}: {self.message}",
            reason=self.reason,
            metadata={**self.metadata, "column": column},
        )


class NotOrderableError(InvalidArgumentError):
    """A comparison of values whose type has no order."""

    default_reason = "NOT_ORDERABLE"
