"""Verified local copies of blobs, to be mapped into memory: bounded in bytes, oldest use out first.

Copies are named by their hash, so several stores and processes may share a folder.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final
from uuid import uuid4

from floecat.errors import ResourceExhaustedError
from floecat.storage.blobs.port import BlobRef
from floecat.storage.blobs.stream import changed

_CHUNK_BYTES: Final = 1024 * 1024
_UNFINISHED: Final = ".unfinished"
_STRIPES: Final = 256


class BlobCache:
    """A folder of copies. Methods may be called from any thread."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._fetching = [threading.Lock() for _ in range(_STRIPES)]
        self._sizes: OrderedDict[str, int] = OrderedDict()  # least recently used first
        self._verified: set[str] = set()
        folder.mkdir(parents=True, exist_ok=True)
        self._adopt()

    def materialize(self, ref: BlobRef, open_blob: Callable[[BlobRef], BinaryIO]) -> Path:
        """The copy of a blob, made if there is none."""
        if ref.size > self._max_bytes:
            raise ResourceExhaustedError(
                f"{ref.uri} has {ref.size} bytes, the cache {self._folder} takes {self._max_bytes}"
            )
        # One thread copies a blob, the others wait for it (and, rarely, for an unrelated one).
        with self._fetching[int(ref.sha256[:4], 16) % _STRIPES]:
            if not self._is_sound(ref):
                self._copy(ref, open_blob)
        return self._path(ref.sha256)

    def _adopt(self) -> None:
        """Take over what an earlier process left; its content is checked at its first use."""
        found = []
        for path in self._folder.iterdir():
            if path.suffix == _UNFINISHED:
                path.unlink(missing_ok=True)
            else:
                found.append((path.stat().st_mtime, path.name, path.stat().st_size))
        for _, name, size in sorted(found):
            self._sizes[name] = size
        with self._lock:
            self._make_room(0)

    def _is_sound(self, ref: BlobRef) -> bool:
        with self._lock:
            known = ref.sha256 in self._sizes and self._path(ref.sha256).exists()
            if known:
                self._sizes.move_to_end(ref.sha256)
                if ref.sha256 in self._verified:
                    return True
        if not known or _file_digest(self._path(ref.sha256)) != ref.sha256:
            return False
        with self._lock:
            self._verified.add(ref.sha256)
        return True

    def _copy(self, ref: BlobRef, open_blob: Callable[[BlobRef], BinaryIO]) -> None:
        with self._lock:
            self._forget(ref.sha256)
            self._make_room(ref.size)
        unfinished = self._folder / f"{uuid4().hex}{_UNFINISHED}"
        try:
            digest = hashlib.sha256()
            with open_blob(ref) as source, unfinished.open("wb") as target:
                while chunk := source.read(_CHUNK_BYTES):
                    digest.update(chunk)
                    target.write(chunk)
            if digest.hexdigest() != ref.sha256:
                raise changed(ref)
            unfinished.rename(self._path(ref.sha256))
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
        with self._lock:
            self._make_room(ref.size)  # again: others may have finished meanwhile
            self._sizes[ref.sha256] = ref.size
            self._verified.add(ref.sha256)

    def _make_room(self, size: int) -> None:
        while self._sizes and sum(self._sizes.values()) + size > self._max_bytes:
            self._forget(next(iter(self._sizes)))

    def _forget(self, sha256: str) -> None:
        """Drop a copy. Whoever has it open or mapped keeps it until they let go."""
        self._sizes.pop(sha256, None)
        self._verified.discard(sha256)
        self._path(sha256).unlink(missing_ok=True)

    def _path(self, sha256: str) -> Path:
        return self._folder / sha256


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
