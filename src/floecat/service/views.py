"""ViewService over the view repository."""

from ai.floedb.floecat.catalog.view_pb2 import (
    CreateViewRequest,
    CreateViewResponse,
    DeleteViewRequest,
    DeleteViewResponse,
    GetViewRequest,
    GetViewResponse,
    ListViewsRequest,
    ListViewsResponse,
    UpdateViewRequest,
    UpdateViewResponse,
)
from floecat.catalog.views import ViewRepository
from floecat.service.calls import Call
from floecat.service.spliced import Spliced, spliced


class ViewHandlers:
    """One method per RPC."""

    def __init__(self, views: ViewRepository) -> None:
        self._views = views

    def ListViews(self, request: ListViewsRequest, call: Call) -> Spliced[ListViewsResponse]:
        return spliced(ListViewsResponse, self._views.list(call.caller, request))

    def GetView(self, request: GetViewRequest, call: Call) -> GetViewResponse:
        stored = self._views.get(call.caller, request.view_id)
        return GetViewResponse(view=stored.message, meta=stored.meta)

    def CreateView(self, request: CreateViewRequest, call: Call) -> CreateViewResponse:
        return self._views.create(call.caller, request)

    def UpdateView(self, request: UpdateViewRequest, call: Call) -> UpdateViewResponse:
        return self._views.update(call.caller, request)

    def DeleteView(self, request: DeleteViewRequest, call: Call) -> DeleteViewResponse:
        return self._views.delete(call.caller, request)
