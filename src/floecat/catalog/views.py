"""Views of a namespace. A view has one current definition per dialect; no history is kept."""

from ai.floedb.floecat.catalog.view_pb2 import (
    CreateViewRequest,
    CreateViewResponse,
    DeleteViewRequest,
    DeleteViewResponse,
    ListViewsRequest,
    UpdateViewRequest,
    UpdateViewResponse,
    View,
    ViewSpec,
)
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import ResourceId
from floecat.catalog import keys
from floecat.catalog.callers import Caller, named_id
from floecat.catalog.codec import Stored
from floecat.catalog.paging import Page
from floecat.catalog.records import CatalogStores
from floecat.catalog.relations import RelationRules
from floecat.catalog.resources import Resources
from floecat.errors import InvalidArgumentError


class ViewRules(RelationRules[View, ViewSpec]):
    """A view says what it is, in at least one dialect and in none twice."""

    kind = common_pb2.RK_VIEW
    message_type = View
    spec_type = ViewSpec

    def names_in(self, account: str, namespace_id: str) -> tuple[str, str]:
        return keys.views(account, namespace_id), keys.tables(account, namespace_id)

    def check(self, caller: Caller, spec: ViewSpec) -> None:
        super().check(caller, spec)
        field = "spec.sql_definitions"
        if not spec.sql_definitions:
            raise InvalidArgumentError("a view needs at least one SQL definition", field=field)
        dialects = [definition.dialect for definition in spec.sql_definitions]
        if not all(d.dialect and d.sql.strip() for d in spec.sql_definitions):
            raise InvalidArgumentError("a SQL definition needs a dialect and a text", field=field)
        if len(set(dialects)) != len(dialects):
            raise InvalidArgumentError("a dialect is given twice: keep one text each", field=field)


class ViewRepository:
    """Views by id, and by name in their namespace."""

    def __init__(self, stores: CatalogStores) -> None:
        self._rules = ViewRules(stores)
        self._views = Resources(stores, self._rules)

    def list(self, caller: Caller, request: ListViewsRequest) -> Page[bytes]:
        """A page of a namespace's views, by name; framed rows."""
        home = self._rules.listing(caller, request.namespace_id)
        return self._views.list(caller.account_id, home, request.name_prefix, request.page)

    def get(self, caller: Caller, view_id: ResourceId) -> Stored[View]:
        """One view."""
        return self._views.get(caller, _addressed(caller, view_id))

    def create(self, caller: Caller, request: CreateViewRequest) -> CreateViewResponse:
        """Add a view."""
        return self._views.create(caller, request, request.spec, CreateViewResponse)

    def update(self, caller: Caller, request: UpdateViewRequest) -> UpdateViewResponse:
        """Change what the mask names, in place; `namespace_id` moves it."""
        identifier = _addressed(caller, request.view_id)
        return self._views.update(caller, request, identifier, UpdateViewResponse)

    def delete(self, caller: Caller, request: DeleteViewRequest) -> DeleteViewResponse:
        """Remove a view."""
        identifier = _addressed(caller, request.view_id)
        return self._views.delete(caller, request, identifier, DeleteViewResponse)


def _addressed(caller: Caller, view_id: ResourceId) -> str:
    return named_id(caller, view_id, common_pb2.RK_VIEW, "view_id")
