"""ReconcileControl over the reconciler."""

from ai.floedb.floecat.reconciler.reconciler_pb2 import (
    CancelReconcileJobRequest,
    CancelReconcileJobResponse,
    CaptureNowRequest,
    CaptureNowResponse,
    GetFinalizedSnapshotStatusRequest,
    GetFinalizedSnapshotStatusResponse,
    GetReconcileJobRequest,
    GetReconcileJobResponse,
    GetReconcileJobTreeRequest,
    GetReconcileJobTreeResponse,
    GetReconcilerSettingsRequest,
    GetReconcilerSettingsResponse,
    ListFileExecutionResultsRequest,
    ListFileExecutionResultsResponse,
    ListReconcileJobsRequest,
    ListReconcileJobsResponse,
    StartCaptureRequest,
    StartCaptureResponse,
    UpdateReconcilerSettingsRequest,
    UpdateReconcilerSettingsResponse,
)
from floecat.reconciler.control import ReconcilerService
from floecat.reconciler.listings import FileResultListings, JobListings
from floecat.reconciler.settings import ReconcilerSettingsRepository
from floecat.reconciler.tasks import job_resource
from floecat.service.calls import Call


class ReconcileControlHandlers:
    """One method per RPC."""

    def __init__(
        self,
        service: ReconcilerService,
        jobs: JobListings,
        files: FileResultListings,
        settings: ReconcilerSettingsRepository,
    ) -> None:
        self._service = service
        self._jobs = jobs
        self._files = files
        self._settings = settings

    def StartCapture(self, request: StartCaptureRequest, call: Call) -> StartCaptureResponse:
        started = self._service.start(call.caller, request)
        job_id = job_resource(call.caller.account_id, started.job_id)
        return StartCaptureResponse(job_id=job_id, deduplicated=started.deduplicated)

    def CaptureNow(self, request: CaptureNowRequest, call: Call) -> CaptureNowResponse:
        job, finished = self._service.capture_now(call.caller, request)
        return CaptureNowResponse(job=job, finished=finished)

    def GetReconcileJob(
        self, request: GetReconcileJobRequest, call: Call
    ) -> GetReconcileJobResponse:
        return GetReconcileJobResponse(job=self._service.job(call.caller, request.job_id))

    def GetReconcileJobTree(
        self, request: GetReconcileJobTreeRequest, call: Call
    ) -> GetReconcileJobTreeResponse:
        return GetReconcileJobTreeResponse(root=self._service.tree(call.caller, request))

    def ListReconcileJobs(
        self, request: ListReconcileJobsRequest, call: Call
    ) -> ListReconcileJobsResponse:
        page = self._jobs.list(call.caller, request)
        return ListReconcileJobsResponse(jobs=page.items, page=page.message)

    def ListFileExecutionResults(
        self, request: ListFileExecutionResultsRequest, call: Call
    ) -> ListFileExecutionResultsResponse:
        page = self._files.list(call.caller, request)
        return ListFileExecutionResultsResponse(results=page.items, page=page.message)

    def GetFinalizedSnapshotStatus(
        self, request: GetFinalizedSnapshotStatusRequest, call: Call
    ) -> GetFinalizedSnapshotStatusResponse:
        return self._service.finalized_status(call.caller, request)

    def CancelReconcileJob(
        self, request: CancelReconcileJobRequest, call: Call
    ) -> CancelReconcileJobResponse:
        return CancelReconcileJobResponse(job=self._service.cancel(call.caller, request))

    def GetReconcilerSettings(
        self, _request: GetReconcilerSettingsRequest, call: Call
    ) -> GetReconcilerSettingsResponse:
        return self._settings.get(call.caller.account_id)

    def UpdateReconcilerSettings(
        self, request: UpdateReconcilerSettingsRequest, call: Call
    ) -> UpdateReconcilerSettingsResponse:
        return self._settings.update(call.caller, request)
