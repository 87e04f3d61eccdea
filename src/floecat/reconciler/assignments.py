"""Leased jobs, as whoever serves their workers sees them."""

from dataclasses import dataclass

from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.connector.connector_pb2 import Connector
from ai.floedb.floecat.reconciler import executor_control_pb2 as wire
from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileJobKind
from ai.floedb.floecat.reconciler.stored_pb2 import JobTask, StoredJob
from floecat.catalog.callers import Caller
from floecat.catalog.records import CatalogStores, Records
from floecat.errors import InvalidArgumentError
from floecat.reconciler.fencing import FencedKeyValueStore
from floecat.reconciler.jobs import JobLease, Kind
from floecat.reconciler.store.port import ReconcileJobStore
from floecat.reconciler.tasks import root_id, task_of


@dataclass(frozen=True, slots=True)
class Assignment:
    """A job, what it is to do, and what the run that it belongs to was asked for."""

    lease: JobLease
    job: StoredJob
    task: JobTask
    run: JobTask

    @property
    def caller(self) -> Caller:
        """On whose behalf the catalog is changed."""
        return Caller(self.job.account_id, "reconciler")


class Assignments:
    """Finds what a lease is about, as long as it is live."""

    def __init__(self, store: ReconcileJobStore, stores: CatalogStores) -> None:
        self._store = store
        self._stores = stores

    def get(self, lease: JobLease, *kinds: Kind) -> Assignment:
        """The job of a live lease. `LeaseLostError` for any other."""
        self._store.fence(lease)
        job = self._store.get(lease.account_id, lease.job_id)
        if job.kind not in kinds:
            raise InvalidArgumentError(
                f"job {job.job_id} is a {ReconcileJobKind.Name(job.kind)}: this call isn't for it",
                field="lease",
            )
        task = task_of(job)
        above = root_id(job)
        is_root = above == job.job_id
        run = task if is_root else task_of(self._store.get(lease.account_id, above))
        return Assignment(lease, job, task, run)

    def require_connector(self, assignment: Assignment) -> None:
        """Nothing is mirrored any more for a connector that is gone; NotFoundError then."""
        connectors = Records(self._stores, common_pb2.RK_CONNECTOR, Connector)
        connectors.get(assignment.job.account_id, assignment.job.connector_id)

    def fenced(self, lease: JobLease) -> CatalogStores:
        """The catalog's stores, changed only while the lease is live."""
        kv = FencedKeyValueStore(self._stores.kv, lambda: self._store.fence(lease))
        return CatalogStores(kv, self._stores.blobs, self._stores.clock)


def lease_of(message: wire.JobLease) -> JobLease:
    """A lease as a worker shows it."""
    if not (message.job_id.id and message.job_id.account_id):
        raise InvalidArgumentError("lease.job_id is missing", field="lease.job_id")
    return JobLease(message.job_id.account_id, message.job_id.id, message.epoch)
