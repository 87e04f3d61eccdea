"""Where in a schema a type stands: the column that errors name, and how deep it is nested.

Schemas come from outside, so whoever walks one goes from place to place, and stops in time.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from floecat.types.errors import InvalidTypeError, UnsupportedTypeError, shown
from floecat.types.logical import MAX_DEPTH

_FIELD_ID: Final = re.compile(r"-?[0-9]{1,10}")
_MAX_FIELD_ID: Final = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Place:
    """A column, or a part of one, by its path from the schema's root."""

    path: str
    depth: int = 1

    def __post_init__(self) -> None:
        if self.depth > MAX_DEPTH:
            raise self.unsupported(f"types nest at most {MAX_DEPTH} deep, and this one goes deeper")

    def inside(self, name: str) -> "Place":
        """The place of a field, an `element`, a `key` or a `value`."""
        return Place(f"{self.path}.{name}" if self.path else name, self.depth + 1)

    def unwrapped(self) -> "Place":
        """The place of what a type is only a wrapper of: the same column."""
        return Place(self.path, self.depth + 1)

    def unsupported(self, problem: str, source: str = "") -> UnsupportedTypeError:
        """The error that says what is wrong with the type here."""
        return UnsupportedTypeError(
            f"column {self.path!r}: {problem}", metadata={"column": self.path, "type": source}
        )

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Turns a logical type that can't be built into an error that names the column."""
        try:
            yield
        except InvalidTypeError as error:
            raise self.unsupported(error.message) from error

    def field_id(self, given: object) -> int:
        """A field's id, from a number or the digits that metadata holds."""
        digits = given.decode("ascii", "replace") if isinstance(given, bytes) else given
        if isinstance(digits, str) and _FIELD_ID.fullmatch(digits):
            digits = int(digits)
        if isinstance(digits, bool) or not isinstance(digits, int) or abs(digits) > _MAX_FIELD_ID:
            raise self.unsupported(f"{shown(given)} isn't a field id of 32 bits")
        return digits


def place_of_fields(parent: str) -> Place:
    """The place whose inside are the fields of a schema, or of a struct called `parent`."""
    return Place(parent, depth=0)
