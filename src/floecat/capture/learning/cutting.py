"""Long texts cut off, so that they still bound: a few hundred bytes tell as much as megabytes."""

from typing import Final

CUT_FROM: Final = 32
"""No writer cuts texts of fewer bytes off, so bounds that are shorter are values."""
LONGEST: Final = 512
"""Bytes of a bound; and of a value that is kept as it is."""
_SURROGATES: Final = range(0xD800, 0xE000)
_LAST: Final = 0x10FFFF


def cut_low(value: bytes) -> bytes:
    """At most the value: its beginning. Text stays text."""
    return value if len(value) <= LONGEST else _whole_characters(value[:LONGEST])


def cut_high(value: bytes, *, is_text: bool) -> bytes | None:
    """At least the value: its beginning with the end raised; None if that can't be."""
    if len(value) <= LONGEST:
        return value
    return _raised_text(value) if is_text else _raised_bytes(value[:LONGEST])


def _whole_characters(value: bytes) -> bytes:
    """Without the beginning of a character whose end was cut off."""
    try:
        value.decode()
    except UnicodeDecodeError as error:
        return value[: error.start] if error.end >= len(value) - 3 else value
    return value


def _raised_bytes(value: bytes) -> bytes | None:
    kept = value.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else None


def _raised_text(value: bytes) -> bytes | None:
    try:
        characters = _whole_characters(value[:LONGEST]).decode()
    except UnicodeDecodeError:
        return None
    while characters:
        raised = ord(characters[-1]) + 1
        raised = _SURROGATES.stop if raised in _SURROGATES else raised
        if raised <= _LAST:
            return (characters[:-1] + chr(raised)).encode()
        characters = characters[:-1]
    return None
