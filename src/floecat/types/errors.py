"""What can be wrong with a type or a value. Every message says what to do about it."""

from typing import Final, Self

from floecat.errors import InvalidArgumentError

_MAX_SHOWN: Final = 100


def shown(value: object) -> str:
    """A value as a message shows it: not all of a megabyte, and even if Python won't print it."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # more digits, or deeper, than Python converts to text
        return f"a very long {type(value).__name__}"
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


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
