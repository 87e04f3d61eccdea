"""The hierarchy: catalogs, and namespaces below them to any depth.

Hierarchy is by parent id, so that a rename or a move changes one record. A resource exists only
while everything above it does; this is where that is looked at.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ai.floedb.floecat.catalog.catalog_pb2 import Catalog
from ai.floedb.floecat.catalog.namespace_pb2 import Namespace
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import ResourceId
from floecat.catalog import keys
from floecat.catalog.callers import Caller, named_id, not_found
from floecat.catalog.codec import Stored
from floecat.catalog.kinds import Kind
from floecat.catalog.names import cleaned_name
from floecat.catalog.records import CatalogStores, Records
from floecat.errors import InvalidArgumentError, NotFoundError
from floecat.storage.kv.port import Key


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
        self._kv = stores.kv
        self._catalogs = Records(stores, common_pb2.RK_CATALOG, Catalog)
        self._namespaces = Records(stores, common_pb2.RK_NAMESPACE, Namespace)

    def catalog(self, account: str, catalog_id: str) -> Place:
        """A catalog."""
        stored = self._catalogs.get(account, catalog_id)
        return Place(common_pb2.RK_CATALOG, catalog_id, stored.version, stored, ())

    def namespace(self, account: str, namespace_id: str) -> Place:
        """A namespace, with everything above it."""
        chain = self._chain(account, namespace_id)
        catalog = self._catalogs.find(account, chain[0].message.catalog_id.id)
        if catalog is None or catalog.deleting:
            raise not_found(common_pb2.RK_NAMESPACE, namespace_id)
        return Place(
            common_pb2.RK_NAMESPACE, namespace_id, chain[-1].version, catalog, tuple(chain)
        )

    def _chain(self, account: str, namespace_id: str) -> list[Stored[Namespace]]:
        """A namespace and those above it, outermost first."""
        chain: list[Stored[Namespace]] = []
        above = namespace_id
        while above:
            stored = self._namespaces.find(account, above)
            if stored is None or stored.deleting:
                raise not_found(common_pb2.RK_NAMESPACE, namespace_id)
            chain.append(stored)
            above = stored.message.parent_id.id
        chain.reverse()
        return chain

    def catalog_named(self, account: str, name: str) -> Place:
        """A catalog by name."""
        cleaned = cleaned_name(name, "catalog")
        stored = self._catalogs.find_named(account, keys.catalogs(account), cleaned)
        if stored is None:
            raise _unnamed("catalog", [cleaned])
        identifier = stored.message.resource_id.id
        return Place(common_pb2.RK_CATALOG, identifier, stored.version, stored, ())

    def find_namespace_id(self, account: str, catalog: str, path: Sequence[str]) -> str:
        """The id of a namespace by its full name, from names alone.

        What is deleted loses its name first, so walking names from the top never reaches it.
        """
        names = [cleaned_name(catalog, "catalog"), *(cleaned_name(p, "path") for p in path)]
        partition = keys.catalogs(account)
        identifier = ""
        for depth, name in enumerate(names):
            record = self._kv.get(Key(partition, name))
            if record is None:
                raise _unnamed("namespace" if depth else "catalog", names[: depth + 1])
            identifier = record.value.decode()
            partition = keys.namespaces(account, identifier)
        return identifier

    def below(self, account: str, start: Place, path: Sequence[str]) -> Place:
        """The place reached from `start` along a path of names. Names the first part missing."""
        place = start
        for part in path:
            name = cleaned_name(part, "path")
            stored = self._namespaces.find_named(account, keys.namespaces(account, place.id), name)
            if stored is None:
                names = [place.catalog.message.display_name, *place.path, name]
                raise _unnamed("namespace", names)
            place = Place(
                common_pb2.RK_NAMESPACE,
                stored.message.resource_id.id,
                stored.version,
                place.catalog,
                (*place.namespaces, stored),
            )
        return place

    def require_catalog(
        self, caller: Caller, catalog_id: ResourceId, place: Place, fields: tuple[str, str]
    ) -> None:
        """Refuse a catalog that was named besides a namespace and isn't the one it lies in.

        `fields` are what the request calls the catalog and the namespace.
        """
        if not catalog_id.id:
            return
        of_catalog, of_namespace = fields
        named = named_id(caller, catalog_id, common_pb2.RK_CATALOG, of_catalog)
        if named != place.catalog.message.resource_id.id:
            self.catalog(caller.account_id, named)
            raise InvalidArgumentError(
                f"{of_namespace} lies in another catalog than {of_catalog}", field=of_namespace
            )


def _unnamed(kind: str, names: Sequence[str]) -> NotFoundError:
    full = ".".join(names)
    return NotFoundError(
        f"there is no {kind} {full!r}",
        reason=f"{kind.upper()}_NOT_FOUND",
        metadata={"kind": kind, "name": full},
    )
