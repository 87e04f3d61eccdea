"""The footer of a parquet file, read here: pyarrow keeps much of it to itself.

And of a damaged one, pyarrow's way of telling a chunk's statistics ends the process.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from floecat.capture.parquet.errors import MalformedParquetError
from floecat.capture.parquet.pages import natural
from floecat.capture.parquet.spans import FileSpans, Span
from floecat.capture.parquet.thrift import RAW, Struct, Wanted, read_struct, read_structs
from floecat.connectors.spi.parquet import LeafFooter, ParquetFooterStats

MAGIC: Final = b"PAR1"
_TAIL: Final = 8
_MAX_FOOTER: Final = 64 * 1024 * 1024
_DATA_PAGES: Final = frozenset({0, 3})
_DICTIONARY_ENCODINGS: Final = frozenset({2, 8})
"""PLAIN_DICTIONARY and RLE_DICTIONARY."""
_SIGNED: Final = frozenset({0, 1, 2, 4, 5})
"""BOOLEAN, INT32, INT64, FLOAT and DOUBLE: their oldest statistics were right."""
_METADATA: Final[Wanted] = {**dict.fromkeys((1, 5, 6, 7, 9, 11, 12)), 13: RAW}
_CHUNK: Final[Wanted] = {3: _METADATA, 4: None, 5: None, 6: None, 7: None}
_WANTED: Final[Wanted] = {
    1: None,
    2: RAW,
    3: None,
    4: {1: _CHUNK, 3: None},
    5: None,
    7: None,
}
_ARROW_SCHEMA: Final = b"ARROW:schema"


class ChunkDetails(NamedTuple):
    """What a column chunk's metadata says besides counts and bounds."""

    pages: Span | None
    """Where the chunk is."""
    column_index: Span | None
    offset_index: Span | None
    encodings: bytes | None
    """How pages of each sort are encoded, as it is written: only who reads data wants to know."""
    min_exact: bool | None
    """None: the writer doesn't say."""
    max_exact: bool | None
    compressed_bytes: int
    uncompressed_bytes: int
    value_count: int
    """Of a list as many as are in it."""

    @property
    def only_dictionary(self) -> bool:
        """Every data page refers to the dictionary, so the dictionary has every value there is."""
        try:
            return self.encodings is not None and _only_dictionary(read_structs(self.encodings))
        except (AttributeError, TypeError) as error:
            raise MalformedParquetError(
                "encodings of pages aren't of the types they should"
            ) from error


@dataclass(frozen=True, slots=True)
class Footer:
    """Statistics and details per row group and leaf, in the order of the file."""

    schema: bytes
    """Everything that the file's schema is read from: files with the same bytes have the same."""
    statistics: ParquetFooterStats
    row_groups: Sequence[Sequence[ChunkDetails]]
    ordered: bool
    """It says how bounds compare; older writers' may compare otherwise than their type does."""


def read_footer(spans: FileSpans, size: int) -> bytes:
    """The serialized footer. Raises `MalformedParquetError` when the file isn't parquet."""
    if size < _TAIL + len(MAGIC):
        raise MalformedParquetError(f"{size} bytes are too few for a parquet file")
    tail = spans.read(Span(size - _TAIL, _TAIL))
    if len(tail) != _TAIL or tail[4:] != MAGIC:
        kind = "an encrypted" if tail[4:] == b"PARE" else "no"
        raise MalformedParquetError(f"it is {kind} parquet file: it ends in {tail[4:]!r}")
    (length,) = struct.unpack("<I", tail[:4])
    if length > min(size - _TAIL, _MAX_FOOTER):
        raise MalformedParquetError(f"its footer is said to have {length} bytes, and it has {size}")
    return spans.read(Span(size - _TAIL - length, length))


def framed(content: bytes) -> bytes:
    """A footer as the end of a file, and nothing else of it."""
    return MAGIC + content + struct.pack("<I", len(content)) + MAGIC


