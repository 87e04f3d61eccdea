"""TableConstraintsService over the constraints repository."""

from ai.floedb.floecat.catalog.constraints_pb2 import (
    AddTableConstraintRequest,
    AddTableConstraintResponse,
    AppendTableConstraintsRequest,
    AppendTableConstraintsResponse,
    DeleteTableConstraintRequest,
    DeleteTableConstraintResponse,
    DeleteTableConstraintsRequest,
    DeleteTableConstraintsResponse,
    GetTableConstraintsRequest,
    GetTableConstraintsResponse,
    ListTableConstraintsRequest,
    ListTableConstraintsResponse,
    MergeTableConstraintsRequest,
    MergeTableConstraintsResponse,
    PutTableConstraintsRequest,
    PutTableConstraintsResponse,
)
from floecat.catalog.constraints import ConstraintsRepository
from floecat.service.calls import Call


class ConstraintsHandlers:
    """One method per RPC."""

    def __init__(self, constraints: ConstraintsRepository) -> None:
        self._constraints = constraints

    def GetTableConstraints(
        self, request: GetTableConstraintsRequest, call: Call
    ) -> GetTableConstraintsResponse:
        stored = self._constraints.get(call.caller, request.table_id, request.snapshot)
        return GetTableConstraintsResponse(constraints=stored.message, meta=stored.meta)

    def ListTableConstraints(
        self, request: ListTableConstraintsRequest, call: Call
    ) -> ListTableConstraintsResponse:
        page = self._constraints.list(call.caller, request)
        return ListTableConstraintsResponse(bundles=page.items, page=page.message)

    def PutTableConstraints(
        self, request: PutTableConstraintsRequest, call: Call
    ) -> PutTableConstraintsResponse:
        return self._constraints.put(call.caller, request)

    def MergeTableConstraints(
        self, request: MergeTableConstraintsRequest, call: Call
    ) -> MergeTableConstraintsResponse:
        return self._constraints.merge(call.caller, request)

    def AppendTableConstraints(
        self, request: AppendTableConstraintsRequest, call: Call
    ) -> AppendTableConstraintsResponse:
        return self._constraints.append(call.caller, request)

    def DeleteTableConstraints(
        self, request: DeleteTableConstraintsRequest, call: Call
    ) -> DeleteTableConstraintsResponse:
        return self._constraints.delete(call.caller, request)

    def AddTableConstraint(
        self, request: AddTableConstraintRequest, call: Call
    ) -> AddTableConstraintResponse:
        return self._constraints.add(call.caller, request)

    def DeleteTableConstraint(
        self, request: DeleteTableConstraintRequest, call: Call
    ) -> DeleteTableConstraintResponse:
        return self._constraints.delete_one(call.caller, request)
