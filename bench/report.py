"""What a benchmark hands back: numbers with units, some with a limit that they must keep."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number. Ratios compare within one run, so they mean something on any machine."""

    name: str
    value: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None

    @property
    def missed(self) -> bool:
        """Whether the number is beyond its limit."""
        below = self.at_least is not None and self.value < self.at_least
        return below or (self.at_most is not None and self.value > self.at_most)

    @property
    def limit(self) -> str:
        """The limit, as people read it."""
        if self.at_least is not None:
            return f"≥ {self.at_least:g}"
        return "" if self.at_most is None else f"≤ {self.at_most:g}"


Report: TypeAlias = list[Measurement]
