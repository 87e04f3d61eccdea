"""Frequent values: which are seen most, and how often, at least and at most."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import datasketches

from floecat.errors import DataLossError

LG_SIZE: Final = 8
"""At most 192 values are told apart; an error of about 1.4 % of all that was seen."""


@dataclass(frozen=True, slots=True)
class FrequentValue:
    """A value, and how often it was seen."""

    value: str
    estimate: int
    at_least: int
    at_most: int


class FrequencySketch:
    """Heavy hitters among canonical strings."""

    def __init__(self, sketch: Any = None) -> None:
        self._sketch = sketch or datasketches.frequent_strings_sketch(LG_SIZE)

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> Self:
        """The sketch of values that were counted before."""
        made = cls()
        for value, count in counts.items():
            made._sketch.update(value, count)
        return made

    @classmethod
    def union(cls, sketches: Iterable["FrequencySketch"]) -> Self:
        """Of everything that any of them has seen."""
        made = cls()
        for sketch in sketches:
            made._sketch.merge(sketch._sketch)  # noqa: SLF001 - one of our own
        return made

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Read a sketch, whoever wrote it."""
        try:
            return cls(datasketches.frequent_strings_sketch.deserialize(content))
        except (RuntimeError, ValueError, IndexError) as error:
            raise DataLossError(f"this isn't a sketch of frequent values: {error}") from error

    def to_bytes(self) -> bytes:
        """As DataSketches writes it."""
        return bytes(self._sketch.serialize())

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
