"""Which snapshots of a table are kept."""

from collections.abc import Collection, Iterable
from collections.abc import Set as AbstractSet


def kept(
    oldest_first: Iterable[int],
    upstream: AbstractSet[int] | None,
    limit: int | None,
    pinned: Collection[int] = (),
) -> set[int]:
    """What to keep: what the upstream still has, if that is known, and of that the newest.

    What is pinned always stays.
    """
    known = list(oldest_first)
    there = [one for one in known if upstream is None or one in upstream]
    newest = there if limit is None else there[-max(limit, 1) :]
    return {*newest, *pinned}
