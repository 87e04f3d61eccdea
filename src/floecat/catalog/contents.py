"""Resources taken out of their records still serialized, for answers that pass them on."""

import threading
from collections.abc import Callable, Iterable
from typing import Final

from ai.floedb.floecat.catalog.stored_pb2 import StoredResource
from ai.floedb.floecat.common.common_pb2 import BlobReference
from floecat.catalog.paging import MAX_PAGE_BYTES
from floecat.storage.kv.port import Record

_KNOWN_BYTES: Final = 16 * 1024 * 1024
_ENTRY_BYTES: Final = 200
"""About what Python's own objects around an entry take."""


class Contents:
    """Unwraps values, and remembers what came of them.

    What lies in a value depends on its bytes alone, so nothing remembered here can be outdated.
    """

    def __init__(self, read_blob: Callable[[BlobReference], bytes]) -> None:
        self._read_blob = read_blob
        self._known: dict[bytes, bytes] = {}
        self._known_bytes = 0
        self._remembering = threading.Lock()

    def live(self, records: Iterable[Record | None]) -> list[bytes]:
        """The resource of each record; nothing for what isn't there or is being deleted.

        Ends behind the first that doesn't fit an answer any more: nobody would look at the rest.
        """
        known = self._known.get
        contents = []
        size = 0
        for record in records:
            content = b"" if record is None else known(record.value)
            if content is None and record is not None:
                content = self._unwrapped(record.value)
            contents.append(content or b"")
            size += len(contents[-1])
            if size > MAX_PAGE_BYTES and size > len(contents[-1]):
                break
        return contents

    def _unwrapped(self, value: bytes) -> bytes:
        stored = StoredResource.FromString(value)
        if stored.HasField("spilled"):
            return b"" if stored.deleting else self._read_blob(stored.spilled)
        content = b"" if stored.deleting else stored.resource
        with self._remembering:
            if self._known_bytes > _KNOWN_BYTES:
                self._known.clear()
                self._known_bytes = 0
            self._known[value] = content
            self._known_bytes += len(value) + len(content) + _ENTRY_BYTES
        return content
