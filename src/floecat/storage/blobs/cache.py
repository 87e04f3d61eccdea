"""Verified local copies of blobs, to be mapped into memory: bounded in bytes, oldest use out first.

Copies are named by their hash and everything known about them is in the folder, so several stores
and processes may share it. Together they may exceed the bound by what they are copying just then.
"""

import hashlib
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

from floecat.errors import ResourceExhaustedError
from floecat.storage.blobs.files import translated
from floecat.storage.blobs.port import BlobRef
from floecat.storage.blobs.stream import changed
from floecat.storage.blobs.temporaries import Temporary, sweep

_CHUNK_BYTES: Final = 1024 * 1024
_STRIPES: Final = 256


class BlobCache:
    """A folder of copies. Methods may be called from any thread."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder = folder
        self._temporaries = folder / ".tmp"
        self._max_bytes = max_bytes
        self._fetching = [threading.Lock() for _ in range(_STRIPES)]
        self._verified: dict[str, int] = {}  # the inode that was found sound, by hash
        self._unseen = 0  # bytes copied since the folder was last looked through
        self._room = 0
        with translated(f"cache {folder}"):
            self._temporaries.mkdir(parents=True, exist_ok=True)
            sweep(self._temporaries)
            self._make_room()

    def materialize(self, ref: BlobRef, open_blob: Callable[[BlobRef], BinaryIO]) -> BinaryIO:
        """The copy of a blob, opened; made if there is none."""
        if ref.size > self._max_bytes:
            raise ResourceExhaustedError(
                f"{ref.uri} has {ref.size} bytes, the cache {self._folder} takes {self._max_bytes}"
            )
        # One thread copies a blob, the others wait for it (and, rarely, for an unrelated one).
        with self._fetching[int(ref.sha256[:4], 16) % _STRIPES], translated(f"copy of {ref.uri}"):
            return self._find(ref) or self._copy(ref, open_blob)

    def _find(self, ref: BlobRef) -> BinaryIO | None:
        """A sound copy that is there already."""
        try:
            file = self._path(ref.sha256).open("rb")
        except FileNotFoundError:
            return None
        inode = os.fstat(file.fileno()).st_ino
        if self._verified.get(ref.sha256) != inode:
            if hashlib.file_digest(file, "sha256").hexdigest() != ref.sha256:
                file.close()
                self._forget(ref.sha256)
                return None
            self._verified[ref.sha256] = inode
            file.seek(0)
        os.utime(file.fileno())  # the order of use, for every process that shares the folder
        return file

    def _copy(self, ref: BlobRef, open_blob: Callable[[BlobRef], BinaryIO]) -> BinaryIO:
        temporary = Temporary(self._temporaries)
        try:
            digest = hashlib.sha256()
            with open_blob(ref) as source:
                while chunk := source.read(_CHUNK_BYTES):
                    digest.update(chunk)
                    temporary.write(memoryview(chunk))
            if digest.hexdigest() != ref.sha256:
                raise changed(ref)
            temporary.flush()
            file = temporary.path.open("rb")
            temporary.path.rename(self._path(ref.sha256))
        finally:
            temporary.discard()
        self._verified[ref.sha256] = os.fstat(file.fileno()).st_ino
        self._unseen += ref.size
        if self._unseen > self._room:
            self._make_room(keep=ref.sha256)
        return file

    def _make_room(self, keep: str = "") -> None:
        """Drop what was used longest ago until the rest fits."""
        copies = sorted(self._copies())
        total = sum(size for _, size, _ in copies)
        for _, size, name in copies:
            if total <= self._max_bytes:
                break
            if name != keep:
                self._forget(name)
                total -= size
        # Others copy as well, so not all that is left is ours to fill before the next look.
        self._unseen, self._room = 0, (self._max_bytes - total) // 4

    def _copies(self) -> list[tuple[int, int, str]]:
        """Time of last use, size and name of every copy; others may remove some meanwhile."""
        found = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                try:
                    if entry.is_file(follow_symlinks=False):
                        stat = entry.stat(follow_symlinks=False)
                        found.append((stat.st_mtime_ns, stat.st_size, entry.name))
                except FileNotFoundError:
                    continue
        return found

    def _forget(self, name: str) -> None:
        """Drop a copy. Whoever has it open or mapped keeps it until they let go."""
        self._verified.pop(name, None)
        self._path(name).unlink(missing_ok=True)

    def _path(self, sha256: str) -> Path:
        return self._folder / sha256
