"""Runs that are started, and looked at until they have ended, whatever happens to the service."""

from collections.abc import Callable

from tests.support.waiting import PATIENCE_SECONDS, eventually

import floecat
from ai.floedb.floecat.common.common_pb2 import IdempotencyKey, ResourceId
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from floecat.errors import DeadlineExceededError, UnavailableError

EVERYTHING = messages.SnapshotSelection(all=True)
_ENDED = frozenset({messages.RJS_SUCCEEDED, messages.RJS_FAILED, messages.RJS_CANCELLED})


def start_run(
    clients: floecat.GrpcClients,
    connector_id: ResourceId,
    *,
    mode: "messages.CaptureMode.ValueType" = messages.METADATA_AND_CAPTURE,
    snapshots: messages.SnapshotSelection = EVERYTHING,
    full: bool = True,
    key: str = "",
) -> ResourceId:
    """Start a run; under the same key it is the same run."""
    scope = messages.CaptureScope(connector_id=connector_id, snapshots=snapshots)
    request = messages.StartCaptureRequest(
        scope=scope,
        mode=mode,
        full_rescan=full,
        idempotency=IdempotencyKey(key=key) if key else None,
    )
    return clients.reconcile.StartCapture(request).job_id


def job_of(clients: floecat.GrpcClients, job_id: ResourceId) -> messages.ReconcileJob:
    request = messages.GetReconcileJobRequest(job_id=job_id)
    return clients.reconcile.GetReconcileJob(request).job


def has_ended(clients: floecat.GrpcClients, job_id: ResourceId) -> bool:
    """Whether it has; a service that doesn't answer hasn't said so."""
    try:
        return job_of(clients, job_id).state in _ENDED
    except (UnavailableError, DeadlineExceededError):
        return False


def ended_run(
    clients: floecat.GrpcClients,
    job_id: ResourceId,
    seconds: float = PATIENCE_SECONDS,
    meanwhile: Callable[[], object] = lambda: None,
) -> messages.ReconcileJob:
    """Wait for the end of a run."""

    def look() -> bool:
        meanwhile()
        return has_ended(clients, job_id)

    eventually(look, f"the run {job_id.id} ends", seconds)
    return job_of(clients, job_id)
