"""The hierarchy: catalogs, and namespaces below them to any depth.

Hierarchy is by parent id, so that a rename or a move changes one record. A resource exists only
while everything above it does; this is where that is looked at.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ai.floedb.floecat.catalog.catalog_pb2 import Catalog
from ai.floedb.floecat.catalog.namespace_pb2 import Namespace
from ai.floedb.floecat.common import common_pb2
from floecat.catalog import keys
from floecat.catalog.callers import not_found
from floecat.catalog.codec import Stored
from floecat.catalog.kinds import Kind
from floecat.catalog.names import cleaned_name
from floecat.catalog.records import CatalogStores, Records
from floecat.errors import NotFoundError


@dataclass(frozen=True, slots=True)
class Place:
    """A namespace or catalog that something can be put into."""

    kind: Kind
    id: str
    version: int
    catalog: Stored[Catalog]
    namespaces: tuple[Stored[Namespace], ...]
    """From directly below the catalog down to this one; empty for the catalog itself."""

    @property
    def path(self) -> list[str]:
        """Names of the namespaces from the outermost to this one."""
        return [namespace.message.display_name for namespace in self.namespaces]

    @property
    def namespace_ids(self) -> list[str]:
        """Ids of the namespaces from the outermost to this one."""
        return [namespace.message.resource_id.id for namespace in self.namespaces]

    @property
    def as_parent(self) -> tuple[Kind, str, int]:
        return (self.kind, self.id, self.version)


def parent_id(namespace: Namespace) -> str:
    """The id of what a namespace lies in: a namespace, or else its catalog."""
    return namespace.parent_id.id or namespace.catalog_id.id


class Tree:
    """Finds places, by id and by name. What is being deleted, or lies below that, isn't found."""

    def __init__(self, stores: CatalogStores) -> None:
        self._catalogs = Records(stores, common_pb2.RK_CATALOG, Catalog)
        self._namespaces = Records(stores, common_pb2.RK_NAMESPACE, Namespace)

    def catalog(self, account: str, catalog_id: str) -> Place:
        """A catalog."""
        stored = self._catalogs.get(account, catalog_id)
        return Place(common_pb2.RK_CATALOG, catalog_id, stored.version, stored, ())

    def namespace(self, account: str, namespace_id: str) -> Place:
        """A namespace, with everything above it."""
        chain: list[Stored[Namespace]] = []
        above = namespace_id
        while True:
            stored = self._namespaces.find(account, above)
            if stored is None or stored.deleting or len(chain) > keys.MAX_DEPTH:
                raise not_found(common_pb2.RK_NAMESPACE, namespace_id)
            chain.append(stored)
            if not stored.message.HasField("parent_id"):
                break
            above = stored.message.parent_id.id
        catalog = self._catalogs.find(account, chain[-1].message.catalog_id.id)
        if catalog is None or catalog.deleting:
            raise not_found(common_pb2.RK_NAMESPACE, namespace_id)
        chain.reverse()
        return Place(
            common_pb2.RK_NAMESPACE, namespace_id, chain[-1].version, catalog, tuple(chain)
        )

    def catalog_named(self, account: str, name: str) -> Place:
        """A catalog by name."""
        cleaned = cleaned_name(name, "catalog")
        stored = self._catalogs.find_named(account, keys.catalogs(account), cleaned)
        if stored is None:
            raise NotFoundError(
                f"there is no catalog {cleaned!r}",
                reason="CATALOG_NOT_FOUND",
                metadata={"kind": "catalog", "name": cleaned},
            )
        identifier = stored.message.resource_id.id
        return Place(common_pb2.RK_CATALOG, identifier, stored.version, stored, ())

    def below(self, account: str, start: Place, path: Sequence[str]) -> Place:
        """The place reached from `start` along a path of names. Names the first part missing."""
        place = start
        for part in path:
            name = cleaned_name(part, "path")
            stored = self._namespaces.find_named(account, keys.namespaces(account, place.id), name)
            if stored is None:
                raise _no_namespace(place, name)
            place = Place(
                common_pb2.RK_NAMESPACE,
                stored.message.resource_id.id,
                stored.version,
                place.catalog,
                (*place.namespaces, stored),
            )
        return place


def _no_namespace(place: Place, name: str) -> NotFoundError:
    full = ".".join([place.catalog.message.display_name, *place.path, name])
    return NotFoundError(
        f"there is no namespace {full!r}",
        reason="NAMESPACE_NOT_FOUND",
        metadata={"kind": "namespace", "name": full},
    )
