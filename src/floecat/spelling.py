"""Words that are almost the same. Pure."""

import difflib
from collections.abc import Iterable


def nearest(word: str, words: Iterable[str], *, likeness: float = 0.5) -> str | None:
    """The word that is spelled most alike, upper and lower case aside; None if none is alike."""
    by_folded = {candidate.casefold(): candidate for candidate in words}
    close = difflib.get_close_matches(word.casefold(), by_folded, n=1, cutoff=likeness)
    return by_folded[close[0]] if close else None
