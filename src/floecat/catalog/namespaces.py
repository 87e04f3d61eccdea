"""Namespaces: folders below a catalog, nested to any depth."""

from collections.abc import Sequence

from ai.floedb.floecat.catalog.namespace_pb2 import (
    CreateNamespaceRequest,
    CreateNamespaceResponse,
    DeleteNamespaceRequest,
    DeleteNamespaceResponse,
    ListNamespacesRequest,
    Namespace,
    NamespaceSpec,
    UpdateNamespaceRequest,
    UpdateNamespaceResponse,
)
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import ResourceId
from floecat.catalog import keys
from floecat.catalog.callers import Caller, named_id, resource_id, with_full_ids
from floecat.catalog.codec import Stored
from floecat.catalog.names import cleaned_prefix
from floecat.catalog.paging import Page, page_cursor
from floecat.catalog.records import CatalogStores
from floecat.catalog.resources import Resources
from floecat.catalog.rules import Home, ResourceRules, home_place
from floecat.catalog.tree import Place, Tree
from floecat.catalog.walk import walk_namespaces
from floecat.errors import InvalidArgumentError
from floecat.storage.kv.port import ABSENT, Operation, Put


class NamespaceRules(ResourceRules[Namespace, NamespaceSpec]):
    """A namespace lies in a catalog or another namespace, and never below itself."""

    kind = common_pb2.RK_NAMESPACE
    message_type = Namespace
    spec_type = NamespaceSpec
    immutable = ("catalog_id",)

    def __init__(self, stores: CatalogStores) -> None:
        self._kv = stores.kv
        self._tree = Tree(stores)

    def home(self, caller: Caller, spec: NamespaceSpec) -> Home:
        catalog_id = named_id(caller, spec.catalog_id, common_pb2.RK_CATALOG, "spec.catalog_id")
        catalog = self._tree.catalog(caller.account_id, catalog_id)
        return self._home(
            caller.account_id, self._tree.below(caller.account_id, catalog, spec.path)
        )

    def home_of(self, account: str, message: Namespace) -> Home:
        if message.HasField("parent_id"):
            return self._home(account, self._tree.namespace(account, message.parent_id.id))
        return self._home(account, self._tree.catalog(account, message.catalog_id.id))

    def child_partitions(self, account: str, identifier: str) -> Sequence[str]:
        return [
            keys.namespaces(account, identifier),
            keys.tables(account, identifier),
            keys.views(account, identifier),
        ]

    def normalised(self, spec: NamespaceSpec) -> NamespaceSpec:
        return with_full_ids(spec, {"catalog_id": common_pb2.RK_CATALOG})

    def spec_of(self, message: Namespace, home: Home) -> NamespaceSpec:
        spec = super().spec_of(message, home)
        spec.path[:] = home.place.path if home.place else []
        return spec

    def put_in(self, message: Namespace, home: Home) -> None:
        account = message.resource_id.account_id
        place = home_place(home)
        message.catalog_id.CopyFrom(place.catalog.message.resource_id)
        message.ClearField("parent_id")
        if place.kind == common_pb2.RK_NAMESPACE:
            message.parent_id.CopyFrom(resource_id(account, place.kind, place.id))

    def moved(self, account: str, message: Namespace, home: Home) -> tuple[Operation, ...]:
        """Two moves that each look fine could close a ring: so they take turns in a catalog."""
        key = keys.moves(account, message.catalog_id.id)
        turn = self._kv.get(key)
        # Only now look at what is above: a move that came before this turn is seen here, a later
        # one takes the turn away.
        above = self.home_of(account, message).place
        if above and message.resource_id.id in above.namespace_ids:
            raise InvalidArgumentError("a namespace can't be moved below itself", field="spec.path")
        return (Put(key, b"", turn.version if turn else ABSENT),)

    def derived(self, home: Home) -> Namespace:
        return Namespace(parents=home_place(home).path)

    def _home(self, account: str, place: Place) -> Home:
        return Home(names=keys.namespaces(account, place.id), place=place, parent=place.as_parent)


class NamespaceRepository:
    """Namespaces by id, by path, and as trees."""

    def __init__(self, stores: CatalogStores) -> None:
        self._stores = stores
        self._tree = Tree(stores)
        self._rules = NamespaceRules(stores)
        self._resources = Resources(stores, self._rules)

    def list(self, caller: Caller, request: ListNamespacesRequest) -> Page[bytes]:
        """A page of children, or of everything below, depth first; framed rows."""
        if request.recursive and request.children_only:
            raise InvalidArgumentError(
                "recursive and children_only exclude each other: choose one", field="recursive"
            )
        account, start = caller.account_id, self._start(caller, request)
        names = keys.namespaces(account, start.id)
        if not request.recursive:
            home = Home(names=names, place=start)
            return self._resources.list(account, home, request.name_prefix, request.page)
        prefix = cleaned_prefix(request.name_prefix)
        cursor = page_cursor(request.page, "recursive", names, prefix)
        return walk_namespaces(self._stores, caller, start, prefix, cursor)

    def get(self, caller: Caller, namespace_id: ResourceId) -> Stored[Namespace]:
        """One namespace."""
        return self._resources.get(caller, _addressed(caller, namespace_id))

    def create(self, caller: Caller, request: CreateNamespaceRequest) -> CreateNamespaceResponse:
        """Add a namespace below an existing place."""
        return self._resources.create(caller, request, request.spec, CreateNamespaceResponse)

    def update(self, caller: Caller, request: UpdateNamespaceRequest) -> UpdateNamespaceResponse:
        """Change what the mask names; `path` moves it with everything below."""
        identifier = _addressed(caller, request.namespace_id)
        return self._resources.update(caller, request, identifier, UpdateNamespaceResponse)

    def delete(self, caller: Caller, request: DeleteNamespaceRequest) -> DeleteNamespaceResponse:
        """Remove a namespace; everything below it too under `cascade`."""
        identifier = _addressed(caller, request.namespace_id)
        return self._resources.delete(
            caller, request, identifier, DeleteNamespaceResponse, cascade=request.cascade
        )

    def _start(self, caller: Caller, request: ListNamespacesRequest) -> Place:
        account = caller.account_id
        if request.HasField("namespace_id"):
            if request.path:
                raise InvalidArgumentError("give namespace_id or path, not both", field="path")
            place = self._tree.namespace(account, _addressed(caller, request.namespace_id))
            fields = ("catalog_id", "namespace_id")
            self._tree.require_catalog(caller, request.catalog_id, place, fields)
            return place
        catalog_id = named_id(caller, request.catalog_id, common_pb2.RK_CATALOG, "catalog_id")
        return self._tree.below(account, self._tree.catalog(account, catalog_id), request.path)


def _addressed(caller: Caller, namespace_id: ResourceId) -> str:
    return named_id(caller, namespace_id, common_pb2.RK_NAMESPACE, "namespace_id")
