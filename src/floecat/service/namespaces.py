"""NamespaceService over the namespace repository."""

from ai.floedb.floecat.catalog.namespace_pb2 import (
    CreateNamespaceRequest,
    CreateNamespaceResponse,
    DeleteNamespaceRequest,
    DeleteNamespaceResponse,
    GetNamespaceRequest,
    GetNamespaceResponse,
    ListNamespacesRequest,
    ListNamespacesResponse,
    UpdateNamespaceRequest,
    UpdateNamespaceResponse,
)
from floecat.catalog.namespaces import NamespaceRepository
from floecat.service.calls import Call
from floecat.service.spliced import Spliced, spliced


class NamespaceHandlers:
    """One method per RPC."""

    def __init__(self, namespaces: NamespaceRepository) -> None:
        self._namespaces = namespaces

    def ListNamespaces(
        self, request: ListNamespacesRequest, call: Call
    ) -> Spliced[ListNamespacesResponse]:
        return spliced(ListNamespacesResponse, self._namespaces.list(call.caller, request))

    def GetNamespace(self, request: GetNamespaceRequest, call: Call) -> GetNamespaceResponse:
        stored = self._namespaces.get(call.caller, request.namespace_id)
        return GetNamespaceResponse(namespace=stored.message, meta=stored.meta)

    def CreateNamespace(
        self, request: CreateNamespaceRequest, call: Call
    ) -> CreateNamespaceResponse:
        return self._namespaces.create(call.caller, request)

    def UpdateNamespace(
        self, request: UpdateNamespaceRequest, call: Call
    ) -> UpdateNamespaceResponse:
        return self._namespaces.update(call.caller, request)

    def DeleteNamespace(
        self, request: DeleteNamespaceRequest, call: Call
    ) -> DeleteNamespaceResponse:
        return self._namespaces.delete(call.caller, request)
