"""What a benchmark hands back: numbers with units, some of them with a floor they must reach."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number. Ratios compare within one run, so they mean something on any machine."""

    name: str
    value: float
    unit: str
    at_least: float | None = None

    @property
    def missed(self) -> bool:
        """Whether the number is below its floor."""
        return self.at_least is not None and self.value < self.at_least


Report: TypeAlias = list[Measurement]
