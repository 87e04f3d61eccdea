"""What tables and views share: a place in a namespace, and one space of names between them."""

from abc import abstractmethod
from typing import Final, TypeVar

from ai.floedb.floecat.catalog.table_pb2 import Table, TableSpec
from ai.floedb.floecat.catalog.view_pb2 import View, ViewSpec
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import ResourceId
from floecat.catalog.callers import Caller, named_id, with_full_ids
from floecat.catalog.records import CatalogStores
from floecat.catalog.rules import Home, ResourceRules, home_place
from floecat.catalog.tree import Place, Tree

M = TypeVar("M", Table, View)
Spec = TypeVar("Spec", TableSpec, ViewSpec)

_OWNERS: Final = {
    "catalog_id": common_pb2.RK_CATALOG,
    "namespace_id": common_pb2.RK_NAMESPACE,
}


class RelationRules(ResourceRules[M, Spec]):
    """A relation lies in a namespace; its catalog follows from that."""

    immutable = ("catalog_id",)

    def __init__(self, stores: CatalogStores) -> None:
        self._tree = Tree(stores)

    @abstractmethod
    def names_in(self, account: str, namespace_id: str) -> tuple[str, str]:
        """The partition of the kind's own names in a namespace, and that of its rivals'."""

    def home(self, caller: Caller, spec: Spec) -> Home:
        field = "spec.namespace_id"
        namespace_id = named_id(caller, spec.namespace_id, common_pb2.RK_NAMESPACE, field)
        place = self._tree.namespace(caller.account_id, namespace_id)
        self._tree.require_catalog(caller, spec.catalog_id, place, ("spec.catalog_id", field))
        return self._home(caller.account_id, place)

    def listing(self, caller: Caller, namespace_id: ResourceId) -> Home:
        """The home of a namespace's relations of this kind."""
        identifier = named_id(caller, namespace_id, common_pb2.RK_NAMESPACE, "namespace_id")
        return self._home(caller.account_id, self._tree.namespace(caller.account_id, identifier))

    def home_of(self, account: str, message: M) -> Home:
        return self._home(account, self._tree.namespace(account, message.namespace_id.id))

    def check(self, caller: Caller, spec: Spec) -> None:
        if spec.upstream.HasField("connector_id"):
            field = "spec.upstream.connector_id"
            named_id(caller, spec.upstream.connector_id, common_pb2.RK_CONNECTOR, field)

    def normalised(self, spec: Spec) -> Spec:
        return with_full_ids(spec, _OWNERS)

    def put_in(self, message: M, home: Home) -> None:
        place = home_place(home)
        message.catalog_id.CopyFrom(place.catalog.message.resource_id)
        message.namespace_id.CopyFrom(place.namespaces[-1].message.resource_id)

    def _home(self, account: str, place: Place) -> Home:
        own, rivals = self.names_in(account, place.id)
        return Home(names=own, place=place, parent=place.as_parent, rivals=(rivals,))
