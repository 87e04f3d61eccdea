"""FileSpans: parts of a file by their place, in few requests.

Far away asking takes longer than reading: of a file's end more is read than was asked for, what
lies close together is read in one go, and several requests are made side by side.
"""

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final, NamedTuple

import pyarrow as pa

from floecat.capture.parquet.errors import MalformedParquetError

_TAIL: Final = 64 * 1024
"""The end of a file: the footer of most, and often their page indexes too."""
_GAP: Final = 64 * 1024
_PIECE: Final = 8 * 1024 * 1024
_AT_ONCE: Final = 8


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

    def pieces(self, size: int) -> Iterator["Span"]:
        """Parts of it, none of them larger."""
        for start in range(self.offset, self.end, size):
            yield Span(start, min(size, self.end - start))


class _Held(NamedTuple):
    span: Span
    content: memoryview


class FileSpans:
    """Reads parts of one file, and holds those that will be wanted soon."""

    def __init__(self, file: pa.NativeFile, size: int, *, is_far: bool = False) -> None:
        self._file = file
        self._is_far = is_far
        self._whole = Span(0, size)
        self._held: list[_Held] = []
        """In order."""
        self.bytes_read = 0
        if is_far:
            tail = min(size, _TAIL)
            self._hold([Span(size - tail, tail)])

    def expect(self, spans: Iterable[Span], most: int) -> None:
        """Hold what will be wanted soon, unless it is more than so many bytes."""
        new = {span for span in spans if self._whole.holds(span) and self._find(span) is None}
        ranges = list(_merged(sorted(new), _GAP if self._is_far else 0))
        if sum(span.length for span in ranges) <= most:
            self._hold(ranges)

    @contextmanager
    def holding(self, spans: Iterable[Span], most: int) -> Iterator[None]:
        """Hold something for a while."""
        before = list(self._held)
        self.expect(spans, most)
        try:
            yield
        finally:
            self._held = before

    def has(self, span: Span) -> bool:
        """Whether all of it is held."""
        return self._find(span) is not None

    def read(self, span: Span) -> bytes:
        """Some bytes. Raises `MalformedParquetError` where the file has none."""
        return bytes(self.view(span))

    def view(self, span: Span) -> memoryview:
        """The same, without a copy of what is held."""
        if not self._whole.holds(span):
            raise MalformedParquetError(
                f"{span.length} bytes should be at {span.offset}, and aren't"
            )
        held = self._find(span)
        if held is not None:
            return held
        self.bytes_read += span.length
        return memoryview(self._asked(span))

    def _find(self, span: Span) -> memoryview | None:
        """What is held of it by the range that begins last before it."""
        place = bisect_right(self._held, span.offset, key=lambda held: held.span.offset) - 1
        if place < 0 or not self._held[place].span.holds(span):
            return None
        held, content = self._held[place]
        return content[span.offset - held.offset : span.end - held.offset]

    def _hold(self, ranges: list[Span]) -> None:
        held = [_Held(span, memoryview(bytearray(span.length))) for span in ranges]
        pieces = [
            (piece, content[piece.offset - span.offset : piece.end - span.offset])
            for span, content in held
            for piece in span.pieces(_PIECE)
        ]

        def fill(part: tuple[Span, memoryview]) -> None:
            part[1][:] = self._asked(part[0])

        if self._is_far and len(pieces) > 1:
            with ThreadPoolExecutor(min(_AT_ONCE, len(pieces))) as threads:
                list(threads.map(fill, pieces))
        else:
            list(map(fill, pieces))
        for part in held:
            self.bytes_read += part.span.length
            insort(self._held, part, key=lambda held: held.span)

    def _asked(self, span: Span) -> bytes:
        content = bytes(self._file.read_at(span.length, span.offset))
        if len(content) != span.length:
            raise MalformedParquetError(f"it ends before {span.end}, though it was longer")
        return content


class SpansFile:
    """A file to read from like any other, of whose bytes some may be held."""

    def __init__(self, spans: FileSpans, size: int) -> None:
        self._spans = spans
        self._size = size
        self._at = 0
        self.closed = False

    def read(self, length: int = -1) -> memoryview:
        """The bytes from here on."""
        left = max(self._size - self._at, 0)
        span = Span(self._at, left if length < 0 else min(length, left))
        self._at = span.end
        return self._spans.view(span) if span.length else memoryview(b"")

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go somewhere else."""
        self._at = (0, self._at, self._size)[whence] + offset
        return self._at

    def tell(self) -> int:
        """Where it is."""
        return self._at

    def close(self) -> None:
        """Be done with it."""
        self.closed = True


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
