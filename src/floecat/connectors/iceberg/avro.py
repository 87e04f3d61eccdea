"""Avro container files, block by block. Sizes are checked before anything is believed."""

import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa

from floecat.connectors.iceberg.decoding import Schema, Wanted, records
from floecat.connectors.iceberg.values import read_number

_MAGIC: Final = b"Obj\x01"
_SYNC_BYTES: Final = 16
_MAX_HEADER_BYTES: Final = 64 * 1024 * 1024
_MAX_BLOCK_BYTES: Final = 256 * 1024 * 1024
_READ_BYTES: Final = 1024 * 1024
_NUMBER_BYTES: Final = 10


class AvroFile:
    """A container file that is being read from a stream, a piece at a time."""

    def __init__(self, stream: pa.NativeFile) -> None:
        self._source = _Source(stream)
        if self._source.exactly(len(_MAGIC)) != _MAGIC:
            raise ValueError("it isn't an Avro file")
        self.metadata = self._header()
        self._sync = self._source.exactly(_SYNC_BYTES)
        self._inflate = _codec(self.metadata.get("avro.codec", b"null").decode())
        self.schema: Schema = json.loads(self.metadata["avro.schema"])

    def records(self, fields: Mapping[int, Wanted]) -> Iterator[dict[str, Any]]:
        """The records, with the fields that are wanted."""
        decode = records(self.schema, fields)
        while not self._source.at_end():
            count, size = self._source.number(), self._source.number()
            if not (0 <= size <= _MAX_BLOCK_BYTES):
                raise ValueError(f"an Avro block claims {size} bytes")
            payload = self._inflate(self._source.exactly(size))
            if self._source.exactly(_SYNC_BYTES) != self._sync:
                raise ValueError("an Avro block doesn't end where it should")
            if not 0 <= count <= len(payload):  # no record of ours is without bytes
                raise ValueError(f"an Avro block claims {count} records in {len(payload)} bytes")
            yield from decode(payload, count)

    def _header(self) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        left = _MAX_HEADER_BYTES
        while count := self._source.number():
            if count < 0:
                self._source.number()
            for _ in range(abs(count)):
                key, value = self._sized(left), self._sized(left)
                left -= len(key) + len(value) + 2
                found[key.decode()] = value
        return found

    def _sized(self, limit: int) -> bytes:
        size = self._source.number()
        if not 0 <= size <= limit:
            raise ValueError(f"an Avro header claims an entry of {size} bytes")
        return self._source.exactly(size)


class _Source:
    """A stream with what was read of it beforehand."""

    def __init__(self, stream: pa.NativeFile) -> None:
        self._stream = stream
        self._data = b""
        self._place = 0

    def at_end(self) -> bool:
        if self._place == len(self._data):
            self._fill(1)
        return self._place == len(self._data)

    def exactly(self, size: int) -> bytes:
        end = self._place + size
        if end > len(self._data):
            self._fill(size)
            end = size
            if end > len(self._data):
                raise EOFError("an Avro file ends in the middle")
        found = self._data[self._place : end]
        self._place = end
        return found

    def number(self) -> int:
        if self._place + _NUMBER_BYTES > len(self._data):
            self._fill(_NUMBER_BYTES)
        value, self._place = read_number(self._data, self._place)
        return value

    def _fill(self, size: int) -> None:
        """Have so many bytes at hand, as far as there are any."""
        rest = self._data[self._place :]
        self._data = rest + self._stream.read(max(size - len(rest), _READ_BYTES))
        self._place = 0


def _codec(name: str) -> Callable[[bytes], bytes]:
    match name:
        case "null":
            return bytes
        case "deflate":
            return _deflated
        case "zstandard":
            return _zstandard
        case "snappy":
            return _snappy
        case _:
            raise ValueError(f"Avro's codec {name[:50]!r} isn't known here")


def _deflated(data: bytes) -> bytes:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    return _bounded(inflater.decompress(data, _MAX_BLOCK_BYTES + 1))


def _zstandard(data: bytes) -> bytes:
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        return _bounded(stream.read(_MAX_BLOCK_BYTES + 1))


def _snappy(data: bytes) -> bytes:
    """Snappy has its length in front; Avro puts a checksum behind."""
    size = 0
    for position, byte in enumerate(data[:5]):
        size |= (byte & 0x7F) << (7 * position)
        if byte < 0x80:
            break
    if size > _MAX_BLOCK_BYTES:
        raise ValueError("an Avro block is too large")
    return bytes(pa.Codec("snappy").decompress(data[:-4], size, asbytes=True))


def _bounded(data: bytes) -> bytes:
    if len(data) > _MAX_BLOCK_BYTES:
        raise ValueError("an Avro block is too large")
    return data
