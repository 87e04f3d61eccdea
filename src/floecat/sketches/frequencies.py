"""Frequent values: which are seen most, and how often, at least and at most."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import datasketches
from typing_extensions import override

from floecat.sketches.wrapped import WrappedSketch

LG_SIZE: Final = 8
"""At most 192 values are told apart; an error of about 1.4 % of all that was seen."""


@dataclass(frozen=True, slots=True)
class FrequentValue:
    """A value, and how often it was seen."""

    value: str
    estimate: int
    at_least: int
    at_most: int


class FrequencySketch(WrappedSketch):
    """Heavy hitters among canonical strings."""

    library_type = datasketches.frequent_strings_sketch
    what = "frequent values"

    @classmethod
    @override
    def _new(cls) -> Any:
        return datasketches.frequent_strings_sketch(LG_SIZE)

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> Self:
        """The sketch of values that were counted before."""
        made = cls()
        for value, count in counts.items():
            made.add(value, count)
        return made

    def add(self, value: str, count: int) -> None:
        """Take in a value that was seen so often."""
        self._sketch.update(value, count)

    @property
    def count(self) -> int:
        """How many values it has seen, each as often as it was."""
        return int(self._sketch.total_weight)

    def top(self, limit: int) -> list[FrequentValue]:
        """The values that are surely among the most frequent, the most frequent first."""
        sure = datasketches.frequent_items_error_type.NO_FALSE_POSITIVES
        found = self._sketch.get_frequent_items(sure)
        rows = [FrequentValue(value, mid, low, high) for value, mid, low, high in found]
        return sorted(rows, key=lambda row: (-row.estimate, row.value))[:limit]
