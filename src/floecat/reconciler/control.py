"""What clients ask of the reconciler: start, look, wait, cancel."""

import time
from dataclasses import dataclass
from typing import Final

from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.connector.connector_pb2 import Connector
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.reconciler_pb2 import (
    CancelReconcileJobRequest,
    CaptureNowRequest,
    GetFinalizedSnapshotStatusRequest,
    GetFinalizedSnapshotStatusResponse,
    GetReconcileJobTreeRequest,
    ReconcileJob,
    ReconcileJobNode,
)
from ai.floedb.floecat.reconciler.stored_pb2 import FinalSnapshot, StoredJob
from floecat.catalog import keys
from floecat.catalog.callers import Caller, named_id
from floecat.errors import InvalidArgumentError
from floecat.reconciler.jobs import Enqueued
from floecat.reconciler.projections import Projections
from floecat.reconciler.runs import CaptureRuns, RunRequest
from floecat.reconciler.schedules import Schedules
from floecat.reconciler.spans import span_of
from floecat.reconciler.states import TERMINAL
from floecat.reconciler.store.port import ReconcileJobStore
from floecat.reconciler.tasks import job_resource
from floecat.storage.kv.port import KeyValueStore

_LOOK_SECONDS: Final = 0.1
_MAX_LOOK_SECONDS: Final = 1.0
_DEFAULT_REASON: Final = "cancelled on request"
_MAX_REASON: Final = 500


@dataclass(frozen=True, slots=True)
class ReconcilerService:
    """Runs and their jobs, for clients."""

    store: ReconcileJobStore
    runs: CaptureRuns
    projections: Projections
    kv: KeyValueStore

    def start(self, caller: Caller, request: RunRequest) -> Enqueued:
        """Queue a run."""
        return self.runs.start(caller, request)

    def start_by_policy(self, caller: Caller, request: RunRequest) -> Enqueued:
        """Queue a run, in the connector's own mode if none is given."""
        return self.runs.start_by_policy(caller, request)

    def capture_now(self, caller: Caller, request: CaptureNowRequest) -> tuple[ReconcileJob, bool]:
        """Queue a run and wait for its end; whether it came before the wait was over."""
        limit = span_of(request.max_wait, "max_wait").total_seconds()
        job_id = self.runs.start(caller, request).job_id
        until = time.monotonic() + limit if request.HasField("max_wait") else None
        pause = _LOOK_SECONDS
        while True:
            job = self.store.get(caller.account_id, job_id)
            if job.state in TERMINAL:
                return self.projections.job(job), True
            if until is not None and time.monotonic() >= until:
                return self.projections.job(job), False
            caller.asker.require_waiting()
            time.sleep(pause)
            pause = min(pause * 1.5, _MAX_LOOK_SECONDS)

    def schedule(self, connector: Connector) -> None:
        """Write into a connector, as answers show it, when it runs next and what it ran last."""
        account, connector_id = connector.resource_id.account_id, connector.resource_id.id
        schedule = Schedules(self.kv).get(account, connector_id)
        recent = self.store.reading.roots(account, connector_id, None, 1)
        if schedule.next_run_at is not None:
            connector.next_run_at.FromDatetime(schedule.next_run_at)
        if recent:
            connector.last_job_id.CopyFrom(job_resource(account, recent[0].job.job_id))

    def job(self, caller: Caller, job_id: ResourceId) -> ReconcileJob:
        """A job, root or child."""
        return self.projections.job(self._get(caller, job_id))

    def tree(self, caller: Caller, request: GetReconcileJobTreeRequest) -> ReconcileJobNode:
        """A job with what lies below it."""
        if request.max_depth < 0 or request.max_children < 0:
            raise InvalidArgumentError("depth and width can't be negative", field="max_depth")
        stored = self._get(caller, request.job_id)
        return self.projections.tree(stored, request.max_depth, request.max_children)

    def cancel(self, caller: Caller, request: CancelReconcileJobRequest) -> ReconcileJob:
        """Stop a job and everything below it."""
        stored = self._get(caller, request.job_id)
        reason = request.reason[:_MAX_REASON] or _DEFAULT_REASON
        return self.projections.job(self.store.cancel(caller.account_id, stored.job_id, reason))

    def finalized_status(
        self, caller: Caller, request: GetFinalizedSnapshotStatusRequest
    ) -> GetFinalizedSnapshotStatusResponse:
        """Whether a snapshot's capture is published."""
        if not request.table_id.id:
            raise InvalidArgumentError("table_id is missing: give the table's id", field="table_id")
        row = keys.final(caller.account_id, request.table_id.id, request.snapshot_id)
        record = self.kv.get(row)
        if record is None:
            return GetFinalizedSnapshotStatusResponse(state=messages.FSS_PENDING)
        final = FinalSnapshot.FromString(record.value)
        return GetFinalizedSnapshotStatusResponse(
            state=messages.FSS_FINALIZED,
            finalized_at=final.finalized_at,
            finalizer_job_id=job_resource(caller.account_id, final.finalizer_job_id),
            generation=final.generation,
        )

    def _get(self, caller: Caller, job_id: ResourceId) -> StoredJob:
        identifier = named_id(caller, job_id, common_pb2.RK_RECONCILE_JOB, "job_id")
        return self.store.get(caller.account_id, identifier)
