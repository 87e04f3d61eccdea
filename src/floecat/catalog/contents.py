"""Resources taken out of their records still serialized, for answers that pass them on."""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ai.floedb.floecat.catalog.stored_pb2 import SerializedPage, StoredResource
from ai.floedb.floecat.common.common_pb2 import BlobReference
from floecat.catalog.paging import MAX_PAGE_BYTES, fitting
from floecat.storage.kv.port import Record

_KNOWN_BYTES: Final = 16 * 1024 * 1024
_ENTRY_BYTES: Final = 100
"""About what Python's own objects around a value take."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The first of some records, framed as they lie in an answer."""

    framed: bytes
    count: int
    """How many records that is; those behind didn't fit."""


class _Made(NamedTuple):
    """What rows are made of."""

    values: tuple[bytes, ...]
    appended: bytes


class Contents:
    """Unwraps values, and remembers the rows it made of them.

    Rows depend on the bytes they are made of alone, so nothing remembered here can be outdated.
    """

    def __init__(self, read_blob: Callable[[BlobReference], bytes]) -> None:
        self._read_blob = read_blob
        self._known: dict[_Made, Rows] = {}
        self._known_bytes = 0
        self._remembering = threading.Lock()

    def live(self, records: Iterable[Record | None]) -> list[bytes]:
        """The resource of each record; nothing for what isn't there or is being deleted.

        Ends behind the first that doesn't fit an answer any more: nobody would look at the rest.
        """
        contents = []
        size = 0
        for record in records:
            contents.append(self._unwrapped(record.value) if record else b"")
            size += len(contents[-1])
            if size > MAX_PAGE_BYTES and size > len(contents[-1]):
                break
        return contents

    def rows(self, records: Sequence[Record | None], appended: bytes) -> Rows:
        """The live ones, each with something appended, up to what fits an answer."""
        made = _Made(tuple([record.value if record else b"" for record in records]), appended)
        known = self._known.get(made)
        if known is not None:
            return known
        contents = [content and content + appended for content in self.live(records)]
        count = fitting([len(content) for content in contents])
        rows = Rows(framed(contents[:count]), count)
        self._remember(made, rows)
        return rows

    def _remember(self, made: _Made, rows: Rows) -> None:
        size = len(rows.framed) + sum(map(len, made.values)) + _ENTRY_BYTES * len(made.values)
        if size > _KNOWN_BYTES:
            return
        with self._remembering:
            if self._known_bytes + size > _KNOWN_BYTES:
                self._known.clear()
                self._known_bytes = 0
            self._known[made] = rows
            self._known_bytes += size

    def _unwrapped(self, value: bytes) -> bytes:
        stored = StoredResource.FromString(value)
        if stored.deleting:
            return b""
        return self._read_blob(stored.spilled) if stored.HasField("spilled") else stored.resource


def framed(contents: Iterable[bytes]) -> bytes:
    """Rows as they lie in the answer of any listing, whose first field they are."""
    return SerializedPage(rows=[content for content in contents if content]).SerializeToString()
