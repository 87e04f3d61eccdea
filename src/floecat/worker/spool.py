"""Spool: messages of a result, kept to be sent again, in memory while few and on disk when many."""

import threading
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import Final, Generic, TypeVar

from google.protobuf.message import Message

M = TypeVar("M", bound=Message)

_IN_MEMORY: Final = 4 * 1024 * 1024
_LENGTH_BYTES: Final = 8


class Spool(Generic[M]):
    """Written once from start to end, then read any number of times. Any thread may read."""

    def __init__(self, kind: type[M]) -> None:
        self._kind = kind
        self._file = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - closed by its owner
        self._lock = threading.Lock()
        self._size = 0
        self._at = 0
        """Where the file is. Seeking empties its buffer, also to where it is already."""

    def write(self, message: M) -> None:
        """Append a message."""
        data = message.SerializeToString()
        with self._lock:
            self._seek(self._size)
            self._file.write(len(data).to_bytes(_LENGTH_BYTES, "big") + data)
            self._size += _LENGTH_BYTES + len(data)
            self._at = self._size

    def __iter__(self) -> Iterator[M]:
        at = 0
        while at < self._size:
            # A call that was given up may still be reading while the next one does.
            with self._lock:
                self._seek(at)
                length = int.from_bytes(self._file.read(_LENGTH_BYTES), "big")
                data = self._file.read(length)
                at = self._at = at + _LENGTH_BYTES + length
            yield self._kind.FromString(data)

    def _seek(self, place: int) -> None:
        if place != self._at:
            self._file.seek(place)

    def close(self) -> None:
        """Remove it."""
        with self._lock:
            self._size = 0
            self._file.close()
