"""Learning: what every way of learning of a column has in common."""

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import replace
from typing import Any, ClassVar, Final

import pyarrow as pa

from floecat.artifacts.columns import ColumnRow
from floecat.capture.columns import WantedColumn
from floecat.capture.learning.cutting import LONGEST
from floecat.capture.learning.sketching import Sketching
from floecat.types.bounds import Bound, lower_bound, upper_bound
from floecat.types.encoding import ValueEncoders
from floecat.types.errors import InvalidValueError

_ENCODERS: Final = ValueEncoders()


class Learning(ABC):
    """Takes the values of one column of one file, batch by batch; holds no batch."""

    takes_dictionaries: ClassVar[bool] = False
    """Whether it is quicker with the values of a dictionary and how often each is used."""

    def __init__(self, column: WantedColumn, *, has_ranks: bool) -> None:
        self.column = column
        self.sketching: Sketching[Any] = Sketching(column, has_ranks=has_ranks)
        self._values = 0
        self._nulls = 0

    def add(self, array: pa.Array) -> None:
        """Take in a batch of values, nulls among them."""
        self._values += len(array)
        self._nulls += array.null_count
        present = _present(array) if array.null_count else array
        if len(present):
            self._learn(present)

    @abstractmethod
    def _learn(self, array: pa.Array) -> None:
        """Take in values that aren't null; at least one."""

    @property
    def looks_again_at(self) -> str | None:
        """The unit that the same values are wanted in once more; None mostly."""
        return None

    def look_again(self, array: pa.Array) -> None:  # noqa: B027 - most don't
        """Take a batch of values that were taken before, in that unit."""

    def _settle(self) -> None:  # noqa: B027 - most put nothing off
        """Take in what was put off, before anybody asks."""

    @abstractmethod
    def _ends(self) -> tuple[object, object] | None:
        """The least and the greatest value; None when there is none to order."""

    @property
    def _ends_are_values(self) -> tuple[bool, bool]:
        """Whether some row has the least value, and some the greatest, exactly so."""
        return True, True

    @property
    def _nans(self) -> int | None:
        """How many values are NaN; None for types that have none."""
        return None

    @property
    @abstractmethod
    def _width(self) -> int | None:
        """The bytes of all values together."""

    @property
    def small(self) -> Collection[str] | None:
        """Every value there is, when there are few, and their strings say all of them."""
        self._settle()
        kept = self.sketching.small
        if kept is None:
            return None
        texts = {self._exact_text(value) for value in kept}
        if None in texts or any(len(text or "") > LONGEST for text in texts):
            return None
        return sorted(text for text in texts if text is not None)

    def _text(self, value: Any) -> str | None:
        """The canonical string of a value; None when it has none."""
        try:
            return _ENCODERS.encode_to_string(self.column.logical_type, value)
        except InvalidValueError:
            return None

    def _exact_text(self, value: Any) -> str | None:
        """The canonical string of a value; None when it has none, or would be cut off in it."""
        found = _bound(lower_bound, self.column, value)
        return found.encoded if found is not None and found.is_tight else None

    def row(self) -> ColumnRow:
        """What was learnt."""
        self._settle()
        low, high = self._bounds()
        exact = self._ends_are_values
        sketching = self.sketching
        frequencies = sketching.frequencies
        return ColumnRow(
            value_count=self._values,
            null_count=self._nulls,
            nan_count=self._nans,
            minimum=None if low is None else low.encoded,
            maximum=None if high is None else high.encoded,
            minimum_tight=low is not None and low.is_tight and exact[0],
            maximum_tight=high is not None and high.is_tight and exact[1],
            width_bytes=self._width,
            rows_seen=self._values,
            theta=None if sketching.theta is None else sketching.theta.to_bytes(),
            quantiles=None if sketching.quantiles is None else sketching.quantiles.to_bytes(),
            frequencies=None if frequencies is None else frequencies.to_bytes(),
            frequency_error=sketching.frequency_error,
        )

    def _bounds(self) -> tuple[Bound | None, Bound | None]:
        ends = self._ends()
        if ends is None:
            return None, None
        return _bound(lower_bound, self.column, ends[0]), _bound(upper_bound, self.column, ends[1])


def _present(array: pa.Array) -> pa.Array:
    """The values that aren't null. Arrow can't leave any out of the newest kind of text."""
    views = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    return array.cast(views.get(array.type, array.type)).drop_null()


def _bound(make: Any, column: WantedColumn, value: object) -> Bound | None:
    if value is None:
        return None
    try:
        found: Bound | None = make(column.logical_type, value)
    except InvalidValueError:
        return None  # text that isn't UTF-8 has no canonical string, and so bounds nothing
    return found


class Presence(Learning):
    """Nothing but whether there is a value: of types that have neither order nor hash."""

    def __init__(self, column: WantedColumn) -> None:
        plain = replace(column, ndv=False, quantiles=False, frequent_items=False)
        super().__init__(plain, has_ranks=False)
        self.sketching.small = None

    def _learn(self, array: pa.Array) -> None:
        pass

    def _ends(self) -> None:
        return None

    @property
    def _width(self) -> None:
        return None
