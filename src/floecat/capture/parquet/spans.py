"""FileSpans: parts of a file by their place, in few requests.

Far away asking takes longer than reading: of a file's end more is read than was asked for, and what
lies close together is read in one go.
"""

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import pyarrow as pa

from floecat.capture.parquet.thrift import MalformedThriftError

_TAIL: Final = 64 * 1024
"""The end of a file: the footer of most, and often their page indexes too."""
_GAP: Final = 64 * 1024
_MOST_HELD: Final = 32 * 1024 * 1024


class Span(NamedTuple):
    """Bytes of a file."""

    offset: int
    length: int

    @property
    def end(self) -> int:
        """The place after the last."""
        return self.offset + self.length

    def holds(self, other: "Span") -> bool:
        """Whether the other is a part of it."""
        return self.offset <= other.offset and other.end <= self.end


class FileSpans:
    """Reads parts of one file."""

    def __init__(self, file: pa.NativeFile, size: int, *, is_far: bool = False) -> None:
        self._file = file
        self._gap = _GAP if is_far else 0
        self._whole = Span(0, size)
        self._held: list[tuple[Span, bytes]] = []
        """In order."""
        self.bytes_read = 0
        if is_far:
            tail = min(size, _TAIL)
            self._hold(Span(size - tail, tail))

    def expect(self, spans: Iterable[Span]) -> None:
        """Read what will be wanted soon, unless it is too much to remember."""
        new = {span for span in spans if self._whole.holds(span) and self._find(span) is None}
        ranges = list(_merged(sorted(new), self._gap))
        if sum(span.length for span in ranges) <= _MOST_HELD:
            for span in ranges:
                self._hold(span)

    def read(self, span: Span) -> bytes:
        """Some bytes. Raises `MalformedThriftError` where the file has none."""
        if not self._whole.holds(span):
            raise MalformedThriftError(
                f"{span.length} bytes should be at {span.offset}, and aren't"
            )
        held = self._find(span)
        return self._read(span) if held is None else held

    def _find(self, span: Span) -> bytes | None:
        """What is held of it by the range that begins last before it."""
        place = bisect_right(self._held, span.offset, key=lambda held: held[0].offset) - 1
        if place < 0 or not self._held[place][0].holds(span):
            return None
        held, content = self._held[place]
        return content[span.offset - held.offset : span.end - held.offset]

    def _hold(self, span: Span) -> None:
        insort(self._held, (span, self._read(span)))

    def _read(self, span: Span) -> bytes:
        content = bytes(self._file.read_at(span.length, span.offset))
        self.bytes_read += len(content)
        return content


def _merged(spans: Iterable[Span], gap: int) -> Iterator[Span]:
    """Those that lie close together as one; they come in order."""
    last: Span | None = None
    for span in spans:
        if last is not None and span.offset <= last.end + gap:
            last = Span(last.offset, max(last.end, span.end) - last.offset)
            continue
        if last is not None:
            yield last
        last = span
    if last is not None:
        yield last
