"""Places that mirrored relations go to, made if they aren't there."""

from collections.abc import Sequence
from contextlib import suppress

from ai.floedb.floecat.catalog.catalog_pb2 import CatalogSpec, CreateCatalogRequest
from ai.floedb.floecat.catalog.namespace_pb2 import CreateNamespaceRequest, NamespaceSpec
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import ResourceId
from floecat.catalog.callers import Caller, resource_id
from floecat.catalog.catalogs import CatalogRepository
from floecat.catalog.namespaces import NamespaceRepository
from floecat.catalog.records import CatalogStores
from floecat.catalog.tree import Place, Tree
from floecat.errors import AlreadyExistsError, NotFoundError


class Destinations:
    """Finds or makes catalogs and namespaces. Two that make the same one agree on it."""

    def __init__(self, stores: CatalogStores, caller: Caller) -> None:
        self._caller = caller
        self._tree = Tree(stores)
        self._catalogs = CatalogRepository(stores)
        self._namespaces = NamespaceRepository(stores)

    def catalog(self, name: str) -> ResourceId:
        """The catalog of a name."""
        try:
            found = self._tree.catalog_named(self._caller.account_id, name)
        except NotFoundError:
            self._make_catalog(name)
            found = self._tree.catalog_named(self._caller.account_id, name)
        return found.catalog.message.resource_id

    def namespace(self, catalog_id: str, path: Sequence[str]) -> ResourceId:
        """The namespace of a path, with all that lies above it."""
        account = self._caller.account_id
        place = self._tree.catalog(account, catalog_id)
        for name in path:
            place = self._child(place, name)
        return resource_id(account, common_pb2.RK_NAMESPACE, place.id)

    def _child(self, place: Place, name: str) -> Place:
        account = self._caller.account_id
        try:
            return self._tree.below(account, place, [name])
        except NotFoundError:
            self._make_namespace(place, name)
            return self._tree.below(account, place, [name])

    def _make_catalog(self, name: str) -> None:
        request = CreateCatalogRequest(spec=CatalogSpec(display_name=name))
        with suppress(AlreadyExistsError):  # somebody was quicker
            self._catalogs.create(self._caller, request)

    def _make_namespace(self, place: Place, name: str) -> None:
        spec = NamespaceSpec(
            catalog_id=place.catalog.message.resource_id, path=place.path, display_name=name
        )
        with suppress(AlreadyExistsError):  # somebody was quicker
            self._namespaces.create(self._caller, CreateNamespaceRequest(spec=spec))
