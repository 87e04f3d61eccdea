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
from ai.floedb.floecat.reconciler import reconciler_pb2
from floecat.catalog.connections import Connections
from floecat.catalog.connectors import ConnectorRepository
from floecat.catalog.masks import copy_shared_fields
from floecat.errors import InvalidArgumentError
from floecat.reconciler.control import ReconcilerService
from floecat.reconciler.tasks import job_resource
from floecat.service.calls import Call
from floecat.service.spliced import Spliced, spliced


class ConnectorHandlers:
    """One method per RPC."""

    def __init__(
        self,
        connectors: ConnectorRepository,
        connections: Connections,
        reconciler: ReconcilerService,
    ) -> None:
        self._connectors = connectors
        self._connections = connections
        self._reconciler = reconciler

    def ListConnectors(
        self, request: ListConnectorsRequest, call: Call
    ) -> Spliced[ListConnectorsResponse]:
        return spliced(ListConnectorsResponse, self._connectors.list(call.caller, request.page))

    def GetConnector(self, request: GetConnectorRequest, call: Call) -> GetConnectorResponse:
        stored = self._connectors.get(call.caller, request.connector_id)
        response = GetConnectorResponse(connector=stored.message, meta=stored.meta)
        self._reconciler.schedule(response.connector)
        return response

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
        run = _run(request)
        by_policy = not run.mode
        start = self._reconciler.start_by_policy if by_policy else self._reconciler.start
        started = start(call.caller, run)
        job_id = job_resource(call.caller.account_id, started.job_id)
        return StartCaptureResponse(job_id=job_id, deduplicated=started.deduplicated)

    def GetReconcileJob(
        self, request: GetReconcileJobRequest, call: Call
    ) -> GetReconcileJobResponse:
        return GetReconcileJobResponse(job=self._reconciler.job(call.caller, request.job_id))


def _run(request: StartCaptureRequest) -> reconciler_pb2.StartCaptureRequest:
    """The same request as ReconcileControl takes it."""
    named = request.scope.connector_id
    if named.id and named != request.connector_id:
        raise InvalidArgumentError(
            "scope.connector_id is another connector than connector_id: leave it out",
            field="scope.connector_id",
        )
    run = reconciler_pb2.StartCaptureRequest()
    copy_shared_fields(request, run)
    run.scope.connector_id.CopyFrom(request.connector_id)
    return run
