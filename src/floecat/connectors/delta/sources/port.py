"""TableSource: which tables there are, and where each of them lies."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.records import Namespace, ViewDescriptor


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLocation:
    """A table's root, how to read it, and what the source says of it besides."""

    root: str
    access: FileAccess
    description: str = ""
    properties: Mapping[str, str] = field(default_factory=dict)


class TableSource(Protocol):
    """A catalog of delta tables. Raises the SPI's errors, as the connector does."""

    def list_namespaces(self) -> Iterable[Namespace]:
        """Every namespace, a parent before its children."""

    def list_tables(self, namespace: Namespace) -> Iterable[str]:
        """The delta tables directly in a namespace."""

    def locate(self, namespace: Namespace, name: str) -> TableLocation:
        """Where a table is."""

    def list_views(self, namespace: Namespace) -> Iterable[str]:
        """The views directly in a namespace."""

    def describe_view(self, namespace: Namespace, name: str) -> ViewDescriptor:
        """One view."""

    def close(self) -> None:
        """Give everything back."""
