"""Type strings cut into tokens."""

import re
from dataclasses import dataclass
from typing import Final

from floecat.types.errors import InvalidTypeError, shown

_TOKEN: Final = re.compile(
    r"""\s*(?:
        (?P<word>[^\W\d]\w*)
      | (?P<number>-?\d+)
      | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`)
      | (?P<literal>'(?:[^']|'')*')
      | (?P<mark>[()<>\[\],:])
    )\s*""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of a type string. `text` is unquoted, and as it was written."""

    sort: str
    text: str

    @property
    def word(self) -> str:
        """The word in lower case; empty for what isn't a word."""
        return self.text.lower() if self.sort == "word" else ""


END: Final = Token("end", "")


def tokens_of(text: str) -> list[Token]:
    """Every token of a type string, `END` last."""
    tokens = []
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            raise InvalidTypeError(
                f"can't read type {shown(text)} from {shown(text[position:])} on"
            )
        tokens.append(_token(found))
        position = found.end()
    return [*tokens, END]


def _token(found: re.Match[str]) -> Token:
    sort = str(found.lastgroup)
    text = found[sort]
    if sort in {"quoted", "literal"}:
        quote = text[0]
        text = text[1:-1].replace(quote * 2, quote)
    return Token(sort, text)
