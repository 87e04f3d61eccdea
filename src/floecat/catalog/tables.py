"""Tables of a namespace."""

from ai.floedb.floecat.catalog.table_pb2 import (
    CreateTableRequest,
    CreateTableResponse,
    DeleteTableRequest,
    DeleteTableResponse,
    ListTablesRequest,
    Table,
    TableSpec,
    UpdateTableRequest,
    UpdateTableResponse,
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


class TableRules(RelationRules[Table, TableSpec]):
    """A table has snapshots below it, so deleting one leaves work to the sweep."""

    kind = common_pb2.RK_TABLE
    message_type = Table
    spec_type = TableSpec
    swept = True

    def names_in(self, account: str, namespace_id: str) -> tuple[str, str]:
        return keys.tables(account, namespace_id), keys.views(account, namespace_id)


class TableRepository:
    """Tables by id, and by name in their namespace."""

    def __init__(self, stores: CatalogStores) -> None:
        self._rules = TableRules(stores)
        self._tables = Resources(stores, self._rules)

    def list(self, caller: Caller, request: ListTablesRequest) -> Page[bytes]:
        """A page of a namespace's tables, by name; framed rows."""
        home = self._rules.listing(caller, request.namespace_id)
        return self._tables.list(caller.account_id, home, request.name_prefix, request.page)

    def get(self, caller: Caller, table_id: ResourceId) -> Stored[Table]:
        """One table."""
        return self._tables.get(caller, addressed_table(caller, table_id))

    def create(self, caller: Caller, request: CreateTableRequest) -> CreateTableResponse:
        """Add a table."""
        return self._tables.create(caller, request, request.spec, CreateTableResponse)

    def update(self, caller: Caller, request: UpdateTableRequest) -> UpdateTableResponse:
        """Change what the mask names; `namespace_id` moves it."""
        identifier = addressed_table(caller, request.table_id)
        return self._tables.update(caller, request, identifier, UpdateTableResponse)

    def delete(self, caller: Caller, request: DeleteTableRequest) -> DeleteTableResponse:
        """Remove a table with everything attached to it."""
        identifier = addressed_table(caller, request.table_id)
        return self._tables.delete(caller, request, identifier, DeleteTableResponse)


def addressed_table(caller: Caller, table_id: ResourceId) -> str:
    """The table an id names."""
    return named_id(caller, table_id, common_pb2.RK_TABLE, "table_id")
