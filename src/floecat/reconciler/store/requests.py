"""New root jobs, and requests that are made twice under one name."""

from datetime import datetime

from ai.floedb.floecat.reconciler.stored_pb2 import StoredJob, StoredRequest
from floecat.errors import AbortedError
from floecat.reconciler import keys
from floecat.reconciler.jobs import Enqueued, NewJob, RequestKey
from floecat.reconciler.states import QUEUED
from floecat.reconciler.transactions import Transaction


def root_job(new: NewJob, job_id: str, now_ms: int) -> StoredJob:
    """The record of a root job."""
    return StoredJob(
        job_id=job_id,
        account_id=new.account_id,
        kind=new.kind,
        state=QUEUED,
        due_ms=now_ms,
        created_ms=now_ms,
        execution_policy=new.execution_policy,
        lane=new.lane,
        task=new.task,
        fingerprint=new.fingerprint,
        connector_id=new.connector_id,
    )


def find_answer(tx: Transaction, request: RequestKey) -> Enqueued | None:
    """What the same request was answered with. Another one under its key is refused."""
    value = tx.get(keys.request(request.account_id, request.key))
    if value is None:
        return None
    stored = StoredRequest.FromString(value)
    if stored.fingerprint != request.fingerprint:
        raise AbortedError(
            "this idempotency key was used for another request: choose a new one",
            reason="IDEMPOTENCY_MISMATCH",
        )
    return Enqueued(stored.job_id, stored.deduplicated)


def remember(tx: Transaction, request: RequestKey, done: Enqueued, until: datetime) -> None:
    """Answer the same next time."""
    stored = StoredRequest(
        fingerprint=request.fingerprint,
        job_id=done.job_id,
        deduplicated=done.deduplicated,
    )
    row = keys.request(request.account_id, request.key)
    tx.put(row, stored.SerializeToString(), until)
