"""The files of a table, listed and read through the connector's `FileAccess`."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from floecat.connectors.failures import connector_error
from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.errors import BrokenTableError
from floecat.security.guard import FILE, scheme_of

MAX_COMMIT_BYTES: Final = 1024 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file in a folder."""

    name: str
    size: int
    modified_at: datetime


class TableFiles:
    """A table's root. Everything is read below it, by relative path."""

    def __init__(self, root: str, access: FileAccess) -> None:
        self.root = root.rstrip("/")
        self._access = access
        self._filesystem, self._path = access.filesystem(self.root)
        self._is_local = scheme_of(self.root) in FILE
        self.reads = 0
        """How many files were opened: what opening a table costs."""

    def list(self, folder: str) -> list[LogFile]:
        """The files directly in a folder; none if there is no such folder."""
        selector = pafs.FileSelector(self._checked(folder), allow_not_found=True)
        try:
            found = self._filesystem.get_file_info(selector)
        except OSError as error:
            raise connector_error(error, f"listing {self.root}/{folder}") from error
        return [
            LogFile(info.base_name, info.size, info.mtime)
            for info in found
            if info.type == pafs.FileType.File
        ]

    def read(self, path: str) -> bytes:
        """The whole of a file."""
        with self._open(path) as opened:
            if opened.size() > MAX_COMMIT_BYTES:
                raise BrokenTableError(f"{self.root}/{path} has {opened.size()} bytes: too many")
            return bytes(opened.read())

    def parquet(self, path: str) -> pq.ParquetFile:
        """A parquet file, to be closed."""
        source = self._open(path)
        try:
            # INT96 holds days far beyond what nanoseconds do, and would wrap around in them.
            return pq.ParquetFile(source, pre_buffer=False, coerce_int96_timestamp_unit="us")
        except (pa.ArrowInvalid, OSError) as error:
            source.close()
            raise BrokenTableError(f"{self.root}/{path} isn't a parquet file") from error

    def _checked(self, path: str) -> str:
        """Where a path leads. On this machine a link may lead anywhere, so each one is judged."""
        if self._is_local:
            return self._access.filesystem(f"{self.root}/{path}")[1]
        return f"{self._path}/{path}"

    def _open(self, path: str) -> pa.NativeFile:
        self.reads += 1
        try:
            return self._filesystem.open_input_file(self._checked(path))
        except FileNotFoundError as error:
            raise BrokenTableError(f"{self.root}/{path} is missing") from error
        except OSError as error:
            raise connector_error(error, f"reading {self.root}/{path}") from error
