"""Reading an upstream's files: whole but bounded, or as a stream. Nothing is written."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.fs as pafs

from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.errors import BrokenTableError, PermanentUpstreamError
from floecat.security.guard import OBJECT_STORES, scheme_of

MAX_DOCUMENT_BYTES: Final = 512 * 1024 * 1024
_BUFFER_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Entry:
    """What lies in a folder."""

    name: str
    uri: str
    is_folder: bool
    modified_ns: int


class SourceFiles:
    """Opens files with a connector's rights. Every path passes the outbound guard."""

    def __init__(self, access: FileAccess) -> None:
        self.access = access
        self._stores: dict[str, pafs.FileSystem] = {}

    def read(self, uri: str, limit: int = MAX_DOCUMENT_BYTES) -> bytes:
        """A whole file, unless it is larger than the limit."""
        with self.stream(uri) as stream:
            data: bytes = stream.read(limit + 1)
        if len(data) > limit:
            raise BrokenTableError(f"{uri} is larger than {limit} bytes")
        return data

    @contextmanager
    def stream(self, uri: str) -> Iterator[pa.NativeFile]:
        """A file from its start to its end."""
        filesystem, path = self._filesystem(uri)
        with filesystem.open_input_stream(
            path, compression=None, buffer_size=_BUFFER_BYTES
        ) as file:
            yield file

    @contextmanager
    def random_access(self, uri: str) -> Iterator[pa.NativeFile]:
        """A file to read here and there."""
        filesystem, path = self._filesystem(uri)
        with filesystem.open_input_file(path) as file:
            yield file

    def entries(self, uri: str) -> list[Entry]:
        """What lies directly in a folder, by name; nothing when there is no such folder."""
        filesystem, path = self._filesystem(uri)
        selector = pafs.FileSelector(path, allow_not_found=True)
        found = filesystem.get_file_info(selector)
        base = uri.rstrip("/")
        return [
            Entry(
                name=info.base_name,
                uri=f"{base}/{info.base_name}",
                is_folder=info.type == pafs.FileType.Directory,
                modified_ns=info.mtime_ns or 0,
            )
            for info in sorted(found, key=lambda info: str(info.base_name))
        ]

    def _filesystem(self, uri: str) -> tuple[pafs.FileSystem, str]:
        """Local paths are judged one by one; an object store's client is made once.

        What leads out of the roots is the fault of the table that names it, not of its neighbours.
        """
        scheme = scheme_of(uri)
        if scheme not in OBJECT_STORES:
            try:
                return self.access.filesystem(uri)
            except PermanentUpstreamError as error:
                raise BrokenTableError(error.message, error.problem) from error
        if scheme not in self._stores:
            self._stores[scheme], path = self.access.filesystem(uri)
            return self._stores[scheme], path
        return self._stores[scheme], uri.partition("://")[2]
