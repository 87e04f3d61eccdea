"""Names as people give them: cleaned once, here, before they are stored or looked up."""

import unicodedata
from typing import Final

from floecat.characters import is_control, is_unseen
from floecat.errors import InvalidArgumentError

MAX_NAME_LENGTH: Final = 255


def cleaned_name(raw: str, field: str) -> str:
    """Trimmed and NFC-normalised; 1 to 255 characters that can be seen and change no others."""
    name = unicodedata.normalize("NFC", raw.strip())
    if not name:
        raise InvalidArgumentError(f"{field} is empty: give it a name", field=field)
    if len(name) > MAX_NAME_LENGTH:
        raise InvalidArgumentError(
            f"{field} has {len(name)} characters: at most {MAX_NAME_LENGTH} are allowed",
            field=field,
        )
    # Most names are printable, and then there is nothing to look for.
    if not name.isprintable() and any(map(is_control, name)):
        raise InvalidArgumentError(
            f"{field} has control characters, line separators or marks of direction: remove them",
            field=field,
        )
    if not name.isascii() and is_unseen(name):
        raise InvalidArgumentError(
            f"{field} has nothing that can be seen: give it a name", field=field
        )
    return name


def cleaned_prefix(raw: str) -> str:
    """A prefix to filter names by; may be empty."""
    if len(raw) > MAX_NAME_LENGTH:
        raise InvalidArgumentError("name_prefix is longer than a name can be", field="name_prefix")
    return unicodedata.normalize("NFC", raw)
