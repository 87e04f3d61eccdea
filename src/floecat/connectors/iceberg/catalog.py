"""SourceCatalog: how tables and views are found, whatever keeps them."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from floecat.connectors.iceberg.documents import Document
from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.errors import UpstreamGoneError
from floecat.connectors.spi.records import Namespace


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A table or view that a catalog knows."""

    metadata_location: str
    """Empty when the catalog gives the metadata without saying where it lies."""
    access: FileAccess
    document: Document | None = None
    """The metadata, when the catalog hands it over with its answer."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """The catalog's own."""


class SourceCatalog(Protocol):
    """Finds relations. Raises the SPI's errors; `UpstreamGoneError` for what isn't there."""

    def namespaces(self) -> Iterable[Namespace]:
        """Every namespace, a parent before its children."""

    def tables(self, namespace: Namespace) -> Iterable[str]:
        """The tables directly in a namespace."""

    def views(self, namespace: Namespace) -> Iterable[str]:
        """The views directly in a namespace."""

    def find_table(self, namespace: Namespace, name: str) -> Located:
        """Where a table's metadata is now."""

    def revisions(self, namespace: Namespace, names: Collection[str]) -> Mapping[str, str]:
        """The revisions of tables, as far as they are cheap to tell."""

    def find_view(self, namespace: Namespace, name: str) -> Located:
        """Where a view's metadata is now."""

    def close(self) -> None:
        """Give back what is open."""


def dotted(namespace: Namespace, name: str = "") -> str:
    """A relation's or namespace's name as people write it."""
    return ".".join([*namespace, name] if name else namespace)


def no_such_namespace(namespace: Namespace) -> UpstreamGoneError:
    """The error for a namespace that isn't there."""
    return UpstreamGoneError(f"there is no namespace {dotted(namespace)} upstream")


def no_such_table(namespace: Namespace, name: str) -> UpstreamGoneError:
    """The error for a table that isn't there."""
    return UpstreamGoneError(f"there is no table {dotted(namespace, name)} upstream")


def no_such_view(namespace: Namespace, name: str) -> UpstreamGoneError:
    """The error for a view that isn't there."""
    return UpstreamGoneError(f"there is no view {dotted(namespace, name)} upstream")


def with_parents(namespaces: Iterable[Namespace]) -> Iterator[Namespace]:
    """Every namespace once, after its parents, which a flat list may leave out."""
    seen: set[Namespace] = set()
    for namespace in sorted(namespaces):
        for depth in range(1, len(namespace) + 1):
            part = namespace[:depth]
            if part not in seen:
                seen.add(part)
                yield part
