"""What workers ask of the queue: jobs, more time, and whether to stop."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeVar

from google.protobuf.timestamp_pb2 import Timestamp

from ai.floedb.floecat.reconciler import executor_control_pb2 as wire
from floecat.errors import InvalidArgumentError
from floecat.reconciler.assignments import lease_of
from floecat.reconciler.executors import EXECUTORS, leasable_kinds
from floecat.reconciler.jobs import (
    CancelRequestedError,
    HandedBack,
    LeasedJob,
    LeaseSelector,
    Outcome,
    Renewal,
    Settled,
    Stopped,
)
from floecat.reconciler.results.settling import MAX_MESSAGE, Results, failure_outcome
from floecat.reconciler.store.port import ReconcileJobStore
from floecat.reconciler.tasks import job_resource, root_id, task_of

_MAX_NAME: Final = 200

Told = TypeVar(
    "Told",
    wire.StartLeasedReconcileJobResponse,
    wire.RenewReconcileJobLeaseResponse,
    wire.ReportReconcileJobProgressResponse,
)


@dataclass(frozen=True, slots=True)
class Leases:
    """Hands jobs out and takes them back."""

    store: ReconcileJobStore
    results: Results
    poll_after: timedelta

    def lease(self, request: wire.LeaseReconcileJobRequest) -> wire.LeaseReconcileJobResponse:
        """The next due job that fits, or when to ask again."""
        response = wire.LeaseReconcileJobResponse()
        leased = self._next(request)
        if leased is None:
            response.poll_after.FromTimedelta(self.poll_after)
        else:
            response.job.CopyFrom(self._shown(leased))
        return response

    def start(
        self, request: wire.StartLeasedReconcileJobRequest
    ) -> wire.StartLeasedReconcileJobResponse:
        """Work begins: the lease counts from here."""
        return _told(
            wire.StartLeasedReconcileJobResponse, self.store.renew(lease_of(request.lease))
        )

    def renew(
        self, request: wire.RenewReconcileJobLeaseRequest
    ) -> wire.RenewReconcileJobLeaseResponse:
        """A sign of life."""
        return _told(wire.RenewReconcileJobLeaseResponse, self.store.renew(lease_of(request.lease)))

    def report_progress(
        self, request: wire.ReportReconcileJobProgressRequest
    ) -> wire.ReportReconcileJobProgressResponse:
        """A sign of life, with how far it is."""
        message = request.message[:MAX_MESSAGE]
        renewal = self.store.report_progress(lease_of(request.lease), message, request.counters)
        return _told(wire.ReportReconcileJobProgressResponse, renewal)

    def cancellation(
        self, request: wire.GetReconcileJobCancellationRequest
    ) -> wire.GetReconcileJobCancellationResponse:
        """Whether to stop."""
        try:
            self.store.fence(lease_of(request.lease))
        except CancelRequestedError:
            return wire.GetReconcileJobCancellationResponse(cancel_requested=True)
        return wire.GetReconcileJobCancellationResponse()

    def complete(self, request: wire.CompleteLeasedReconcileJobRequest) -> Settled:
        """The end of a lease without a result."""
        sent = request.SerializeToString(deterministic=True)
        return self.results.complete(
            lease_of(request.lease), request.result_id, sent, _outcome(request)
        )

    def _next(self, request: wire.LeaseReconcileJobRequest) -> LeasedJob | None:
        if not 0 < len(request.executor_id) <= _MAX_NAME:
            raise InvalidArgumentError(
                f"executor_id says which worker is asking: 1 to {_MAX_NAME} characters",
                field="executor_id",
            )
        kinds = leasable_kinds(request.executor_ids, request.job_kinds)
        if not kinds:
            return None
        return self.store.lease(
            LeaseSelector(
                executor_id=request.executor_id,
                kinds=kinds,
                classes=tuple(request.execution_classes),
                lanes=tuple(request.execution_lanes),
            )
        )

    def _shown(self, leased: LeasedJob) -> wire.LeasedReconcileJob:
        job = leased.job
        account = job.account_id
        root = job if not job.ancestors else self.store.get(account, root_id(job))
        run = task_of(root)
        shown = wire.LeasedReconcileJob(
            lease=wire.JobLease(job_id=job_resource(account, job.job_id), epoch=leased.lease.epoch),
            kind=job.kind,
            executor=EXECUTORS[job.kind],
            lease_expires_at=_timestamp(leased.expires_at),
            attempt=job.attempt,
            mode=run.mode,
            full_rescan=run.full_rescan,
            target=task_of(job).target,
            root_job_id=job_resource(account, root.job_id),
            execution_policy=job.execution_policy,
        )
        if job.ancestors:
            shown.parent_job_id.CopyFrom(job_resource(account, job.ancestors[0]))
        return shown


def _told(kind: type[Told], renewal: Renewal) -> Told:
    """What whoever gives a sign of life is told."""
    return kind(
        lease_expires_at=_timestamp(renewal.expires_at), cancel_requested=renewal.cancel_requested
    )


def _timestamp(moment: datetime) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(moment)
    return stamp


def _outcome(request: wire.CompleteLeasedReconcileJobRequest) -> Outcome:
    match request.WhichOneof("outcome"):
        case "failure":
            return failure_outcome(request.failure)
        case "handed_back":
            return HandedBack("its worker stopped")
        case "cancelled":
            return Stopped()
        case _:
            raise InvalidArgumentError(
                "say how it ended: failure, handed_back or cancelled", field="outcome"
            )
