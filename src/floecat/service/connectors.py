"""Connectors over the connector repository."""

from ai.floedb.floecat.connector.connector_pb2 import (
    CreateConnectorRequest,
    CreateConnectorResponse,
    DeleteConnectorRequest,
    DeleteConnectorResponse,
    GetConnectorRequest,
    GetConnectorResponse,
    GetReconcileJobRequest,
    GetReconcileJobResponse,
    ListConnectorsRequest,
    ListConnectorsResponse,
    StartCaptureRequest,
    StartCaptureResponse,
    UpdateConnectorRequest,
    UpdateConnectorResponse,
    ValidateConnectorRequest,
    ValidateConnectorResponse,
)
from floecat.catalog.connections import Connections
from floecat.catalog.connectors import ConnectorRepository
from floecat.errors import UnimplementedError
from floecat.service.calls import Call
from floecat.service.spliced import Spliced, spliced


class ConnectorHandlers:
    """One method per RPC. Runs of connectors aren't served yet."""

    def __init__(self, connectors: ConnectorRepository, connections: Connections) -> None:
        self._connectors = connectors
        self._connections = connections

    def ListConnectors(
        self, request: ListConnectorsRequest, call: Call
    ) -> Spliced[ListConnectorsResponse]:
        return spliced(ListConnectorsResponse, self._connectors.list(call.caller, request.page))

    def GetConnector(self, request: GetConnectorRequest, call: Call) -> GetConnectorResponse:
        stored = self._connectors.get(call.caller, request.connector_id)
        return GetConnectorResponse(connector=stored.message, meta=stored.meta)

    def CreateConnector(
        self, request: CreateConnectorRequest, call: Call
    ) -> CreateConnectorResponse:
        return self._connectors.create(call.caller, request)

    def UpdateConnector(
        self, request: UpdateConnectorRequest, call: Call
    ) -> UpdateConnectorResponse:
        return self._connectors.update(call.caller, request)

    def DeleteConnector(
        self, request: DeleteConnectorRequest, call: Call
    ) -> DeleteConnectorResponse:
        return self._connectors.delete(call.caller, request)

    def ValidateConnector(
        self, request: ValidateConnectorRequest, call: Call
    ) -> ValidateConnectorResponse:
        return self._connections.validate(call.caller, request)

    def StartCapture(self, request: StartCaptureRequest, call: Call) -> StartCaptureResponse:
        raise UnimplementedError("running connectors isn't served yet")

    def GetReconcileJob(
        self, request: GetReconcileJobRequest, call: Call
    ) -> GetReconcileJobResponse:
        raise UnimplementedError("running connectors isn't served yet")
