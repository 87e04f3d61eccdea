"""Characters that nobody sees, and that change what is seen of others. Pure.

Text that Floecat mirrors was written by others: a terminal obeys the control characters in it, and
marks of direction make it read as something else.
"""

import unicodedata
from collections.abc import Iterable
from typing import Final

_BIDI_CONTROLS: Final = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_CONTROLS: Final = frozenset({"Cc", "Zl", "Zp"})
_UNSEEN: Final = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
_FILLERS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\ufe0e\ufe0f\uffa0")
"""Letters and marks by their category, but with nothing to see."""
_PICTURES: Final = 0x2400
"""Where Unicode has pictures of the first 32 control characters."""


def is_control(character: str) -> bool:
    """Whether a character does something instead of being something: moves, breaks or turns."""
    return character in _BIDI_CONTROLS or unicodedata.category(character) in _CONTROLS


def is_unseen(text: Iterable[str]) -> bool:
    """Whether there is nothing to see in a text."""
    return all(c in _FILLERS or unicodedata.category(c) in _UNSEEN for c in text)


def made_visible(text: str, *, keeping: str = "") -> str:
    """The text with its control characters shown instead of obeyed, but for those to keep."""
    if text.isprintable():  # as most is: then there is nothing to look for
        return text
    return "".join(c if c in keeping or not is_control(c) else _picture(c) for c in text)


def _picture(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(_PICTURES + code)
    return f"\\u{code:04x}"
