"""The rows of a sidecar, from what a file says of its row groups and pages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from floecat.artifacts.sidecars import PageRow
from floecat.capture.bounding import StatedColumn
from floecat.capture.learning.cutting import CUT_FROM, LONGEST, cut_high, cut_low
from floecat.capture.parquet.errors import MalformedParquetError
from floecat.capture.parquet.footers import ChunkDetails
from floecat.capture.parquet.headers import WalkedChunk, walk_pages
from floecat.capture.parquet.pages import PageBounds, PageLocations, parse_bounds, parse_locations
from floecat.types.kinds import Kind

_NANOS: Final = {"ms": 1_000_000, "us": 1_000, "ns": 1}
_MICRO: Final = 1_000
_LONG: Final = 1 << 63


@dataclass(slots=True)
class PageRows:
    """The rows of one column, and of how many row groups there were none of pages."""

    stated: StatedColumn
    first_rows: list[int]
    groups_without_pages: set[int] = field(default_factory=set)
    pages: int = 0
    _looked: dict[int, "_Found | None"] = field(default_factory=dict)

    def look(self, group: int) -> None:
        """Find the pages of a row group now, and not when its rows are asked for."""
        self._looked[group] = self._find(group)

    def rows(self) -> Iterator[PageRow]:
        """Row groups, each followed by its pages."""
        counts = self.stated.source.statistics.row_counts
        for group, row_count in enumerate(counts):
            yield self._row_group(group, row_count)
            yield from self._pages(group, row_count)

    def _row_group(self, group: int, row_count: int) -> PageRow:
        stated = self.stated
        chunk = stated.source.statistics.chunks[group][stated.leaf.number]
        low, high = stated.physical.read(chunk.low), stated.physical.read(chunk.high)
        tight = (
            stated.is_exact(low, [group], smaller=True),
            stated.is_exact(high, [group], smaller=False),
        )
        return PageRow(
            column_id=stated.column.column_id,
            row_group=group,
            first_row=self.first_rows[group],
            row_count=row_count,
            null_count=None if stated.leaf.repeated else chunk.null_count,
            compressed_size=chunk.compressed_bytes,
            **self._bounds(low, high, *tight),
        )

    def _pages(self, group: int, row_count: int) -> Iterator[PageRow]:
        found = self._looked.pop(group) if group in self._looked else self._find(group)
        if found is None:
            self.groups_without_pages.add(group)
            return
        bounds, places = found
        ends = [*places.first_rows[1:], row_count]
        for page in range(len(places)):
            self.pages += 1
            yield self._page(group, page, bounds, places, ends[page])

    def _find(self, group: int) -> "_Found | None":
        details = self.stated.source.footer.row_groups[group][self.stated.leaf.number]
        rows = self.stated.source.statistics.row_counts[group]
        return self._index(details, rows) or self._headers(group, details)

    def _index(self, details: ChunkDetails, rows: int) -> "_Found | None":
        """A page index that can't be read isn't there: it is a help, and the data is whole."""
        if details.column_index is None or details.offset_index is None:
            return None
        try:
            bounds = parse_bounds(self.stated.source.read(details.column_index))
            places = parse_locations(self.stated.source.read(details.offset_index))
        except MalformedParquetError:
            return None
        last = places.first_rows[-1] if len(places) else 0
        return (bounds, places) if len(bounds) == len(places) and last <= rows else None

    def _headers(self, group: int, details: ChunkDetails) -> "_Found | None":
        """What the pages say of themselves, unless each of them had to be asked for."""
        source, number = self.stated.source, self.stated.leaf.number
        if details.pages is None or not source.is_at_hand(details.pages):
            return None
        chunk = WalkedChunk(
            details.pages,
            source.statistics.row_counts[group],
            source.statistics.chunks[group][number].value_count,
        )
        try:
            return walk_pages(chunk, source.read)
        except MalformedParquetError:
            return None

    def _page(
        self, group: int, page: int, bounds: PageBounds, places: PageLocations, end: int
    ) -> PageRow:
        low = high = None
        # Bounds say little in a file that doesn't say how they compare.
        if not bounds.null_pages[page] and self.stated.source.footer.ordered:
            read = self.stated.physical.read
            low, high = read(bounds.minimums[page]), read(bounds.maximums[page])
        return PageRow(
            column_id=self.stated.column.column_id,
            row_group=group,
            page=page,
            first_row=self.first_rows[group] + places.first_rows[page],
            row_count=end - places.first_rows[page],
            null_count=self._nulls(bounds, page),
            nan_count=bounds.nan_counts[page] if bounds.nan_counts is not None else None,
            offset=places.offsets[page],
            compressed_size=places.sizes[page],
            boundary_order=bounds.boundary_order,
            **self._bounds(
                low,
                high,
                _is_whole(low, bounds.min_exact, page),
                _is_whole(high, bounds.max_exact, page),
            ),
        )

    def _nulls(self, bounds: PageBounds, page: int) -> int | None:
        known = bounds.null_counts is not None and not self.stated.leaf.repeated
        return bounds.null_counts[page] if known and bounds.null_counts is not None else None

    def _bounds(self, low: Any, high: Any, low_tight: bool, high_tight: bool) -> "_Fields":
        """A row's typed bounds, if both are known; a row with one of them bounds nothing."""
        if low is None or high is None or low > high:
            return {}
        tight: _Fields = {"min_tight": low_tight, "max_tight": high_tight}
        if isinstance(low, bytes):
            return self._texts(low, high, tight)
        if isinstance(low, float):
            # Both zeros are one value: which of them was written says nothing.
            return tight | {"min_float": low or -0.0, "max_float": high or 0.0}
        return self._whole(low, high, tight)

    def _texts(self, low: bytes, high: bytes, tight: "_Fields") -> "_Fields":
        is_text = self.stated.column.logical_type.kind is Kind.STRING
        end = cut_high(high, is_text=is_text)
        if end is None:
            return {}
        return {
            "min_bytes": cut_low(low),
            "max_bytes": end,
            "min_tight": tight["min_tight"] and len(low) <= LONGEST,
            "max_tight": tight["max_tight"] and len(high) <= LONGEST,
        }

    def _whole(self, low: int, high: int, tight: "_Fields") -> "_Fields":
        if self.stated.physical.annotation in {"Timestamp", "Time"}:
            nanos = _NANOS[self.stated.physical.unit]
            tight = {
                "min_tight": tight["min_tight"] and low * nanos % _MICRO == 0,
                "max_tight": tight["max_tight"] and high * nanos % _MICRO == 0,
            }
            low, high = low * nanos // _MICRO, -(-high * nanos // _MICRO)
        if not -_LONG <= low <= high < _LONG:
            return {}
        return tight | {"min_int": low, "max_int": high}


_Found = tuple[PageBounds, PageLocations]
_Fields = dict[str, Any]
"""Fields of a row, by name."""


def _is_whole(bound: Any, said: Sequence[bool | None] | None, page: int) -> bool:
    """Whether a page's bound is a value: texts may have been cut off, and only headers say."""
    exact = None if said is None else said[page]
    if exact is not None:
        return exact
    return not isinstance(bound, bytes) or len(bound) < CUT_FROM
