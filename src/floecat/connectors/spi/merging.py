"""One column's statistics over many files, from the files' own."""

from typing import Final

from ai.floedb.floecat.catalog.stats_pb2 import ScalarStats
from floecat.types.logical import LogicalType
from floecat.types.messages import to_message
from floecat.types.ordering import SortKey, sort_key

MOST: Final = 2**63 - 1
"""What a count of the contract can say: whoever counts to more has miscounted."""


class ScalarMerge:
    """Adds files up. What one file doesn't know, the whole doesn't know either."""

    def __init__(self, logical: LogicalType, display_name: str = "") -> None:
        self._logical = logical
        self._display_name = display_name
        orderable = logical.kind.is_orderable
        key = sort_key(logical) if orderable else None
        self._values = _Sum()
        self._nulls = _Sum()
        self._nans = _Sum()
        self._min = _Extreme("min", key, smaller=True)
        self._max = _Extreme("max", key, smaller=False)

    def add(self, stats: ScalarStats | None, rows: int | None) -> None:
        """One file's statistics of the column; None when the file has none."""
        if rows == 0:
            return
        known = stats if stats is not None else ScalarStats()
        self._values.add(known.value_count if known.HasField("value_count") else None)
        self._nulls.add(known.null_count if known.HasField("null_count") else None)
        self._nans.add(known.nan_count if known.HasField("nan_count") else None)
        if not _holds_nothing_to_bound(known):
            self._min.add(known)
            self._max.add(known)

    def result(self) -> ScalarStats:
        """The statistics of all files together."""
        merged = ScalarStats(
            display_name=self._display_name,
            logical_type=to_message(self._logical),
            value_count=self._values.total,
            null_count=self._nulls.total,
            nan_count=self._nans.total,
        )
        self._min.put_into(merged)
        self._max.put_into(merged)
        return merged


class _Sum:
    """A sum that is unknown as soon as one part is."""

    def __init__(self) -> None:
        self.total: int | None = 0

    def add(self, part: int | None) -> None:
        self.total = None if self.total is None or part is None else min(self.total + part, MOST)


class _Extreme:
    """The least minimum or the greatest maximum, and whether some row really has it."""

    def __init__(self, name: str, key: SortKey | None, *, smaller: bool) -> None:
        self._name = name
        self._key = key
        self._smaller = smaller
        self._best: str | None = None
        self._rank: object = None
        self._tight = False
        self._known = key is not None

    def add(self, stats: ScalarStats) -> None:
        if not self._known or self._key is None:
            return
        if not stats.HasField(self._name):  # type: ignore[arg-type]  # min or max
            self._known = False
            return
        bound: str = getattr(stats, self._name)
        tight: bool = getattr(stats, f"{self._name}_tight")
        rank = self._key(bound)
        if self._best is None or self._beats(rank):
            self._best, self._rank, self._tight = bound, rank, tight
        elif rank == self._rank:
            self._tight = self._tight or tight

    def _beats(self, rank: object) -> bool:
        if self._smaller:
            return bool(rank < self._rank)  # type: ignore[operator]  # ranks of one type compare
        return bool(rank > self._rank)  # type: ignore[operator]

    def put_into(self, stats: ScalarStats) -> None:
        if self._known and self._best is not None:
            setattr(stats, self._name, self._best)
            setattr(stats, f"{self._name}_tight", self._tight)


def _holds_nothing_to_bound(stats: ScalarStats) -> bool:
    """Whether every value is NULL or NaN, as far as is known: then there are no bounds to miss."""
    if not stats.HasField("value_count") or not stats.HasField("null_count"):
        return False
    unbounded = stats.null_count + (stats.nan_count if stats.HasField("nan_count") else 0)
    return unbounded >= stats.value_count
