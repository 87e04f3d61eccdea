"""How wide the columns of a table are, so that nothing is lost on a narrow terminal."""

from collections.abc import Iterable, Sequence
from typing import Final

GAP: Final = 2
"""After each column."""
_LEAST: Final = 12
"""Below this a folded text can't be read any more; what is shorter gets what it needs."""
_MUCH: Final = 40
"""Texts that are longer are folded rather than given a whole screen."""
_NUMBER: Final = 25
"""Numbers and times are no longer than this; paths and ids are, and may be folded anywhere."""


def column_widths(needed: Sequence[int], room: int, unbroken: Sequence[int] = ()) -> list[int]:
    """Widths that fit the room. The first column, names mostly, gives way last.

    The others share what it leaves: narrow ones get all they need, wide ones are folded, but not
    below what has to stay `unbroken` in them, if all of that fits. They fit only if every column
    can have its least; on a terminal narrower than that Rich cuts.
    """
    if sum(needed) <= room:
        return list(needed)
    widths = least_widths(needed, unbroken)
    if sum(widths) > room:
        widths = least_widths(needed)
    left = max(0, room - sum(widths))
    widths[0] += min(left, needed[0] - widths[0])
    left = max(0, room - sum(widths))
    others = sorted(range(1, len(needed)), key=lambda column: needed[column])
    for place, column in enumerate(others):
        share = left // (len(others) - place)
        more = min(share, needed[column] - widths[column])
        widths[column] += more
        left -= more
    return widths


def least_widths(needed: Sequence[int], unbroken: Sequence[int] = ()) -> list[int]:
    """How narrow columns may be."""
    whole = unbroken or [0] * len(needed)
    return [min(need, max(_LEAST, kept)) for need, kept in zip(needed, whole, strict=True)]


def how_many_fit(needed: Sequence[int], unbroken: Sequence[int], width: int, foldable: int) -> int:
    """How many columns a terminal has room for, of which the first `foldable` may be folded for it.

    Those after them are only shown if nothing has to be folded much. The first is always shown.
    """
    least = least_widths(needed, unbroken)
    for count in range(len(needed), 1, -1):
        wanted = least if count <= foldable else [min(need, _MUCH) for need in needed]
        if sum(wanted[:count]) + GAP * count <= width:
            return count
    return 1


def longest_number(cells: Iterable[str]) -> int:
    """The length of the longest word that reads as another one if it is broken in two."""
    words = (word for cell in cells for word in cell.split() if len(word) <= _NUMBER)
    return max((len(word) for word in words if any(map(str.isdigit, word))), default=0)
