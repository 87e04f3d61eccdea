"""Records in the order of their keys, in one blob: any of them is found with two small reads.

    [extra | block]…  [table]  [trailer: length of the table, its CRC, a mark]

A block holds records that follow each other; the table says where blocks begin. What only some
readers want of a record (the bytes of sketches) lies beside the blocks as its *extra*. Ranges are
read without the rest of the blob, so each carries a checksum of its own.
"""

import struct
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final, NamedTuple, Protocol

from ai.floedb.floecat.execution.stored_pb2 import (
    SortedBlock,
    SortedEntries,
    SortedEntry,
    SortedTable,
)
from floecat.artifacts.versions import require_version
from floecat.errors import DataLossError
from floecat.storage.blobs.port import BlobRef, BlobStore

FORMAT_VERSION: Final = 1
_BLOCK_BYTES: Final = 64 * 1024
_MARK: Final = b"FLSR"
_TRAILER: Final = struct.Struct("<II4s")


class SortedRecord(NamedTuple):
    """A record under its key."""

    key: str
    record: bytes
    extra: bytes = b""


class Sink(Protocol):
    """Where bytes go."""

    def write(self, data: bytes) -> object: ...


def write_sorted(sink: Sink, records: Iterable[SortedRecord]) -> int:
    """Write records whose keys rise; how many there were."""
    writing = _Writing(sink)
    for record in records:
        writing.add(record)
    return writing.finish()


class _Writing:
    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._offset = 0
        self._last = ""
        self._block = SortedEntries()
        self._size = 0
        self._table = SortedTable(format_version=FORMAT_VERSION)

    def add(self, record: SortedRecord) -> None:
        if self._table.records and record.key <= self._last:
            raise ValueError(f"{record.key!r} doesn't come behind {self._last!r}")
        entry = SortedEntry(key=record.key, record=record.record)
        if record.extra:
            entry.extra_offset, entry.extra_length = self._offset, len(record.extra)
            entry.extra_crc32 = zlib.crc32(record.extra)
            self._write(record.extra)
        self._block.entries.append(entry)
        self._last = record.key
        self._table.records += 1
        self._size += len(record.key) + len(record.record)
        if self._size >= _BLOCK_BYTES:
            self._flush()

    def finish(self) -> int:
        self._flush()
        table = self._table.SerializeToString()
        self._write(table)
        self._write(_TRAILER.pack(len(table), zlib.crc32(table), _MARK))
        return self._table.records

    def _flush(self) -> None:
        if not self._block.entries:
            return
        content = self._block.SerializeToString()
        self._table.blocks.append(
            SortedBlock(
                first_key=self._block.entries[0].key,
                offset=self._offset,
                length=len(content),
                crc32=zlib.crc32(content),
                records=len(self._block.entries),
            )
        )
        self._write(content)
        self._block, self._size = SortedEntries(), 0

    def _write(self, content: bytes) -> None:
        self._sink.write(content)
        self._offset += len(content)


class SortedRecords:
    """Sorted records, opened for reading."""

    def __init__(self, source: "_Source") -> None:
        self._source = source

    @classmethod
    def in_blob(cls, blobs: BlobStore, ref: BlobRef) -> "SortedRecords":
        """Records in a blob. Only what is asked for is read."""
        return cls(_Blob(blobs, ref))

    @classmethod
    def in_memory(cls, content: bytes) -> "SortedRecords":
        """Records at hand."""
        return cls(_Bytes(content))

    def __len__(self) -> int:
        return self._table.records

    def find(self, key: str) -> SortedEntry | None:
        """The record of a key."""
        found = next(self.entries(after=None, start=key), None)
        return found if found is not None and found.key == key else None

    def entries(self, after: str | None = None, start: str = "") -> Iterator[SortedEntry]:
        """Records behind a key, and not before another, in order."""
        seek = start if after is None else max(after, start)
        for number in range(max(0, bisect_right(self._first_keys, seek) - 1), len(self._blocks)):
            for entry in self._block(number).entries:
                if entry.key >= start and (after is None or entry.key > after):
                    yield entry

    def read_extra(self, entry: SortedEntry) -> bytes:
        """What belongs to a record besides; empty if nothing does."""
        if not entry.extra_length:
            return b""
        return self._read(entry.extra_offset, entry.extra_length, entry.extra_crc32)

    @cached_property
    def _table(self) -> SortedTable:
        size = self._source.size
        if size < _TRAILER.size:
            raise DataLossError(f"{self._source.name} is too short for sorted records")
        trailer = self._source.read(size - _TRAILER.size, _TRAILER.size)
        length, crc32, mark = _TRAILER.unpack(trailer)
        if mark != _MARK or length > size - _TRAILER.size:
            raise DataLossError(f"{self._source.name} doesn't end as sorted records do")
        table = SortedTable.FromString(self._read(size - _TRAILER.size - length, length, crc32))
        require_version(self._source.name, table.format_version, FORMAT_VERSION)
        return table

    @cached_property
    def _blocks(self) -> list[SortedBlock]:
        return list(self._table.blocks)

    @cached_property
    def _first_keys(self) -> list[str]:
        return [block.first_key for block in self._blocks]

    def _block(self, number: int) -> SortedEntries:
        block = self._blocks[number]
        return SortedEntries.FromString(self._read(block.offset, block.length, block.crc32))

    def _read(self, offset: int, length: int, crc32: int) -> bytes:
        content = self._source.read(offset, length)
        if zlib.crc32(content) != crc32:
            raise DataLossError(f"{self._source.name} isn't what was written, at byte {offset}")
        return content


class _Source(Protocol):
    """Bytes of which some can be read."""

    @property
    def name(self) -> str: ...
    @property
    def size(self) -> int: ...
    def read(self, offset: int, length: int) -> bytes: ...


class _Blob:
    def __init__(self, blobs: BlobStore, ref: BlobRef) -> None:
        self._blobs = blobs
        self._ref = ref
        self.name = ref.uri
        self.size = ref.size

    def read(self, offset: int, length: int) -> bytes:
        return self._blobs.read(self._ref, offset=offset, length=length)


class _Bytes:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self.name = "a record"
        self.size = len(content)

    def read(self, offset: int, length: int) -> bytes:
        return self._content[offset : offset + length]
