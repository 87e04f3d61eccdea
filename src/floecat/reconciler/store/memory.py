"""InMemoryReconcileJobStore: the same queue, forgotten at exit."""

from dataclasses import replace

from floecat.clock import Clock, utc_now
from floecat.reconciler.jobs import JobLease, Outcome, QueueLimits, Report, Settled
from floecat.reconciler.signals import SignallingKeyValueStore, Signals
from floecat.reconciler.states import SUCCEEDED
from floecat.reconciler.store.durable import DurableReconcileJobStore
from floecat.storage.blobs.port import BlobStore
from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.port import ANY, KeyValueStore, Operation, Put


class InMemoryReconcileJobStore(DurableReconcileJobStore):
    """A queue beside the catalog's store, not in it.

    So a commit to the catalog can't expect a lease: it is looked at before each commit instead, and
    what a result publishes is written behind its job's transition.
    """

    def __init__(
        self,
        catalog: KeyValueStore,
        blobs: BlobStore,
        *,
        limits: QueueLimits | None = None,
        clock: Clock = utc_now,
        signals: Signals | None = None,
    ) -> None:
        kv = SignallingKeyValueStore(MemoryKeyValueStore(clock=clock), signals or Signals())
        super().__init__(kv, blobs, limits=limits, clock=clock)
        self._catalog = catalog

    def fence(self, lease: JobLease) -> tuple[Operation, ...]:
        super().fence(lease)
        return ()

    def settle(
        self,
        lease: JobLease,
        result_id: str,
        fingerprint: bytes,
        outcome: Outcome,
        report: Report | None = None,
    ) -> Settled:
        given = report or Report()
        settled = super().settle(lease, result_id, fingerprint, outcome, replace(given, records={}))
        if settled.state == SUCCEEDED:
            self._catalog.commit([Put(key, value, ANY) for key, value in given.records.items()])
        return settled
