"""The footer of a parquet file, as far as pyarrow keeps it to itself."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from floecat.capture.parquet.thrift import CompactReader, MalformedThriftError, Struct

MAGIC: Final = b"PAR1"
_TAIL: Final = 8
_MAX_FOOTER: Final = 256 * 1024 * 1024
_DATA_PAGES: Final = frozenset({0, 3})
_DICTIONARY_PAGE: Final = 2
_DICTIONARY_ENCODINGS: Final = frozenset({2, 8})
"""PLAIN_DICTIONARY and RLE_DICTIONARY."""


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes of a file."""

    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class ChunkDetails:
    """What a column chunk's metadata says besides what pyarrow tells."""

    column_index: Span | None
    offset_index: Span | None
    only_dictionary: bool
    """Every data page refers to the dictionary, so the dictionary has every value there is."""
    min_exact: bool | None
    """None: the writer doesn't say."""
    max_exact: bool | None
    unencoded_bytes: int | None
    """Of all values of a byte array, without lengths."""


@dataclass(frozen=True, slots=True)
class FooterDetails:
    """Details per row group and leaf, in the order of the file."""

    row_groups: Sequence[Sequence[ChunkDetails]]
    length: int
    """The bytes that were read."""


def read_footer(file: pa.NativeFile, size: int) -> bytes:
    """The serialized footer. Raises `MalformedThriftError` when the file isn't parquet."""
    if size < _TAIL + len(MAGIC):
        raise MalformedThriftError(f"{size} bytes are too few for a parquet file")
    tail = bytes(file.read_at(_TAIL, size - _TAIL))
    if len(tail) != _TAIL or tail[4:] != MAGIC:
        kind = "an encrypted" if tail[4:] == b"PARE" else "no"
        raise MalformedThriftError(f"it is {kind} parquet file: it ends in {tail[4:]!r}")
    (length,) = struct.unpack("<I", tail[:4])
    if length > min(size - _TAIL, _MAX_FOOTER):
        raise MalformedThriftError(f"its footer is said to have {length} bytes, and it has {size}")
    return bytes(file.read_at(length, size - _TAIL - length))


def parse_footer(content: bytes) -> FooterDetails:
    """What the footer says. Raises `MalformedThriftError`."""
    metadata = CompactReader(content).read_struct()
    try:
        groups = tuple(
            tuple(_chunk(chunk) for chunk in group.get(1, ())) for group in metadata.get(4, ())
        )
    except (AttributeError, TypeError, KeyError) as error:
        raise MalformedThriftError("the footer's fields aren't of the types they should") from error
    return FooterDetails(groups, len(content))


def _chunk(chunk: Struct) -> ChunkDetails:
    metadata: Struct = chunk.get(3, {})
    statistics: Struct = metadata.get(12, {})
    return ChunkDetails(
        column_index=_span(chunk.get(6), chunk.get(7)),
        offset_index=_span(chunk.get(4), chunk.get(5)),
        only_dictionary=_only_dictionary(metadata.get(13, ())),
        max_exact=_flag(statistics.get(7)),
        min_exact=_flag(statistics.get(8)),
        unencoded_bytes=_count(metadata.get(16, {}).get(1)),
    )


def _span(offset: object, length: object) -> Span | None:
    known = isinstance(offset, int) and isinstance(length, int) and offset >= 0 and length > 0
    return Span(offset, length) if known else None  # type: ignore[arg-type]  # just looked


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _only_dictionary(encodings: Sequence[Struct]) -> bool:
    """Whether the statistics of encodings are there and speak of dictionary-encoded data only."""
    data = [part for part in encodings if part.get(1) in _DATA_PAGES and part.get(3, 0) > 0]
    return bool(data) and all(part.get(2) in _DICTIONARY_ENCODINGS for part in data)
