"""The filesystem backend: a blob is a synced file that got its name in one step."""

import hashlib
import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from io import BufferedReader
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import BinaryIO, Final, TypeAlias
from urllib.parse import quote, unquote

from floecat.errors import InvalidArgumentError, NotFoundError
from floecat.storage.blobs.files import translated
from floecat.storage.blobs.filesystem.walk import walk
from floecat.storage.blobs.names import check_listing, checked_name
from floecat.storage.blobs.pending import PendingBlob, taken
from floecat.storage.blobs.port import BlobInfo, BlobRef, BlobWriter
from floecat.storage.blobs.stream import changed, checked_range, clipped, open_stream
from floecat.storage.blobs.temporaries import Temporary, sweep
from floecat.storage.folders import make_folder, sync_folder

_Identity: TypeAlias = tuple[int, int, int]
"""A file's inode, time of change and size: what tells that it is still the one we hashed."""

_REMEMBERED: Final = 4096
_LINK_ATTEMPTS: Final = 10


class FilesystemBlobStore:
    """Blobs under a root folder, which must be on a file system with hard links."""

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()
        self._temporaries = self._root / ".tmp"
        self._base = self._root.as_uri() + "/"
        self._lock = Lock()
        self._verified: OrderedDict[BlobRef, _Identity] = OrderedDict()
        if root.exists() and not root.is_dir():
            raise InvalidArgumentError(f"{root} is a file: the blob store needs a folder")
        with translated(f"folder {root}"):
            make_folder(self._temporaries)
            sweep(self._temporaries)

    @contextmanager
    def writer(self, name: str) -> Iterator[BlobWriter]:
        checked_name(name)
        with translated(f"blob {name!r}"):
            temporary = Temporary(self._temporaries)
        try:
            pending = PendingBlob(partial(_append, temporary, name))
            yield pending
            with translated(f"blob {name!r}"):
                ref = pending.measured(self._base + quote(name))
                temporary.sync()
                self._publish(temporary.path, name, ref)
            pending.committed(ref)
        finally:
            temporary.discard()

    def open(self, ref: BlobRef) -> BinaryIO:
        with translated(f"blob {ref.uri}"):
            descriptor = os.open(self._path(ref), os.O_RDONLY)
            if os.fstat(descriptor).st_size != ref.size:
                os.close(descriptor)
                raise changed(ref)

        def fetch(offset: int, length: int) -> bytes:
            with translated(f"blob {ref.uri}"):
                return os.pread(descriptor, length, offset)

        return open_stream(ref, fetch, close=partial(os.close, descriptor))

    def read(self, ref: BlobRef, *, offset: int = 0, length: int | None = None) -> bytes:
        start, count = clipped(ref, offset, length)
        with translated(f"blob {ref.uri}"), self._path(ref).open("rb") as file:
            if os.fstat(file.fileno()).st_size != ref.size:
                raise changed(ref)
            file.seek(start)
            return checked_range(ref, count, file.read(count))

    def list(self, prefix: str = "", *, after: str | None = None, limit: int) -> Sequence[BlobInfo]:
        check_listing(prefix, after, limit)
        with translated(f"folder {self._root}"):
            found = list(islice(walk(self._root, prefix, after), limit))
        return [BlobInfo(name, self._base + quote(name), size, at) for name, size, at in found]

    def delete(self, name: str) -> bool:
        path = self._root / checked_name(name)
        try:
            with translated(f"blob {name!r}"):
                path.unlink()
        except NotFoundError:
            return False
        self._remove_empty_folders(path.parent)
        return True

    def materialize(self, ref: BlobRef) -> BinaryIO:
        """The blob's own file: it is local already, so only verifying is left, once."""
        with translated(f"blob {ref.uri}"):
            file = self._path(ref).open("rb")
            try:
                self._verify(ref, file)
            except BaseException:
                file.close()
                raise
            return file

    def _verify(self, ref: BlobRef, file: BufferedReader) -> None:
        stat = os.fstat(file.fileno())
        identity = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
        with self._lock:
            if self._verified.get(ref) == identity:
                self._verified.move_to_end(ref)
                return
        if hashlib.file_digest(file, "sha256").hexdigest() != ref.sha256:
            raise changed(ref)
        file.seek(0)
        with self._lock:
            self._verified[ref] = identity
            if len(self._verified) > _REMEMBERED:
                self._verified.popitem(last=False)

    def close(self) -> None:
        """Nothing to give back."""

    def _path(self, ref: BlobRef) -> Path:
        if not ref.uri.startswith(self._base):
            raise InvalidArgumentError(f"{ref.uri} isn't in this store ({self._base})")
        return self._root / checked_name(unquote(ref.uri.removeprefix(self._base)))

    def _publish(self, temporary: Path, name: str, ref: BlobRef) -> None:
        """Give a synced file its name, unless other bytes have it. A link never overwrites."""
        target = self._root / name
        for attempts_left in reversed(range(_LINK_ATTEMPTS)):
            try:
                self._link(temporary, target, ref)
            except FileNotFoundError:
                # The folder was empty and removed just now, or the blob before us was deleted.
                if attempts_left == 0:
                    raise
            else:
                self._sync_folders(target.parent)
                return

    def _link(self, temporary: Path, target: Path, ref: BlobRef) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(temporary, target)
        except FileExistsError:
            if not _holds(target, ref):
                raise taken(target.relative_to(self._root).as_posix()) from None

    def _sync_folders(self, folder: Path) -> None:
        # All the way up: a folder that another writer made may not be on the disk yet.
        sync_folder(folder)
        while folder != self._root:
            folder = folder.parent
            sync_folder(folder)

    def _remove_empty_folders(self, folder: Path) -> None:
        with suppress(OSError):  # not empty
            while folder != self._root:
                folder.rmdir()
                folder = folder.parent


def _append(temporary: Temporary, name: str, data: memoryview) -> None:
    with translated(f"blob {name!r}"):
        temporary.write(data)


def _holds(path: Path, ref: BlobRef) -> bool:
    with path.open("rb") as file:
        same_size = os.fstat(file.fileno()).st_size == ref.size
        return same_size and hashlib.file_digest(file, "sha256").hexdigest() == ref.sha256
