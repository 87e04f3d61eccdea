"""ReconcileExecutorControl over the reconciler: lease, work, submit."""

from collections.abc import Iterator
from dataclasses import dataclass

from ai.floedb.floecat.reconciler import executor_control_pb2 as wire
from floecat.reconciler.assignments import lease_of
from floecat.reconciler.inputs import LeasedInputs
from floecat.reconciler.leases import Leases
from floecat.reconciler.results.connectors import ConnectorPlans
from floecat.reconciler.results.file_groups import FileGroupResults
from floecat.reconciler.results.settling import Results
from floecat.reconciler.results.snapshots import SnapshotPlanResults
from floecat.reconciler.results.tables import TablePlans
from floecat.reconciler.results.views import ViewPlans
from floecat.service.calls import Call


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What becomes of each kind of result."""

    connectors: ConnectorPlans
    tables: TablePlans
    views: ViewPlans
    snapshots: SnapshotPlanResults
    file_groups: FileGroupResults


class ExecutorControlHandlers:
    """One method per RPC."""

    def __init__(
        self, leases: Leases, inputs: LeasedInputs, results: Results, acceptance: Acceptance
    ) -> None:
        self._leases = leases
        self._inputs = inputs
        self._results = results
        self._acceptance = acceptance

    def LeaseReconcileJob(
        self, request: wire.LeaseReconcileJobRequest, _call: Call
    ) -> wire.LeaseReconcileJobResponse:
        return self._leases.lease(request)

    def StartLeasedReconcileJob(
        self, request: wire.StartLeasedReconcileJobRequest, _call: Call
    ) -> wire.StartLeasedReconcileJobResponse:
        return self._leases.start(request)

    def RenewReconcileJobLease(
        self, request: wire.RenewReconcileJobLeaseRequest, _call: Call
    ) -> wire.RenewReconcileJobLeaseResponse:
        return self._leases.renew(request)

    def ReportReconcileJobProgress(
        self, request: wire.ReportReconcileJobProgressRequest, _call: Call
    ) -> wire.ReportReconcileJobProgressResponse:
        return self._leases.report_progress(request)

    def GetReconcileJobCancellation(
        self, request: wire.GetReconcileJobCancellationRequest, _call: Call
    ) -> wire.GetReconcileJobCancellationResponse:
        return self._leases.cancellation(request)

    def CompleteLeasedReconcileJob(
        self, request: wire.CompleteLeasedReconcileJobRequest, _call: Call
    ) -> wire.CompleteLeasedReconcileJobResponse:
        settled = self._leases.complete(request)
        return wire.CompleteLeasedReconcileJobResponse(state=settled.state)

    def GetLeasedPlanConnectorInput(
        self, request: wire.GetLeasedPlanConnectorInputRequest, _call: Call
    ) -> wire.GetLeasedPlanConnectorInputResponse:
        return self._inputs.for_connector(lease_of(request.lease))

    def GetLeasedPlanTableInput(
        self, request: wire.GetLeasedPlanTableInputRequest, _call: Call
    ) -> wire.GetLeasedPlanTableInputResponse:
        return self._inputs.for_table(lease_of(request.lease))

    def GetLeasedPlanViewInput(
        self, request: wire.GetLeasedPlanViewInputRequest, _call: Call
    ) -> wire.GetLeasedPlanViewInputResponse:
        return self._inputs.for_view(lease_of(request.lease))

    def GetLeasedPlanSnapshotInput(
        self, request: wire.GetLeasedPlanSnapshotInputRequest, _call: Call
    ) -> wire.GetLeasedPlanSnapshotInputResponse:
        return self._inputs.for_snapshot(lease_of(request.lease))

    def GetLeasedFileGroupExecution(
        self, request: wire.GetLeasedFileGroupExecutionRequest, _call: Call
    ) -> wire.GetLeasedFileGroupExecutionResponse:
        return self._inputs.for_file_group(lease_of(request.lease))

    def SubmitLeasedPlanConnectorResult(
        self, requests: Iterator[wire.SubmitLeasedPlanConnectorResultRequest], _call: Call
    ) -> wire.SubmitLeasedPlanConnectorResultResponse:
        settled = self._results.submit(requests, self._acceptance.connectors.accept)
        return wire.SubmitLeasedPlanConnectorResultResponse(state=settled.state)

    def SubmitLeasedPlanTableResult(
        self, requests: Iterator[wire.SubmitLeasedPlanTableResultRequest], _call: Call
    ) -> wire.SubmitLeasedPlanTableResultResponse:
        settled = self._results.submit(requests, self._acceptance.tables.accept)
        return wire.SubmitLeasedPlanTableResultResponse(state=settled.state)

    def SubmitLeasedPlanViewResult(
        self, requests: Iterator[wire.SubmitLeasedPlanViewResultRequest], _call: Call
    ) -> wire.SubmitLeasedPlanViewResultResponse:
        settled = self._results.submit(requests, self._acceptance.views.accept)
        return wire.SubmitLeasedPlanViewResultResponse(state=settled.state)

    def SubmitLeasedPlanSnapshotResult(
        self, requests: Iterator[wire.SubmitLeasedPlanSnapshotResultRequest], _call: Call
    ) -> wire.SubmitLeasedPlanSnapshotResultResponse:
        settled = self._results.submit(requests, self._acceptance.snapshots.accept)
        return wire.SubmitLeasedPlanSnapshotResultResponse(state=settled.state)

    def SubmitLeasedFileGroupExecutionResult(
        self, requests: Iterator[wire.SubmitLeasedFileGroupExecutionResultRequest], _call: Call
    ) -> wire.SubmitLeasedFileGroupExecutionResultResponse:
        groups = self._acceptance.file_groups
        settled = self._results.submit(requests, groups.accept, groups.losses)
        return wire.SubmitLeasedFileGroupExecutionResultResponse(state=settled.state)
