"""The queue that the settings name: ours, or one that an installed package offers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Final, TypeAlias

from floecat.clock import Clock, utc_now
from floecat.errors import InvalidSettingsError
from floecat.reconciler.jobs import QueueLimits
from floecat.reconciler.signals import SignallingKeyValueStore, Signals
from floecat.reconciler.store.durable import DurableReconcileJobStore
from floecat.reconciler.store.memory import InMemoryReconcileJobStore
from floecat.reconciler.store.port import ReconcileJobStore
from floecat.storage.blobs.port import BlobStore
from floecat.storage.kv.port import KeyValueStore

ENTRY_POINTS: Final = "floecat.job_stores"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStoreContext:
    """What a queue is given to live in."""

    kv: KeyValueStore
    blobs: BlobStore
    limits: QueueLimits = field(default_factory=QueueLimits)
    incarnation: int = 1
    """Higher after every restored backup: epochs from before must not count."""
    clock: Clock = utc_now
    signals: Signals = field(default_factory=Signals)
    """Whoever in this process waits for what the queue writes; nobody has to be told."""


JobStoreFactory: TypeAlias = Callable[[JobStoreContext], ReconcileJobStore]
"""What packages offer as `floecat.job_stores`."""


def open_job_store(name: str, context: JobStoreContext) -> ReconcileJobStore:
    """The queue of a name."""
    found = [entry for entry in entry_points(group=ENTRY_POINTS) if entry.name == name]
    if not found:
        known = sorted({entry.name for entry in entry_points(group=ENTRY_POINTS)})
        raise InvalidSettingsError(
            f"reconciler.job-store = {name}: there is no such store; {', '.join(known)} are there"
        )
    factory: JobStoreFactory = found[0].load()
    return factory(context)


def durable(context: JobStoreContext) -> ReconcileJobStore:
    """Jobs in the key-value store, beside the catalog."""
    return DurableReconcileJobStore(
        SignallingKeyValueStore(context.kv, context.signals),
        context.blobs,
        limits=context.limits,
        incarnation=context.incarnation,
        clock=context.clock,
    )


def memory(context: JobStoreContext) -> ReconcileJobStore:
    """Jobs in this process, forgotten at exit."""
    return InMemoryReconcileJobStore(
        context.kv,
        context.blobs,
        limits=context.limits,
        clock=context.clock,
        signals=context.signals,
    )
