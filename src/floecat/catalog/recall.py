"""Resources decoded from their records, remembered for as long as there is room."""

import threading
from typing import Final, Generic, TypeVar

from google.protobuf.message import Message

from floecat.catalog.codec import Codec, Stored
from floecat.storage.kv.port import Key, Record

M = TypeVar("M", bound=Message)

_ROOM_BYTES: Final = 4 * 1024 * 1024
_ENTRY_BYTES: Final = 1000
"""About what Python's own objects around an entry take."""


class Recall(Generic[M]):
    """Decodes records, and remembers what came of them.

    A version is never repeated for a key, so nothing remembered here can be outdated. What is given
    out is shared by all who ask: it must be copied before it is changed.
    """

    def __init__(self, codec: Codec, message_type: type[M]) -> None:
        self._codec = codec
        self._type = message_type
        self._known: dict[tuple[Key, int], Stored[M]] = {}
        self._known_bytes = 0
        self._remembering = threading.Lock()

    def decoded(self, record: Record) -> Stored[M]:
        """The resource of a record."""
        written = (record.key, record.version)
        stored = self._known.get(written)
        if stored is None:
            stored = self._codec.decode(record, self._type)
            self._remember(written, stored, len(record.value))
        return stored

    def _remember(self, written: tuple[Key, int], stored: Stored[M], encoded_bytes: int) -> None:
        size = encoded_bytes + stored.message.ByteSize() + _ENTRY_BYTES
        if size > _ROOM_BYTES:
            return
        with self._remembering:
            if self._known_bytes + size > _ROOM_BYTES:
                self._known.clear()
                self._known_bytes = 0
            self._known[written] = stored
            self._known_bytes += size
