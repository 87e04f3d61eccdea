"""The rows of a sidecar, from what a file says of its row groups and pages."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, TypeVar

from floecat.artifacts.sidecars import PageRow, RowBounds
from floecat.capture.bounding import StatedColumn
from floecat.capture.learning.cutting import CUT_FROM
from floecat.capture.parquet.errors import MalformedParquetError
from floecat.capture.parquet.footers import ChunkDetails
from floecat.capture.parquet.headers import WalkedChunk, walk_pages
from floecat.capture.parquet.pages import PageBounds, PageLocations, parse_bounds, parse_locations
from floecat.capture.row_bounds import UNBOUNDED, typed_bounds

T = TypeVar("T")


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
            **typed_bounds(stated.physical, (low, high), tight)._asdict(),
        )

    def _pages(self, group: int, row_count: int) -> Iterator[PageRow]:
        found = self._looked.pop(group) if group in self._looked else self._find(group)
        if found is None:
            self.groups_without_pages.add(group)
            return
        bounds, places = found
        self.pages += len(places)
        column_id = self.stated.column.column_id
        first_row = self.first_rows[group]
        order = bounds.boundary_order
        counted = zip(
            places.first_rows,
            [*places.first_rows[1:], row_count],
            _or_unknown(None if self.stated.leaf.repeated else bounds.null_counts),
            _or_unknown(bounds.nan_counts),
            strict=False,
        )
        lying = zip(places.offsets, places.sizes, strict=True)
        rows = zip(counted, self._bounds(bounds), lying, strict=True)
        for page, ((first, end, nulls, nans), typed, (offset, size)) in enumerate(rows):
            yield PageRow(  # in the order of its fields: names would take half the time again
                column_id,
                group,
                page,
                first_row + first,
                end - first,
                nulls,
                nans,
                *typed,
                offset,
                size,
                order,
            )

    def _bounds(self, found: PageBounds) -> Iterator[RowBounds]:
        physical = self.stated.physical
        read = physical.read
        # Bounds say little in a file that doesn't say how they compare.
        ordered = self.stated.source.footer.ordered
        rows = zip(
            found.null_pages,
            found.minimums,
            found.maximums,
            _or_unknown(found.min_exact),
            _or_unknown(found.max_exact),
            strict=False,
        )
        for no_value, minimum, maximum, min_exact, max_exact in rows:
            if no_value or not ordered:
                yield UNBOUNDED
                continue
            low, high = read(minimum), read(maximum)
            tight = _is_whole(low, min_exact), _is_whole(high, max_exact)
            yield typed_bounds(physical, (low, high), tight)

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
        return (bounds, places) if self._fits(bounds, places, rows) else None

    def _fits(self, bounds: PageBounds, places: PageLocations, rows: int) -> bool:
        """Whether a page index can be one of a row group of so many rows."""
        if not len(places) or len(bounds) != len(places) or places.first_rows[-1] > rows:
            return False
        ends = [*places.first_rows[1:], rows]
        nulls = None if self.stated.leaf.repeated else bounds.null_counts
        pages = zip(places.first_rows, ends, nulls or (), strict=False)
        return all(null <= end - first for first, end, null in pages if null is not None)

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


_Found = tuple[PageBounds, PageLocations]


def _or_unknown(known: Sequence[T] | None) -> Iterable[T | None]:
    """As many as are asked for, if nothing is known."""
    return repeat(None) if known is None else known


def _is_whole(bound: Any, said: bool | None) -> bool:
    """Whether a page's bound is a value: texts may have been cut off, and only headers say."""
    if said is not None:
        return said
    return not isinstance(bound, bytes) or len(bound) < CUT_FROM
