"""The page index of a column chunk: where its pages are, and what lies between which bounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from floecat.capture.parquet.errors import MalformedParquetError
from floecat.capture.parquet.thrift import read_struct

_MOST: Final = (1 << 63) - 1
"""Files count in words of eight bytes with a sign; thrift has longer numbers."""
_ORDERS: Final = frozenset({0, 1, 2})


@dataclass(frozen=True, slots=True)
class PageLocations:
    """Per page: where it is, how long it is, and which row is its first."""

    offsets: Sequence[int]
    sizes: Sequence[int]
    first_rows: Sequence[int]

    def __len__(self) -> int:
        return len(self.offsets)


@dataclass(frozen=True, slots=True)
class PageBounds:
    """Per page: whether all of it is null, bounds as the file encodes them, and null counts."""

    null_pages: Sequence[bool]
    minimums: Sequence[bytes | None]
    maximums: Sequence[bytes | None]
    boundary_order: int
    """0 unordered, 1 ascending, 2 descending."""
    null_counts: Sequence[int | None] | None
    nan_counts: Sequence[int | None] | None
    min_exact: Sequence[bool | None] | None = None
    """Whether bounds are values. Page indexes don't say, and not every header does."""
    max_exact: Sequence[bool | None] | None = None

    def __len__(self) -> int:
        return len(self.null_pages)


def parse_locations(content: bytes) -> PageLocations:
    """Read an offset index. Raises `MalformedParquetError`."""
    read = read_struct(content)
    try:
        pages = read[1]
        offsets = [natural(page[1]) for page in pages]
        sizes = [natural(page[2]) for page in pages]
        rows = [natural(page[3]) for page in pages]
    except (LookupError, TypeError, AttributeError) as error:
        raise MalformedParquetError("an offset index isn't whole") from error
    if rows[:1] not in ([], [0]) or any(later < row for row, later in pairwise(rows)):
        raise MalformedParquetError("the pages of an offset index aren't in order")
    return PageLocations(offsets, sizes, rows)


def parse_bounds(content: bytes) -> PageBounds:
    """Read a column index. Raises `MalformedParquetError`."""
    read = read_struct(content)
    try:
        bounds = PageBounds(
            null_pages=[bool(flag) for flag in read[1]],
            minimums=[_binary(bound) for bound in read[2]],
            maximums=[_binary(bound) for bound in read[3]],
            boundary_order=_order(read.get(4, 0)),
            null_counts=_naturals(read.get(5)),
            nan_counts=_naturals(read.get(8)),
        )
    except (LookupError, TypeError) as error:
        raise MalformedParquetError("a column index isn't whole") from error
    lists = (bounds.minimums, bounds.maximums, bounds.null_counts, bounds.nan_counts)
    if any(part is not None and len(part) != len(bounds) for part in lists):
        raise MalformedParquetError("the lists of a column index aren't of one length")
    return bounds


def _binary(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise MalformedParquetError(f"{value!r} is no bound")
    return value


def natural(value: object) -> int:
    """A count or a place. Raises `MalformedParquetError` if it is none."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST:
        raise MalformedParquetError(f"{value!r} is no count")
    return value


def _order(value: object) -> int:
    if value not in _ORDERS:
        raise MalformedParquetError(f"{value!r} is no order of pages")
    return natural(value)


def _naturals(values: object) -> list[int] | None:
    return [natural(value) for value in values] if isinstance(values, list) else None
