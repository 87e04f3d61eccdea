"""Tables in a folder: the folder is one, or has some in it, folders in between being namespaces."""

from collections.abc import Iterator
from typing import Final

import pyarrow.fs as pafs

from floecat.connectors.delta.log.listing import LOG
from floecat.connectors.delta.sources.port import TableLocation
from floecat.connectors.failures import connector_error
from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.errors import (
    PermanentUpstreamError,
    UnsupportedByConnectorError,
    UpstreamGoneError,
    UpstreamProblem,
)
from floecat.connectors.spi.records import Namespace, ViewDescriptor
from floecat.security.guard import scheme_of

DEFAULT_NAMESPACE: Final = "default"
_MAX_DEPTH: Final = 8


class FilesystemSource:
    """Walks folders. What lies directly in the root is in the namespace `default`."""

    def __init__(self, uri: str, access: FileAccess, namespace: str = DEFAULT_NAMESPACE) -> None:
        self._root = _canonical(uri)
        self._access = access
        self._default: Namespace = (namespace,)
        self._filesystem, self._path = access.filesystem(self._root)

    def list_namespaces(self) -> Iterator[Namespace]:
        self._require_root()
        if self._is_table("") or any(self._tables("")):
            yield self._default
        yield from self._namespaces_below((), 1)

    def list_tables(self, namespace: Namespace) -> Iterator[str]:
        folder = self._folder(namespace)
        if namespace == self._default and self._is_table(""):
            yield self._root.rpartition("/")[2]
            return
        if not self._exists(folder):
            raise _gone(f"namespace {'.'.join(namespace)}", self._root)
        yield from self._tables(folder)

    def locate(self, namespace: Namespace, name: str) -> TableLocation:
        if namespace == self._default and self._is_table(""):
            if name != self._root.rpartition("/")[2]:
                raise _gone(f"table {name}", self._root)
            return TableLocation(root=self._root, access=self._access)
        folder = _joined(self._folder(namespace), _checked(name))
        if not self._is_table(folder):
            raise _gone(f"table {'.'.join((*namespace, name))}", self._root)
        return TableLocation(root=_joined(self._root, folder), access=self._access)

    def list_views(self, namespace: Namespace) -> Iterator[str]:
        raise UnsupportedByConnectorError("folders of delta tables have no views")

    def describe_view(self, namespace: Namespace, name: str) -> ViewDescriptor:
        raise UnsupportedByConnectorError("folders of delta tables have no views")

    def close(self) -> None:
        """Nothing is kept open."""

    def _namespaces_below(self, above: Namespace, depth: int) -> Iterator[Namespace]:
        """Folders that aren't tables, if there are tables anywhere below them."""
        if depth > _MAX_DEPTH:
            return
        for name in self._folders("/".join(above)):
            path = (*above, name)
            if not self._is_table("/".join(path)):
                below = list(self._namespaces_below(path, depth + 1))
                if below or any(self._tables("/".join(path))):
                    yield path
                    yield from below

    def _tables(self, folder: str) -> Iterator[str]:
        for name in self._folders(folder):
            if self._is_table(_joined(folder, name)):
                yield name

    def _folders(self, folder: str) -> list[str]:
        selector = pafs.FileSelector(_joined(self._path, folder), allow_not_found=True)
        try:
            found = self._filesystem.get_file_info(selector)
        except OSError as error:
            raise connector_error(error, f"listing {_joined(self._root, folder)}") from error
        return sorted(
            info.base_name
            for info in found
            if info.type == pafs.FileType.Directory and not info.base_name.startswith(("_", "."))
        )

    def _is_table(self, folder: str) -> bool:
        return self._exists(_joined(folder, LOG))

    def _exists(self, folder: str) -> bool:
        """Whether there is a folder, and one that may be read: links that lead out aren't there."""
        try:
            self._access.filesystem(_joined(self._root, folder))
        except PermanentUpstreamError:
            return False
        try:
            info = self._filesystem.get_file_info(_joined(self._path, folder))
        except OSError as error:
            raise connector_error(error, f"looking for {_joined(self._root, folder)}") from error
        return bool(info.type == pafs.FileType.Directory)

    def _folder(self, namespace: Namespace) -> str:
        below = () if namespace == self._default else namespace
        return "/".join(_checked(name) for name in below)

    def _require_root(self) -> None:
        if not self._exists(""):
            raise PermanentUpstreamError(
                f"there is no folder {self._root}: check the connector's URI",
                UpstreamProblem.NO_SUCH_WAREHOUSE,
            )


def _canonical(uri: str) -> str:
    """With its scheme and without a slash at its end, however it was written."""
    if scheme_of(uri) in {"", "file"}:
        path = uri.partition(":")[2] if scheme_of(uri) else uri
        return f"file:///{path.lstrip('/').rstrip('/')}"
    return uri.rstrip("/")


def _joined(*parts: str) -> str:
    return "/".join(part for part in parts if part)


def _checked(name: str) -> str:
    """A folder's name, which leads nowhere else."""
    if not name or "/" in name or name in {".", ".."} or name.startswith(("_", ".")):
        raise UpstreamGoneError(f"there is no table or namespace {name!r}")
    return name


def _gone(what: str, root: str) -> UpstreamGoneError:
    return UpstreamGoneError(f"there is no {what} in {root}")
