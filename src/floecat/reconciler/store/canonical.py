"""Jobs by id, and the one way their state changes."""

from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.reconciler.stored_pb2 import StoredJob
from floecat.catalog.callers import not_found
from floecat.reconciler import keys
from floecat.reconciler.states import State, require_transition
from floecat.reconciler.transactions import Transaction


def find_job(tx: Transaction, account: str, job_id: str) -> StoredJob | None:
    """A job, if it exists."""
    value = tx.get(keys.job(account, job_id))
    return None if value is None else StoredJob.FromString(value)


def get_job(tx: Transaction, account: str, job_id: str) -> StoredJob:
    """A job."""
    found = find_job(tx, account, job_id)
    if found is None:
        raise not_found(common_pb2.RK_RECONCILE_JOB, job_id)
    return found


def put_job(tx: Transaction, job: StoredJob) -> None:
    """Write a job."""
    tx.put(keys.job(job.account_id, job.job_id), job.SerializeToString())


def move(job: StoredJob, state: State, message: str | None = None) -> None:
    """Change a job's state, if the table has this way."""
    require_transition(job.state, state)
    job.state = state
    if message is not None:
        job.message = message
