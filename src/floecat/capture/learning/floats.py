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
        values = self._typed(stored)
        missing = np.isnan(values)
        count = int(np.count_nonzero(missing))
        self._not_numbers += count
        if count < len(values):
            numbers = stored[~missing] if count else stored
            ends = np.array([numbers.min(), numbers.max()])
            self._widen(ends[0].item(), ends[1].item())
            self.sketching.add_numbers(numbers, self._doubles, ends)
        if not self._holds(stored.dtype):
            self.sketching.keep(None)  # some may have been rounded
        self._sketch(values)

    def _typed(self, stored: NDArray[Any]) -> NDArray[Any]:
        """As the column's type has them; what is too large for it is an infinity."""
        with np.errstate(over="ignore"):
            return stored.astype(self._dtype, copy=False)

    def _doubles(self, stored: NDArray[Any]) -> NDArray[np.float64]:
        return self._typed(stored).astype(np.float64, copy=False)

    def _widen(self, low: float, high: float) -> None:
        self._low = low if self._low is None else min(self._low, low)
        self._high = high if self._high is None else max(self._high, high)

    def _holds(self, stored: "np.dtype[Any]") -> bool:
        """Whether the type has every number of the file, as far as numbers were seen."""
        if stored.kind == "f":
            return bool(stored.itemsize <= self._dtype.itemsize)
        digits = 1 << (np.finfo(self._dtype).nmant + 1)
        return max(-(self._low or 0), self._high or 0) <= digits

    def _sketch(self, values: NDArray[Any]) -> None:
        sketching = self.sketching
        if not sketching.needs_hashes:
            sketching.keep(None)
            return
        hashes = hash_floats(values)
        sketching.add_hashes(hashes)
        if sketching.are_few:
            distinct, counts = _counted(values)
            sketching.add_counted(counts, lambda chosen: self._texts(distinct[chosen]))
            sketching.keep(distinct.tolist())
        else:
            sketching.add_frequent_of(hashes, lambda chosen: self._counted_texts(values[chosen]))
            sketching.keep(None)

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

    def _counted_texts(self, values: NDArray[Any]) -> Iterable[tuple[str, int]]:
        distinct, counts = _counted(values)
        return zip(self._texts(distinct), counts.tolist(), strict=True)

    def _texts(self, distinct: NDArray[Any]) -> Iterable[str]:
        return (self._text(value) or "" for value in distinct)

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


def _counted(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Distinct values, and how often each is there; both zeros are one."""
    return np.unique(values + values.dtype.type(0), return_counts=True)
