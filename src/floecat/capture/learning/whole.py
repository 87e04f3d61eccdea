"""Whole numbers: counted where they lie close together, hashed one by one where they don't."""

from collections.abc import Collection, Iterable
from typing import Final

import numpy as np
import pyarrow as pa
from typing_extensions import override

from floecat.capture.columns import WantedColumn
from floecat.capture.learning.base import Learning
from floecat.capture.learning.counting import counts_below
from floecat.capture.learning.numbers import NumberForm
from floecat.capture.learning.sketching import SMALL, Counts
from floecat.sketches.hashing import Integers

_CLOSE: Final = 4096
"""Numbers in a span of this many are counted however few they are."""
_NANOSECONDS_REACH: Final = (1 << 63) // 1000
"""Microseconds from 1970 that a word of nanoseconds can tell."""
_SPREAD: Final = 1.25
"""How wide a span is counted, for each number in it; in a wider one hashing all is quicker."""


class WholeNumbers(Learning):
    """Learns of whole numbers, dates, times and decimals."""

    def __init__(self, column: WantedColumn, form: NumberForm, *, is_cut: bool = False) -> None:
        super().__init__(column, has_ranks=form.has_ranks)
        self._form = form
        self._may_be_cut = is_cut
        self._nanoseconds: bool | None = None
        """Whether there are any, where they may have been cut off; None: nobody looked."""
        self._low: int | None = None
        self._high: int | None = None

    @override
    def _learn(self, array: pa.Array) -> None:
        numbers = self._form.numbers(array)
        if numbers is None:
            self._learn_long(array)
            return
        span = max(_CLOSE, int(_SPREAD * len(numbers)))
        # One look for most columns: as words without a sign, negative numbers are the greatest.
        low, high = 0, int(numbers.view(np.uint64).max())
        if high >= span:
            low = int(numbers.min())
            high = high if low >= 0 else int(numbers.max())
        if high - low < span:
            counts = counts_below(numbers - low if low else numbers, high - low + 1)
            places = np.flatnonzero(counts)
            self._widen(low + int(places[0]), high)
            self._learn_counted(places + low, counts[places])
        else:
            self._widen(low, high)
            self._learn_all(numbers, low, high)

    @property
    @override
    def looks_again_at(self) -> str | None:
        if not self._may_be_cut or self._low is None or self._high is None:
            return None
        near = self._low > -_NANOSECONDS_REACH and self._high < _NANOSECONDS_REACH
        return "ns" if near else None  # further away they would be other times

    @override
    def look_again(self, array: pa.Array) -> None:
        nanos = array.drop_null().view(pa.int64()).to_numpy()
        self._nanoseconds = self._nanoseconds or bool((nanos % 1000).any())

    @property
    def _is_cut(self) -> bool:
        return self._may_be_cut and self._low is not None and self._nanoseconds is not False

    @property
    @override
    def small(self) -> Collection[str] | None:
        return None if self._is_cut else super().small

    def _learn_counted(self, numbers: Integers, counts: Counts) -> None:
        """Distinct numbers, ascending, and how often each is there."""
        sketching = self.sketching
        if sketching.theta is not None:
            sketching.add_hashes(self._form.hashes(numbers))
        if sketching.quantiles is not None:
            sketching.add_ranked(self._form.doubles(numbers), counts)
        self._keep(numbers.tolist() if len(numbers) <= SMALL else None)
        if self._form.written_step > 1:
            numbers, places = np.unique(self._written(numbers), return_inverse=True)
            counts = np.bincount(places, counts).astype(np.int64)
        sketching.add_counted(counts, lambda chosen: self._texts(numbers[chosen].tolist()))

    def _learn_all(self, numbers: Integers, low: int, high: int) -> None:
        sketching = self.sketching
        if sketching.needs_hashes:
            hashes = self._form.hashes(numbers)
            sketching.add_hashes(hashes)
            if sketching.are_few:  # though far apart: then counting tells all of them
                self._learn_counted(*np.unique(numbers, return_counts=True))
                return
            written = self._written(numbers)
            if written is not numbers:
                hashes = self._form.hashes(written)
            sketching.add_frequent_of(hashes, lambda chosen: self._counted(written[chosen]))
        sketching.add_numbers(numbers, self._form.doubles, np.array([low, high]))
        self._keep(None)

    def _written(self, numbers: Integers) -> Integers:
        """Numbers as their canonical strings say them, so that each string is one value."""
        step = self._form.written_step
        return numbers if step == 1 else numbers // step * step

    def _learn_long(self, array: pa.Array) -> None:
        """Decimals and unsigned numbers that don't fit a word: rare, and slow."""
        counted = sorted(self._form.long_numbers(array).items())
        numbers = [number for number, _ in counted]
        counts = np.array([count for _, count in counted], np.int64)
        self._widen(numbers[0], numbers[-1])
        sketching = self.sketching
        if sketching.theta is not None:
            sketching.add_hashes(self._form.long_hashes(numbers))
        if sketching.quantiles is not None:
            doubles = np.array([float(self._form.value(number)) for number in numbers])
            sketching.add_ranked(doubles, counts)
        sketching.add_counted(
            counts, lambda chosen: self._texts(numbers[place] for place in chosen.tolist())
        )
        self._keep(numbers)

    def _keep(self, numbers: list[int] | None) -> None:
        few = numbers is not None and len(numbers) <= SMALL
        self.sketching.keep([self._form.value(n) for n in numbers] if numbers and few else None)

    def _widen(self, low: int, high: int) -> None:
        self._low = low if self._low is None else min(self._low, low)
        self._high = high if self._high is None else max(self._high, high)

    def _texts(self, numbers: Iterable[int]) -> Iterable[str]:
        return (self._text(self._form.value(number)) or "" for number in numbers)

    def _counted(self, numbers: Integers) -> Iterable[tuple[str, int]]:
        values, counts = np.unique(numbers, return_counts=True)
        return zip(self._texts(values.tolist()), counts.tolist(), strict=True)

    @override
    def _ends(self) -> tuple[object, object] | None:
        if self._low is None or self._high is None:
            return None
        return self._form.value(self._low), self._form.value(self._high + self._is_cut)

    @property
    @override
    def _ends_are_values(self) -> tuple[bool, bool]:
        return not self._is_cut, not self._is_cut

    @property
    @override
    def _width(self) -> int:
        return self._form.width * (self._values - self._nulls)
