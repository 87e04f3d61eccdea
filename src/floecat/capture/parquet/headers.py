"""The pages of a column chunk, by the headers in front of them: for want of a page index.

A header says how long its page is, so the next one is found without reading what lies between.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final, NamedTuple

from floecat.capture.parquet.errors import MalformedParquetError
from floecat.capture.parquet.pages import PageBounds, PageLocations, natural
from floecat.capture.parquet.spans import Span
from floecat.capture.parquet.thrift import Struct, Wanted, read_struct_at

_DATA: Final = 0
_DATA_V2: Final = 3
_SHORT: Final = 128
"""Most headers are shorter; those with bounds of texts mostly aren't."""
_LONGEST: Final = 64 * 1024
_MOST_PAGES: Final = 1 << 16
"""Of a chunk. Writers make some dozens; whoever makes more than this has no readers in mind."""
_MOST_BYTES: Final = 32 * 1024 * 1024
"""Of a chunk's headers, whose bounds are kept until the chunk has been walked."""
_STATISTICS: Final[Wanted] = dict.fromkeys((3, 5, 6, 7, 8, 9))
_WANTED: Final[Wanted] = {
    1: None,
    3: None,
    5: {1: None, 5: _STATISTICS},
    8: {1: None, 2: None, 3: None, 8: _STATISTICS},
}


@dataclass(frozen=True, slots=True)
class WalkedChunk:
    """What the footer says of a chunk. If its pages don't come to that, they aren't believed."""

    place: Span
    row_count: int
    value_count: int


class _Page(NamedTuple):
    place: Span
    """Its header is a part of it, as offset indexes have it."""
    row_count: int
    value_count: int
    null_count: int | None
    nan_count: int | None
    statistics: Struct


def walk_pages(
    chunk: WalkedChunk, read: Callable[[Span], bytes]
) -> tuple[PageBounds, PageLocations]:
    """What a page index would say. Raises `MalformedParquetError` if the headers don't tell."""
    pages = list(_pages(chunk, read))
    rows = sum(page.row_count for page in pages)
    values = sum(page.value_count for page in pages)
    if (rows, values) != (chunk.row_count, chunk.value_count):
        raise MalformedParquetError(
            f"pages have {rows} rows and {values} values, "
            f"and their chunk {chunk.row_count} and {chunk.value_count}"
        )
    places = PageLocations(
        [page.place.offset for page in pages],
        [page.place.length for page in pages],
        [0, *accumulate(page.row_count for page in pages)][: len(pages)],
    )
    return _bounds(pages), places


def _bounds(pages: list[_Page]) -> PageBounds:
    stated = [page.statistics for page in pages]
    return PageBounds(
        null_pages=[page.null_count == page.value_count for page in pages],
        minimums=[_of_type(bytes, statistics.get(6)) for statistics in stated],
        maximums=[_of_type(bytes, statistics.get(5)) for statistics in stated],
        boundary_order=0,
        null_counts=[page.null_count for page in pages],
        nan_counts=[page.nan_count for page in pages],
        min_exact=[_of_type(bool, statistics.get(8)) for statistics in stated],
        max_exact=[_of_type(bool, statistics.get(7)) for statistics in stated],
    )


def _pages(chunk: WalkedChunk, read: Callable[[Span], bytes]) -> Iterator[_Page]:
    """The data pages. The dictionary, and whatever else there may be, is passed over."""
    at, end = chunk.place.offset, chunk.place.end
    headers = _Headers(chunk.place, read)
    taken = 0
    for _ in range(_MOST_PAGES):
        if at == end:
            return
        header, start = headers.find(at)
        taken += start - at
        if taken > _MOST_BYTES:
            raise MalformedParquetError(f"headers of a chunk have more than {_MOST_BYTES} bytes")
        try:
            after = start + natural(header[3])
            if after > end:
                raise MalformedParquetError("a page is longer than its chunk")
            place = Span(at, after - at)
            page = _page(place, header)
        except (LookupError, TypeError, AttributeError) as error:
            raise MalformedParquetError("a page's header isn't whole") from error
        if page is not None:
            yield page
        at = after
    raise MalformedParquetError(f"a chunk has more than {_MOST_PAGES} pages")


class _Headers:
    """Finds headers. Those of short pages lie side by side, and are read together."""

    def __init__(self, chunk: Span, read: Callable[[Span], bytes]) -> None:
        self._chunk = chunk
        self._read = read
        self._start = chunk.offset
        self._window = b""
        self._usual = _SHORT
        """Bytes that were enough so far."""

    def find(self, at: int) -> tuple[Struct, int]:
        """The header at a place, and where it ends: nothing says that before it has been read."""
        size = 0
        if at >= self._start + len(self._window):
            size = self._load(at, self._usual)
        while True:
            try:
                found, end = read_struct_at(self._window, at - self._start, _WANTED)
            except MalformedParquetError:
                if size >= min(_LONGEST, self._chunk.end - at):
                    raise
                size = self._load(at, size * 2 or self._usual)
            else:
                self._usual = max(self._usual, size)
                return found, self._start + end

    def _load(self, at: int, size: int) -> int:
        self._start = at
        self._window = self._read(Span(at, min(size, self._chunk.end - at)))
        return size


def _page(place: Span, header: Struct) -> _Page | None:
    """None if it has no data."""
    if header[1] == _DATA:
        said: Struct = header[5]
        # It doesn't count rows. Each has a value at least, if only a null in place of its list: so
        # these are right for all pages of a chunk, or are more than its rows in the end.
        rows = values = natural(said[1])
        statistics: Struct = said.get(5, {})
        nulls = statistics.get(3)
    elif header[1] == _DATA_V2:
        said = header[8]
        values, nulls, rows = natural(said[1]), natural(said[2]), natural(said[3])
        statistics = said.get(8, {})
    else:
        return None
    if rows > values:
        raise MalformedParquetError(f"a page has {rows} rows, and {values} values for them")
    nans = statistics.get(9)
    return _Page(place, rows, values, _part(nulls, values), _part(nans, values), statistics)


def _part(count: object, whole: int) -> int | None:
    """How many of some values, if that is known."""
    if count is None:
        return None
    found = natural(count)
    if found > whole:
        raise MalformedParquetError(f"{found} of {whole} values can't be")
    return found


def _of_type(kind: type, value: object) -> Any:
    return value if isinstance(value, kind) else None
