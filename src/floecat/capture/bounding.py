"""Bounds from what a file says of itself: footers, and page indexes."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from floecat.artifacts.columns import ColumnRow
from floecat.capture.columns import WantedColumn
from floecat.capture.learning.cutting import CUT_FROM, LONGEST, cut_high, cut_low
from floecat.capture.learning.numbers import NumberForm, number_form
from floecat.capture.leaves import FileLeaf
from floecat.capture.parquet.physical import Physical
from floecat.capture.parquet.reading import ParquetSource
from floecat.connectors.spi.parquet import LeafFooter
from floecat.types.bounds import Bound, lower_bound, upper_bound
from floecat.types.errors import InvalidValueError
from floecat.types.kinds import Kind


@dataclass(frozen=True)
class StatedColumn:
    """A leaf of a file as its footer states it, and what that means to a column."""

    column: WantedColumn
    leaf: FileLeaf
    source: ParquetSource
    physical: Physical

    @classmethod
    def of(cls, column: WantedColumn, leaf: FileLeaf, source: ParquetSource) -> "StatedColumn":
        """The leaf that has a column's values."""
        stored = source.schema.stored[leaf.number]
        return cls(column, leaf, source, Physical.of(column, stored))

    @cached_property
    def footer(self) -> LeafFooter:
        """What the footer says of the whole file."""
        return self.source.statistics.leaf(self.leaf.number, self.physical.read)

    def row(self) -> ColumnRow | None:
        """Counts and bounds, if the footer has them all; None if the data has to be read."""
        footer = self.footer
        # The footer counts lists that are null or empty as values of what isn't in them.
        if self.leaf.repeated or footer.null_count is None:
            return None
        bounded = footer.low is not None and footer.high is not None
        has_order = self.column.logical_type.kind.is_orderable
        if has_order and not bounded and not footer.is_all_null:
            return None
        low, high = self._bounds(footer) if has_order else (None, None)
        groups = range(len(self.source.statistics.row_counts))
        return ColumnRow(
            value_count=footer.value_count,
            null_count=footer.null_count,
            minimum=None if low is None else low.encoded,
            maximum=None if high is None else high.encoded,
            minimum_tight=low is not None
            and low.is_tight
            and self.is_exact(footer.low, groups, smaller=True),
            maximum_tight=high is not None
            and high.is_tight
            and self.is_exact(footer.high, groups, smaller=False),
        )

    def _bounds(self, footer: LeafFooter) -> tuple[Bound | None, Bound | None]:
        low, high = footer.low, footer.high
        if isinstance(low, bytes) and isinstance(high, bytes):
            is_text = self.column.logical_type.kind is Kind.STRING
            low, high = cut_low(low), cut_high(high, is_text=is_text)
        return self._bound(lower_bound, low), self._bound(upper_bound, high)

    def _bound(self, make: Any, physical: Any) -> Bound | None:
        if physical is None:
            return None
        if self.column.logical_type.kind is Kind.INT:
            return Bound(str(physical), is_tight=True)  # the same, and most columns are
        try:
            found: Bound | None = make(self.column.logical_type, self._value(physical))
        except (InvalidValueError, ValueError, OverflowError, pa.ArrowInvalid):
            return None
        return found

    def _value(self, physical: Any) -> Any:
        logical = self.column.logical_type
        if isinstance(physical, bytes):
            return physical.decode() if logical.kind is Kind.STRING else physical
        if isinstance(physical, float):
            return physical
        return physical if self._form is None else self._form.value(physical)

    @cached_property
    def _form(self) -> NumberForm | None:
        is_time = self.physical.annotation in {"Timestamp", "Time"}
        kind = pa.timestamp(self.physical.unit) if is_time else pa.int64()
        return number_form(self.column, kind)

    def is_exact(self, bound: Any, row_groups: Iterable[int], *, smaller: bool) -> bool:
        """Whether a bound of some row groups is a value; texts' may have been cut off."""
        if self.column.logical_type.kind not in {Kind.STRING, Kind.BINARY}:
            return True
        if isinstance(bound, bytes) and len(bound) > LONGEST:
            return False  # it is cut off here
        chunks = [self.source.footer.row_groups[group][self.leaf.number] for group in row_groups]
        flags = {chunk.min_exact if smaller else chunk.max_exact for chunk in chunks}
        if None in flags:
            flags.discard(None)
            flags.add(isinstance(bound, bytes) and len(bound) < CUT_FROM)
        return False not in flags
