"""Names into ids and ids into names."""

from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

from ai.floedb.floecat.catalog.directory_pb2 import (
    LookedUpResource,
    LookupResourcesRequest,
    ResolvedRelation,
    ResolveRelationsRequest,
)
from ai.floedb.floecat.catalog.table_pb2 import US_GONE, Table
from ai.floedb.floecat.catalog.view_pb2 import View
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import NameRef, ResourceId
from floecat.catalog import keys
from floecat.catalog.callers import Caller, named_id, not_found, resource_id
from floecat.catalog.federation import relations_below
from floecat.catalog.kinds import Kind
from floecat.catalog.names import cleaned_name
from floecat.catalog.paging import Page, fitting, page_cursor
from floecat.catalog.records import CatalogStores, Records
from floecat.catalog.tree import Tree
from floecat.errors import InvalidArgumentError, NotFoundError

M = TypeVar("M", Table, View)

_Space: TypeAlias = tuple[Callable[[str, str], str], Records[M]]
"""Where the names of one kind are in a namespace, and the records they lead to."""


class Directory:
    """Resolves and looks up. Reads only."""

    def __init__(self, stores: CatalogStores) -> None:
        self._stores = stores
        self._tree = Tree(stores)
        self._tables = Records(stores, common_pb2.RK_TABLE, Table)
        self._views = Records(stores, common_pb2.RK_VIEW, View)
        self._table_names = (keys.tables, self._tables)
        self._view_names = (keys.views, self._views)

    def resolve_catalog(self, caller: Caller, name: NameRef) -> ResourceId:
        """The id of a catalog."""
        place = self._tree.catalog_named(caller.account_id, name.catalog)
        return place.catalog.message.resource_id

    def resolve_namespace(self, caller: Caller, name: NameRef) -> ResourceId:
        """The id of a namespace; a `name` counts as the path's last part."""
        path = [*name.path, name.name] if name.name else list(name.path)
        if not path:
            raise InvalidArgumentError("the namespace's path is empty", field="name.path")
        identifier = self._tree.find_namespace_id(caller.account_id, name.catalog, path)
        return resource_id(caller.account_id, common_pb2.RK_NAMESPACE, identifier)

    def resolve_table(self, caller: Caller, name: NameRef) -> ResourceId:
        """The id of a table."""
        return self._resolve(caller, name, "table", self._table_names)

    def resolve_view(self, caller: Caller, name: NameRef) -> ResourceId:
        """The id of a view."""
        return self._resolve(caller, name, "view", self._view_names)

    def resolve_relation(self, caller: Caller, name: NameRef) -> ResourceId:
        """The id of a table or view, whichever has the name."""
        return self._resolve(caller, name, "table or view", self._table_names, self._view_names)

    def resolve_relations(
        self, caller: Caller, request: ResolveRelationsRequest
    ) -> Page[ResolvedRelation]:
        """Many names, or everything below one, a page at a time."""
        if bool(request.names) == request.HasField("below"):
            raise InvalidArgumentError("give names or below, one of the two", field="names")
        if request.HasField("below"):
            return self._relations_below(caller, request)
        wanted = [name.SerializeToString(deterministic=True).hex() for name in request.names]
        cursor = page_cursor(request.page, "relations", caller.account_id, *wanted)
        start = cursor.offset()
        end = start + cursor.size
        answers = [self._answer(caller, name) for name in request.names[start:end]]
        return Page(answers, cursor.token(str(end)) if end < len(request.names) else "")

    def lookup(self, caller: Caller, asked: ResourceId, kind: Kind) -> NameRef:
        """The full name of a resource of one kind."""
        identifier = named_id(caller, asked, kind, "resource_id")
        try:
            return self._namers[kind](caller.account_id, identifier)
        except NotFoundError as error:
            raise not_found(kind, identifier) from error

    def lookup_many(
        self, caller: Caller, request: LookupResourcesRequest
    ) -> Page[LookedUpResource]:
        """Full names of many resources, a page at a time; unknown ones come without."""
        wanted = [i.SerializeToString(deterministic=True).hex() for i in request.resource_ids]
        cursor = page_cursor(request.page, "lookup", caller.account_id, *wanted)
        start = cursor.offset()
        end = start + cursor.size
        answers = [self._looked_up(caller, i) for i in request.resource_ids[start:end]]
        count = fitting([answer.ByteSize() for answer in answers])
        reached = start + count
        more = reached < len(request.resource_ids)
        return Page(answers[:count], cursor.token(str(reached)) if more else "")

    @property
    def _namers(self) -> Mapping[Kind, Callable[[str, str], NameRef]]:
        return {
            common_pb2.RK_CATALOG: self._name_of_catalog,
            common_pb2.RK_NAMESPACE: self._name_of_namespace,
            common_pb2.RK_TABLE: self._name_of_table,
            common_pb2.RK_VIEW: self._name_of_view,
        }

    def _namespace_of(self, caller: Caller, name: NameRef) -> str:
        if not name.path:
            raise InvalidArgumentError(
                "name.path is empty: tables and views lie in a namespace", field="name.path"
            )
        return self._tree.find_namespace_id(caller.account_id, name.catalog, name.path)

    def _resolve(
        self, caller: Caller, name: NameRef, what: str, *spaces: "_Space[Table] | _Space[View]"
    ) -> ResourceId:
        """The id of what has a name in one of the spaces of names of its namespace."""
        account, namespace_id = caller.account_id, self._namespace_of(caller, name)
        cleaned = cleaned_name(name.name, "name.name")
        for partition, records in spaces:
            stored = records.find_named(account, partition(account, namespace_id), cleaned)
            if stored is not None and stored.message.upstream.state != US_GONE:
                return stored.message.resource_id
        full = ".".join([name.catalog, *name.path, name.name])
        raise NotFoundError(
            f"there is no {what} {full!r}",
            reason="RELATION_NOT_FOUND",
            metadata={"kind": what, "name": full},
        )

    def _answer(self, caller: Caller, name: NameRef) -> ResolvedRelation:
        try:
            return ResolvedRelation(name=name, resource_id=self.resolve_relation(caller, name))
        except (NotFoundError, InvalidArgumentError):
            # Nothing can have a name that isn't one; the others are answered all the same.
            return ResolvedRelation(name=name)

    def _relations_below(
        self, caller: Caller, request: ResolveRelationsRequest
    ) -> Page[ResolvedRelation]:
        account, below = caller.account_id, request.below
        path = [*below.path, below.name] if below.name else list(below.path)
        start = self._tree.below(account, self._tree.catalog_named(account, below.catalog), path)
        cursor = page_cursor(request.page, "below", account, start.id)
        return relations_below(self._stores, caller, start, cursor)

    def _looked_up(self, caller: Caller, asked: ResourceId) -> LookedUpResource:
        kind = asked.kind
        if kind not in self._namers:
            raise InvalidArgumentError(
                "every id needs its kind: RK_CATALOG, RK_NAMESPACE, RK_TABLE or RK_VIEW",
                field="resource_ids.kind",
            )
        try:
            name = self.lookup(caller, asked, kind)
        except NotFoundError:
            return LookedUpResource(resource_id=asked)
        return LookedUpResource(resource_id=asked, name=name)

    def _name_of_catalog(self, account: str, identifier: str) -> NameRef:
        place = self._tree.catalog(account, identifier)
        return NameRef(catalog=place.catalog.message.display_name)

    def _name_of_namespace(self, account: str, identifier: str) -> NameRef:
        place = self._tree.namespace(account, identifier)
        return NameRef(catalog=place.catalog.message.display_name, path=place.path)

    def _name_of_table(self, account: str, identifier: str) -> NameRef:
        return self._name_of_relation(account, self._tables.get(account, identifier).message)

    def _name_of_view(self, account: str, identifier: str) -> NameRef:
        return self._name_of_relation(account, self._views.get(account, identifier).message)

    def _name_of_relation(self, account: str, relation: Table | View) -> NameRef:
        name = self._name_of_namespace(account, relation.namespace_id.id)
        name.name = relation.display_name
        return name
