"""How wide the columns of a table are, so that nothing is lost on a narrow terminal."""

from collections.abc import Sequence
from typing import Final

_LEAST: Final = 12
"""Below this a folded text can't be read any more; what is shorter gets what it needs."""


def column_widths(needed: Sequence[int], room: int) -> list[int]:
    """Widths that fit the room. The first column, names mostly, gives way last.

    The others share what it leaves: narrow ones get all they need, wide ones are folded. They fit
    only if every column can have its least; on a terminal narrower than that Rich cuts.
    """
    if sum(needed) <= room:
        return list(needed)
    widths = [min(need, _LEAST) for need in needed]
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
