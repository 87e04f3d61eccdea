"""Tables in plain folders: one metadata file, one table's folder, or a warehouse of any depth.

A folder with metadata files in its `metadata` is a table; any other folder of a warehouse is a
namespace, as Hadoop catalogs have it. A folder that can't be looked into (a link out of the allowed
roots, missing rights) is listed like a table, and says why when it is described.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final

from floecat.connectors.iceberg.catalog import (
    Located,
    no_such_namespace,
    no_such_table,
    with_parents,
)
from floecat.connectors.iceberg.errors import of_storage, reading
from floecat.connectors.iceberg.storage import Entry, SourceFiles
from floecat.connectors.revisions import revision_of
from floecat.connectors.spi.errors import (
    BrokenTableError,
    PermanentUpstreamError,
    UnsupportedByConnectorError,
    UpstreamGoneError,
    UpstreamProblem,
)
from floecat.connectors.spi.records import Namespace
from floecat.security.guard import FILE, scheme_of

_METADATA_FILE: Final = re.compile(
    r"v?(?P<version>[0-9]{1,18})(?:-[^/]*)?(?:\.gz)?\.metadata\.json(?:\.gz)?"
)
_ANY_METADATA: Final = re.compile(r".*\.metadata\.json(?:\.gz)?|.*\.gz\.metadata\.json")
_HINT: Final = "version-hint.text"
_MAX_DEPTH: Final = 32
_HINT_BYTES: Final = 1024
_CLOSED: Final = (BrokenTableError, PermanentUpstreamError)


class FolderCatalog:
    """A warehouse folder, or a single table that is shown in a namespace of its own."""

    def __init__(self, uri: str, files: SourceFiles, single: tuple[Namespace, str]) -> None:
        self._root = uri.rstrip("/")
        self._files = files
        self._single: tuple[Namespace, str] | None = None
        if is_metadata_file(self._root) or self._metadata_files(self._root):
            self._single = single

    def namespaces(self) -> Iterable[Namespace]:
        if self._single:
            return with_parents([self._single[0]])
        above = frozenset({_real(self._root)})
        return self._below((), self._folders(self._root), above)

    def tables(self, namespace: Namespace) -> Iterable[str]:
        if self._single:
            if namespace not in set(self.namespaces()):
                raise no_such_namespace(namespace)
            return [self._single[1]] if namespace == self._single[0] else []
        folder = self._namespace_folder(namespace)
        return [entry.name for entry in self._folders(folder) if self._is_listed(entry)]

    def find_table(self, namespace: Namespace, name: str) -> Located:
        location = self._location(namespace, name)
        return Located(metadata_location=location, access=self._files.access)

    def revisions(self, namespace: Namespace, names: Collection[str]) -> Mapping[str, str]:
        """Of the newest metadata files; a table made anew may have one of the same name."""
        wanted = frozenset(names)
        found: dict[str, str] = {}
        for name, table in self._table_folders(namespace):
            with suppress(*_CLOSED, UpstreamGoneError):
                if name in wanted:
                    newest = self._newest(table)
                    found[name] = revision_of(newest.uri, newest.modified_ns)
        return found

    def views(self, namespace: Namespace) -> Iterable[str]:
        raise UnsupportedByConnectorError("folders of Iceberg tables have no views")

    def find_view(self, namespace: Namespace, name: str) -> Located:
        raise UnsupportedByConnectorError("folders of Iceberg tables have no views")

    def close(self) -> None:
        """Nothing is kept open."""

    def _below(
        self, namespace: Namespace, folders: list[Entry], above: frozenset[str]
    ) -> Iterator[Namespace]:
        if len(namespace) >= _MAX_DEPTH:
            raise PermanentUpstreamError(
                f"{self._root} has folders more than {_MAX_DEPTH} deep: is this a warehouse?",
                UpstreamProblem.BAD_SPEC,
            )
        for entry in folders:
            real = _real(entry.uri)
            found = None if real in above else self._inside(entry)  # a link back leads nowhere
            if found is not None:
                inner = (*namespace, entry.name)
                yield inner
                yield from self._below(inner, found, above | {real})

    def _inside(self, entry: Entry) -> list[Entry] | None:
        """The folders of a namespace; None when it is a table, or can't be looked into."""
        try:
            return None if self._metadata_files(entry.uri) else self._folders(entry.uri)
        except _CLOSED:
            return None

    def _is_listed(self, entry: Entry) -> bool:
        try:
            return bool(self._metadata_files(entry.uri))
        except _CLOSED:
            return True

    def _namespace_folder(self, namespace: Namespace) -> str:
        folder = self._root
        for part in namespace:
            found = {entry.name: entry for entry in self._folders(folder)}
            if part not in found or self._is_listed(found[part]):
                raise no_such_namespace(namespace)
            folder = found[part].uri
        return folder

    def _location(self, namespace: Namespace, name: str) -> str:
        if self._single:
            if (namespace, name) != self._single:
                raise no_such_table(namespace, name)
            return self._root if is_metadata_file(self._root) else self._current(self._root)
        folder = self._namespace_folder(namespace)
        entry = next((e for e in self._folders(folder) if e.name == name), None)
        if entry is None or not self._is_listed(entry):
            raise no_such_table(namespace, name)
        try:
            return self._current(entry.uri)
        except PermanentUpstreamError as error:
            raise BrokenTableError(error.message, error.problem) from error

    def _current(self, table: str) -> str:
        """Where the table's newest metadata is.

        The hint may be behind, never ahead: commits write the file first. Without one, the highest
        number counts, and among equals the youngest.
        """
        return self._newest(table).uri

    def _newest(self, table: str) -> Entry:
        with reading(table):
            files = self._metadata_files(table)
            hinted = self._hinted(table, files)
        if not files:
            raise BrokenTableError(f"{table} has no metadata file")
        return max(
            files, key=lambda entry: (_version(entry), entry.name == hinted, entry.modified_ns)
        )

    def _table_folders(self, namespace: Namespace) -> list[tuple[str, str]]:
        if self._single is None:
            folder = self._namespace_folder(namespace)
            return [(entry.name, entry.uri) for entry in self._folders(folder)]
        if namespace != self._single[0] or is_metadata_file(self._root):
            return []
        return [(self._single[1], self._root)]

    def _hinted(self, table: str, files: list[Entry]) -> str:
        try:
            hint = self._files.read(f"{table}/metadata/{_HINT}", _HINT_BYTES).decode().strip()
        except FileNotFoundError:
            return ""
        names = {f"v{hint}.metadata.json", f"v{hint}.gz.metadata.json", f"{hint}.metadata.json"}
        return next((entry.name for entry in files if entry.name in names | {hint}), "")

    def _metadata_files(self, table: str) -> list[Entry]:
        entries = self._entries(f"{table}/metadata")
        return [entry for entry in entries if not entry.is_folder and is_metadata_file(entry.name)]

    def _folders(self, folder: str) -> list[Entry]:
        found = self._entries(folder)
        return [
            entry for entry in found if entry.is_folder and not entry.name.startswith((".", "_"))
        ]

    def _entries(self, folder: str) -> list[Entry]:
        try:
            return self._files.entries(folder)
        except NotADirectoryError:
            return []
        except OSError as error:
            raise of_storage(error, folder) from error


def is_metadata_file(path: str) -> bool:
    """Whether a path is called as a table's metadata files are."""
    return bool(_ANY_METADATA.fullmatch(path.rpartition("/")[2]))


def _real(uri: str) -> str:
    """A folder, whichever links lead to it."""
    if scheme_of(uri) not in FILE:
        return uri
    return os.path.realpath(uri.removeprefix("file:").removeprefix("//"))


def _version(entry: Entry) -> int:
    found = _METADATA_FILE.fullmatch(entry.name)
    return int(found["version"]) if found else -1
