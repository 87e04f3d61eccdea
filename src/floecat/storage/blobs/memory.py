"""BlobStore in this process's memory: for tests, and for services that need not remember."""

import hashlib
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import BinaryIO, Final

from floecat.clock import Clock, utc_now
from floecat.errors import InvalidArgumentError, NotFoundError
from floecat.storage.blobs.cache import BlobCache
from floecat.storage.blobs.names import check_listing, checked_name
from floecat.storage.blobs.pending import PendingBlob, taken
from floecat.storage.blobs.port import BlobInfo, BlobRef, BlobWriter
from floecat.storage.blobs.stream import changed, checked_range, clipped, open_stream

_SCHEME: Final = "memory:"
_CACHE_BYTES: Final = 1024**3


@dataclass(frozen=True, slots=True)
class _Blob:
    content: bytes
    modified_at: datetime


class MemoryBlobStore:
    """Blobs in a dict behind one lock."""

    def __init__(self, *, clock: Clock = utc_now) -> None:
        self._clock = clock
        self._lock = Lock()
        self._blobs: dict[str, _Blob] = {}
        self._cache: BlobCache | None = None
        self._forget_cache: Callable[[], object] = lambda: None

    @contextmanager
    def writer(self, name: str) -> Iterator[BlobWriter]:
        checked_name(name)
        content = bytearray()
        pending = PendingBlob(content.extend)
        yield pending
        ref = pending.measured(_SCHEME + name)
        with self._lock:
            held = self._blobs.setdefault(name, _Blob(bytes(content), self._clock()))
        if hashlib.sha256(held.content).hexdigest() != ref.sha256:
            raise taken(name)
        pending.committed(ref)

    def open(self, ref: BlobRef) -> BinaryIO:
        content = self._content(ref)
        return open_stream(ref, lambda offset, length: content[offset : offset + length])

    def read(self, ref: BlobRef, *, offset: int = 0, length: int | None = None) -> bytes:
        start, count = clipped(ref, offset, length)
        return checked_range(ref, count, self._content(ref)[start : start + count])

    def list(self, prefix: str = "", *, after: str | None = None, limit: int) -> Sequence[BlobInfo]:
        check_listing(prefix, after, limit)
        with self._lock:
            names = sorted(
                name
                for name in self._blobs
                if name.startswith(prefix) and (after is None or name > after)
            )
            return [self._info(name) for name in names[:limit]]

    def delete(self, name: str) -> bool:
        checked_name(name)
        with self._lock:
            return self._blobs.pop(name, None) is not None

    def materialize(self, ref: BlobRef) -> BinaryIO:
        with self._lock:
            if self._cache is None:
                folder = Path(tempfile.mkdtemp(prefix="floecat-blobs-"))
                # Goes with the store, closed or not: there is nothing in it but copies.
                self._forget_cache = weakref.finalize(self, shutil.rmtree, folder, True)
                self._cache = BlobCache(folder, _CACHE_BYTES)
        return self._cache.materialize(ref, self.open)

    def close(self) -> None:
        with self._lock:
            self._forget_cache()
            self._cache = None

    def _content(self, ref: BlobRef) -> bytes:
        if not ref.uri.startswith(_SCHEME):
            raise InvalidArgumentError(f"{ref.uri} isn't in this store")
        with self._lock:
            blob = self._blobs.get(checked_name(ref.uri.removeprefix(_SCHEME)))
        if blob is None:
            raise NotFoundError(f"there is no blob {ref.uri}")
        if len(blob.content) != ref.size:
            raise changed(ref)
        return blob.content

    def _info(self, name: str) -> BlobInfo:
        blob = self._blobs[name]
        return BlobInfo(name, _SCHEME + name, len(blob.content), blob.modified_at)
