"""One column's statistics over many files, from the files' own."""

from typing import Final, NamedTuple, Protocol

from ai.floedb.floecat.catalog.stats_pb2 import ScalarStats
from floecat.types.logical import LogicalType
from floecat.types.messages import to_message
from floecat.types.ordering import SortKey, sort_key

MOST: Final = 2**63 - 1
"""What a count of the contract can say: whoever counts to more has miscounted."""


class PlainStats(Protocol):
    """Counts and bounds of a column. None is unknown."""

    @property
    def value_count(self) -> int | None: ...
    @property
    def null_count(self) -> int | None: ...
    @property
    def nan_count(self) -> int | None: ...
    @property
    def minimum(self) -> str | None: ...
    @property
    def maximum(self) -> str | None: ...
    @property
    def minimum_tight(self) -> bool: ...
    @property
    def maximum_tight(self) -> bool: ...


class _Plain(NamedTuple):
    value_count: int | None = None
    null_count: int | None = None
    nan_count: int | None = None
    minimum: str | None = None
    maximum: str | None = None
    minimum_tight: bool = False
    maximum_tight: bool = False


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
        self._min = _Extreme(key, smaller=True)
        self._max = _Extreme(key, smaller=False)

    def add(self, stats: ScalarStats | None, rows: int | None) -> None:
        """One file's statistics of the column; None when the file has none."""
        if rows != 0:
            self.add_plain(_Plain() if stats is None else _plain(stats))

    def add_plain(self, known: PlainStats) -> None:
        """One file's statistics, however they are kept."""
        self._values.add(known.value_count)
        self._nulls.add(known.null_count)
        self._nans.add(known.nan_count)
        if not _holds_nothing_to_bound(known):
            self._min.add(known.minimum, known.minimum_tight)
            self._max.add(known.maximum, known.maximum_tight)

    def result(self) -> ScalarStats:
        """The statistics of all files together."""
        merged = ScalarStats(
            display_name=self._display_name,
            logical_type=to_message(self._logical),
            value_count=self._values.total,
            null_count=self._nulls.total,
            nan_count=self._nans.total,
        )
        if self._min.bound is not None:
            merged.min, merged.min_tight = self._min.bound, self._min.tight
        if self._max.bound is not None:
            merged.max, merged.max_tight = self._max.bound, self._max.tight
        return merged


class _Sum:
    """A sum that is unknown as soon as one part is."""

    def __init__(self) -> None:
        self.total: int | None = 0

    def add(self, part: int | None) -> None:
        self.total = None if self.total is None or part is None else min(self.total + part, MOST)


class _Extreme:
    """The least minimum or the greatest maximum, and whether some row really has it."""

    def __init__(self, key: SortKey | None, *, smaller: bool) -> None:
        self._key = key
        self._smaller = smaller
        self._best: str | None = None
        self._rank: object = None
        self._known = key is not None
        self.tight = False

    @property
    def bound(self) -> str | None:
        """None when there is none, or one file's is unknown."""
        return self._best if self._known else None

    def add(self, bound: str | None, tight: bool) -> None:
        if not self._known or self._key is None:
            return
        if bound is None:
            self._known = False
            return
        rank = self._key(bound)
        if self._best is None or self._beats(rank):
            self._best, self._rank, self.tight = bound, rank, tight
        elif rank == self._rank:
            self.tight = self.tight or tight

    def _beats(self, rank: object) -> bool:
        if self._smaller:
            return bool(rank < self._rank)  # type: ignore[operator]  # ranks of one type compare
        return bool(rank > self._rank)  # type: ignore[operator]


def _plain(stats: ScalarStats) -> _Plain:
    return _Plain(
        stats.value_count if stats.HasField("value_count") else None,
        stats.null_count if stats.HasField("null_count") else None,
        stats.nan_count if stats.HasField("nan_count") else None,
        stats.min if stats.HasField("min") else None,
        stats.max if stats.HasField("max") else None,
        stats.min_tight,
        stats.max_tight,
    )


def _holds_nothing_to_bound(stats: PlainStats) -> bool:
    """Whether every value is NULL or NaN, as far as is known: then there are no bounds to miss."""
    if stats.value_count is None or stats.null_count is None:
        return False
    return stats.null_count + (stats.nan_count or 0) >= stats.value_count
