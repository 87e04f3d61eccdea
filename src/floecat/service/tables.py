"""TableService over the table repository."""

from ai.floedb.floecat.catalog.table_pb2 import (
    CreateTableRequest,
    CreateTableResponse,
    DeleteTableRequest,
    DeleteTableResponse,
    GetTableRequest,
    GetTableResponse,
    ListTablesRequest,
    ListTablesResponse,
    UpdateTableRequest,
    UpdateTableResponse,
)
from floecat.catalog.tables import TableRepository
from floecat.service.calls import Call
from floecat.service.spliced import Spliced, spliced


class TableHandlers:
    """One method per RPC."""

    def __init__(self, tables: TableRepository) -> None:
        self._tables = tables

    def ListTables(self, request: ListTablesRequest, call: Call) -> Spliced[ListTablesResponse]:
        return spliced(ListTablesResponse, self._tables.list(call.caller, request))

    def GetTable(self, request: GetTableRequest, call: Call) -> GetTableResponse:
        stored = self._tables.get(call.caller, request.table_id)
        return GetTableResponse(table=stored.message, meta=stored.meta)

    def CreateTable(self, request: CreateTableRequest, call: Call) -> CreateTableResponse:
        return self._tables.create(call.caller, request)

    def UpdateTable(self, request: UpdateTableRequest, call: Call) -> UpdateTableResponse:
        return self._tables.update(call.caller, request)

    def DeleteTable(self, request: DeleteTableRequest, call: Call) -> DeleteTableResponse:
        return self._tables.delete(call.caller, request)