def parse_footer(content: bytes) -> Footer:
    """What the footer says. Raises `MalformedParquetError`."""
    metadata = read_struct(content, _WANTED)
    try:
        natural(metadata[1]), natural(metadata[3])  # required, though nothing here needs them
        groups = list(_groups(metadata))
        ordered = bool(metadata.get(7))
        stated = [[_stated(chunk, ordered=ordered) for chunk in chunks] for chunks, _ in groups]
        statistics = ParquetFooterStats([rows for _, rows in groups], stated)
        details = [[_details(chunk) for chunk in chunks] for chunks, _ in groups]
        return Footer(_schema(metadata), statistics, details, ordered)
    except (AttributeError, TypeError, LookupError) as error:
        raise MalformedParquetError(
            "the footer's fields aren't of the types they should"
        ) from error


def _groups(metadata: Struct) -> Iterator[tuple[Sequence[Struct], int]]:
    """The chunks and the rows of every row group; as many chunks in each."""
    widths: set[int] = set()
    for group in metadata.get(4, ()):
        chunks = group[1]
        widths.add(len(chunks))
        yield chunks, natural(group[3])
    if len(widths) > 1:
        raise MalformedParquetError("its row groups don't have the same columns")


def _schema(metadata: Struct) -> bytes:
    """The schema as written, and what Arrow's own writers add to say what it was before."""
    pairs = metadata.get(5, ())
    added = [pair.get(2, b"") for pair in pairs if pair.get(1) == _ARROW_SCHEMA]
    written: bytes = metadata[2]
    return b"\0".join([written, *added])


def _stated(chunk: Struct, *, ordered: bool) -> LeafFooter:
    metadata: Struct = chunk[3]
    statistics: Struct = metadata.get(12, {})
    low, high = statistics.get(6), statistics.get(5)
    if not ordered or low is None or high is None:
        old = metadata[1] in _SIGNED
        low, high = (statistics.get(2), statistics.get(1)) if old else (None, None)
    bounded = isinstance(low, bytes) and isinstance(high, bytes)
    return LeafFooter(
        natural(metadata[5]),
        _count(statistics.get(3)),
        low if bounded else None,
        high if bounded else None,
        _count(statistics.get(4)),
        natural(metadata[7]),
    )


def _details(chunk: Struct) -> ChunkDetails:
    metadata: Struct = chunk[3]
    statistics: Struct = metadata.get(12, {})
    return ChunkDetails(
        pages=_span(min(_places(metadata), default=None), metadata[7]),
        column_index=_span(chunk.get(6), chunk.get(7)),
        offset_index=_span(chunk.get(4), chunk.get(5)),
        encodings=metadata.get(13),
        max_exact=_flag(statistics.get(7)),
        min_exact=_flag(statistics.get(8)),
        compressed_bytes=natural(metadata[7]),
        uncompressed_bytes=natural(metadata[6]),
        value_count=natural(metadata[5]),
    )


def _span(offset: object, length: object) -> Span | None:
    known = isinstance(offset, int) and isinstance(length, int) and offset >= 0 and length > 0
    return Span(offset, length) if known else None  # type: ignore[arg-type]  # just looked


def _places(metadata: Struct) -> Iterator[int]:
    """Where the first data page and the dictionary are; not every chunk has one."""
    for number in (9, 11):
        if place := _count(metadata.get(number)):
            yield place


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _count(value: object) -> int | None:
    """A count that may be missing, or be nonsense, which is as good."""
    try:
        return None if value is None else natural(value)
    except MalformedParquetError:
        return None


def _only_dictionary(encodings: Sequence[Struct]) -> bool:
    """Whether the statistics of encodings are there and speak of dictionary-encoded data only."""
    data = [part for part in encodings if part.get(1) in _DATA_PAGES and part.get(3, 0) > 0]
    return bool(data) and all(part.get(2) in _DICTIONARY_ENCODINGS for part in data)
