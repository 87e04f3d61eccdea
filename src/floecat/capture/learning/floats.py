"""Floating-point numbers: NaN is counted, has no rank and bounds nothing, and is one value.

Files may have other numbers than their column, if it was made wider: whole ones, or of more digits.
What the type can't say is rounded where values are counted; bounds are of what the file has.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as kinds
from numpy.typing import NDArray
from typing_extensions import override

from floecat.capture.columns import WantedColumn
from floecat.capture.learning.base import Learning
from floecat.capture.learning.numbers import WrongTypeError
from floecat.sketches.hashing import hash_floats
from floecat.types.kinds import Kind


class FloatingPoint(Learning):
    """Learns of FLOAT and DOUBLE."""

    def __init__(self, column: WantedColumn) -> None:
        super().__init__(column, has_ranks=True)
        self._arrow_type = pa.float32() if column.logical_type.kind is Kind.FLOAT else pa.float64()
        self._dtype = np.dtype(self._arrow_type.to_pandas_dtype())
        self._low: int | float | None = None
        self._high: int | float | None = None
        self._not_numbers = 0

    @override
    def _learn(self, array: pa.Array) -> None:
        stored = self._stored(array)
        with np.errstate(over="ignore"):  # what is too large for the type is an infinity in it
            values = stored.astype(self._dtype, copy=False)
        missing = np.isnan(values)
        count = int(np.count_nonzero(missing))
        self._not_numbers += count
        numbers = values[~missing] if count else values
        if len(numbers):
            self._widen(stored[~missing] if count else stored)
        if not self._holds(stored.dtype):
            self.sketching.keep(None)  # some may have been rounded
        self._sketch(values, numbers)

    def _widen(self, stored: NDArray[Any]) -> None:
        low, high = stored.min().item(), stored.max().item()
        self._low = low if self._low is None else min(self._low, low)
        self._high = high if self._high is None else max(self._high, high)

    def _holds(self, stored: "np.dtype[Any]") -> bool:
        """Whether the type has every number of the file, as far as numbers were seen."""
        if stored.kind == "f":
            return bool(stored.itemsize <= self._dtype.itemsize)
        digits = 1 << (np.finfo(self._dtype).nmant + 1)
        return max(-(self._low or 0), self._high or 0) <= digits

    def _sketch(self, values: NDArray[Any], numbers: NDArray[Any]) -> None:
        sketching = self.sketching
        if sketching.needs_hashes:
            hashes = hash_floats(values)
            sketching.add_hashes(hashes)
            sketching.add_frequent_of(hashes, lambda chosen: self._counted(values[chosen]))
        if len(numbers):
            ends = np.array([numbers.min(), numbers.max()])
            sketching.add_numbers(numbers, _doubles, ends)
        sketching.keep(np.unique(values).tolist() if sketching.are_few else None)

    def _stored(self, array: pa.Array) -> NDArray[Any]:
        kind = array.type
        if not (kinds.is_floating(kind) or kinds.is_integer(kind)):
            raise WrongTypeError(
                f"it is {kind} in the file, and {self.column.logical_type} in the schema"
            )
        values: NDArray[Any] = array.to_numpy(zero_copy_only=False)
        return values

    @override
    def _exact_text(self, value: Any) -> str | None:
        return self._text(value)  # NaN, which is no bound, is a value

    def _counted(self, values: NDArray[Any]) -> Iterable[tuple[str, int]]:
        distinct, counts = np.unique(values + values.dtype.type(0), return_counts=True)
        texts = (self._text(value) or "" for value in distinct)
        return zip(texts, counts.tolist(), strict=True)

    @override
    def _ends(self) -> tuple[object, object] | None:
        return None if self._low is None else (self._low, self._high)

    @property
    @override
    def _nans(self) -> int:
        return self._not_numbers

    @property
    @override
    def _width(self) -> int:
        return int(self._arrow_type.bit_width // 8 * (self._values - self._nulls))


def _doubles(numbers: NDArray[Any]) -> NDArray[np.float64]:
    return numbers.astype(np.float64, copy=False)
