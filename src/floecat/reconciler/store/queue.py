"""Being ready: in the queue when a job may run, parked while another has its lane."""

from ai.floedb.floecat.reconciler.stored_pb2 import StoredJob
from floecat.reconciler import keys
from floecat.reconciler.store.canonical import find_job
from floecat.reconciler.transactions import Transaction
from floecat.storage.kv.port import KeyValueStore

_NOTHING = b""


class ReadyQueue:
    """Puts jobs into the queue and takes them out, lanes observed."""

    def __init__(self, kv: KeyValueStore) -> None:
        self._kv = kv

    def admit(self, tx: Transaction, job: StoredJob) -> None:
        """A queued job becomes ready, or is parked if another job has its lane."""
        if not job.lane or self._take(tx, job):
            self._put(tx, job)
        else:
            tx.put(keys.parked(job), _NOTHING)

    def withdraw(self, tx: Transaction, job: StoredJob) -> None:
        """A queued job isn't to run any more; its lane, if it has it, stays with it."""
        tx.delete(keys.ready(job))
        if job.lane:
            tx.delete(keys.parked(job))

    def release(self, tx: Transaction, job: StoredJob) -> None:
        """Give the job's lane to the next that waits for it."""
        if not job.lane or self._owner(tx, job) != job.job_id:
            return
        lane = keys.lane(job.account_id, job.lane)
        following = self._next_parked(tx, job)
        if following is None:
            tx.delete(lane)
            return
        tx.put(lane, following.job_id.encode())
        tx.delete(keys.parked(following))
        self._put(tx, following)

    def _put(self, tx: Transaction, job: StoredJob) -> None:
        tx.put(keys.ready(job), _NOTHING)
        # Always written: whoever found the partition empty deletes this row only as it was then.
        tx.put(keys.turn(job), _NOTHING)

    def _take(self, tx: Transaction, job: StoredJob) -> bool:
        owner = self._owner(tx, job)
        if owner == job.job_id:
            return True
        if owner is not None:
            return False
        tx.put(keys.lane(job.account_id, job.lane), job.job_id.encode())
        return True

    def _owner(self, tx: Transaction, job: StoredJob) -> str | None:
        value = tx.get(keys.lane(job.account_id, job.lane))
        return None if value is None else value.decode()

    def _next_parked(self, tx: Transaction, job: StoredJob) -> StoredJob | None:
        """The first that is parked. Nobody parks meanwhile: that reads the lane, which we write."""
        partition = keys.parked_partition(job.account_id, job.lane)
        for record in self._kv.scan(partition, limit=8):
            if tx.get(record.key) is None:
                continue
            _, job_id = keys.due_of(record.key.sort)
            found = find_job(tx, job.account_id, job_id)
            if found is not None and job_id != job.job_id:
                return found
        return None
