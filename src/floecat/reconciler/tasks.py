"""What jobs are to do: the part of a job that the queue doesn't look into."""

from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileJobTarget
from ai.floedb.floecat.reconciler.stored_pb2 import JobTask, StoredJob


def task_of(job: StoredJob) -> JobTask:
    """What a job is to do."""
    return JobTask.FromString(job.task)


def target_of(job: StoredJob) -> ReconcileJobTarget:
    """What a job is about."""
    return task_of(job).target


def job_resource(account: str, job_id: str) -> ResourceId:
    """A job's full id."""
    return ResourceId(account_id=account, id=job_id, kind=common_pb2.RK_RECONCILE_JOB)


def root_id(job: StoredJob) -> str:
    """The job that a tree began with."""
    return job.ancestors[-1] if job.ancestors else job.job_id
