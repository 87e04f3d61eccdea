"""Quantiles of numbers and times: KLL sketches of doubles, as Spark reads them too."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, Self

import datasketches
import numpy as np
from numpy.typing import NDArray

from floecat.errors import DataLossError

K: Final = 200
"""A rank error of about 1.3 %."""


class QuantileSketch:
    """How values are distributed. Whole numbers above 2⁵³ aren't told apart: they are doubles."""

    def __init__(self, sketch: Any = None) -> None:
        self._sketch = sketch or datasketches.kll_doubles_sketch(K)

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Self:
        """The sketch of values; NaN has no rank, and is left out."""
        made = cls()
        made._sketch.update(values[~np.isnan(values)])
        return made

    @classmethod
    def union(cls, sketches: Iterable["QuantileSketch"]) -> Self:
        """Of everything that any of them has seen."""
        made = cls()
        for sketch in sketches:
            made._sketch.merge(sketch._sketch)  # noqa: SLF001 - one of our own
        return made

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Read a sketch, whoever wrote it."""
        try:
            return cls(datasketches.kll_doubles_sketch.deserialize(content))
        except (RuntimeError, ValueError, IndexError) as error:
            raise DataLossError(f"this isn't a sketch of quantiles: {error}") from error

    def to_bytes(self) -> bytes:
        """As DataSketches writes it."""
        return bytes(self._sketch.serialize())

    @property
    def count(self) -> int:
        """How many values it has seen."""
        return int(self._sketch.n)

    @property
    def rank_error(self) -> float:
        """How far a rank may be off, with 99 % confidence."""
        return float(self._sketch.normalized_rank_error(False))

    def quantiles(self, ranks: Sequence[float]) -> list[float]:
        """The values at ranks from 0 to 1; none of an empty sketch."""
        if not self.count:
            return []
        return [float(value) for value in self._sketch.get_quantiles(list(ranks))]
