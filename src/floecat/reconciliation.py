"""The reconciler, wired from the settings: queue, services, and what it does by itself."""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from google.protobuf.descriptor import ServiceDescriptor

from ai.floedb.floecat.reconciler import executor_control_pb2, reconciler_pb2
from floecat.catalog.connections import Connections
from floecat.catalog.connectors import ConnectorRepository
from floecat.catalog.records import CatalogStores
from floecat.catalog.tables import TableRepository
from floecat.catalog.views import ViewRepository
from floecat.reconciler.assignments import Assignments
from floecat.reconciler.control import ReconcilerService
from floecat.reconciler.executors import (
    REMOTE_DEFAULT,
    REMOTE_FILE_GROUP,
    REMOTE_PLANNER,
    REMOTE_SNAPSHOT_PLANNER,
    SNAPSHOT_FINALIZE,
)
from floecat.reconciler.finalization import SnapshotFinalizeReconcileExecutor
from floecat.reconciler.inputs import LeasedInputs, PlanLimits
from floecat.reconciler.jobs import QueueLimits
from floecat.reconciler.keys import SCHEDULER
from floecat.reconciler.leases import Leases
from floecat.reconciler.listings import FileResultListings, JobListings
from floecat.reconciler.ownership import Ownership
from floecat.reconciler.projections import Projections
from floecat.reconciler.results.connectors import ConnectorPlans
from floecat.reconciler.results.file_groups import FileGroupResults
from floecat.reconciler.results.settling import Results
from floecat.reconciler.results.snapshots import SnapshotPlanResults
from floecat.reconciler.results.tables import TablePlans
from floecat.reconciler.results.views import ViewPlans
from floecat.reconciler.runs import CaptureRuns
from floecat.reconciler.scheduler import Scheduler
from floecat.reconciler.settings import ReconcilerSettingsRepository
from floecat.reconciler.signals import Signals
from floecat.reconciler.store.opening import JobStoreContext, open_job_store
from floecat.reconciler.store.port import ReconcileJobStore
from floecat.reconciler.upkeep import Upkeep, chores
from floecat.service.executor_control import Acceptance, ExecutorControlHandlers
from floecat.service.reconcile_control import ReconcileControlHandlers
from floecat.settings.model import ExecutorSettings, ReconcilerSettings
from floecat.statistics.store import StatsStore
from floecat.storage.kv.schema import incarnation_of

_SCHEDULER_SPAN: Final = timedelta(seconds=15)
"""How long nothing is scheduled after the process that did it has died."""


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """The reconciler of one service process."""

    store: ReconcileJobStore
    service: ReconcilerService
    handlers: Mapping[ServiceDescriptor, object]
    upkeep: Upkeep


def open_reconciliation(
    settings: ReconcilerSettings,
    stores: CatalogStores,
    connectors: ConnectorRepository,
    connections: Connections,
    stats: StatsStore,
    sketch_budget: int,
) -> Reconciliation:
    """Everything that plans, leases, applies and finalizes."""
    limits = PlanLimits(settings.file_group_max_files, settings.file_group_max_bytes, sketch_budget)
    account_settings = ReconcilerSettingsRepository(stores)
    signals = Signals()
    store = _job_store(settings, stores, account_settings, signals)
    enabled = enabled_executors(settings.executors)
    runs = CaptureRuns(
        store,
        connectors,
        TableRepository(stores),
        ViewRepository(stores),
        account_settings,
        enabled,
    )
    projections = Projections(store, settings.job_store.max_attempts)
    service = ReconcilerService(store, runs, projections, stores.kv)
    control = ReconcileControlHandlers(
        service,
        JobListings(store, projections),
        FileResultListings(store, stores.blobs),
        account_settings,
    )
    by_name = {
        reconciler_pb2.DESCRIPTOR.services_by_name["ReconcileControl"]: control,
        executor_control_pb2.DESCRIPTOR.services_by_name[
            "ReconcileExecutorControl"
        ]: _executor_control(store, stores, connections, limits, settings.poll_every),
    }
    ownership = Ownership(stores.kv, SCHEDULER, _SCHEDULER_SPAN, stores.clock)
    scheduler = Scheduler(stores, store, runs, account_settings, ownership)
    finalizer = _finalizer(store, stores, stats) if SNAPSHOT_FINALIZE in enabled else None
    listed = chores(store, settings.job_store.reclaim_interval, finalizer, scheduler, signals)
    return Reconciliation(store, service, by_name, Upkeep(listed))


def _finalizer(
    store: ReconcileJobStore, stores: CatalogStores, stats: StatsStore
) -> SnapshotFinalizeReconcileExecutor:
    process = f"{socket.gethostname()}:{os.getpid()}"
    return SnapshotFinalizeReconcileExecutor(store, stores, process, stats)


def enabled_executors(settings: ExecutorSettings) -> frozenset[str]:
    """The executors that somebody is to run."""
    switches = {
        REMOTE_DEFAULT: settings.remote_default,
        REMOTE_PLANNER: settings.remote_planner,
        REMOTE_SNAPSHOT_PLANNER: settings.remote_snapshot_planner,
        REMOTE_FILE_GROUP: settings.remote_file_group,
        SNAPSHOT_FINALIZE: settings.snapshot_finalize,
    }
    return frozenset(name for name, enabled in switches.items() if enabled)


def _job_store(
    settings: ReconcilerSettings,
    stores: CatalogStores,
    account_settings: ReconcilerSettingsRepository,
    signals: Signals,
) -> ReconcileJobStore:
    queue = settings.job_store

    def finished_retention(account: str) -> timedelta:
        return account_settings.get(account).settings.finished_retention.ToTimedelta()

    limits = QueueLimits(
        max_attempts=queue.max_attempts,
        base_backoff=queue.base_backoff,
        max_backoff=queue.max_backoff,
        lease=queue.lease,
        ready_scan_limit=queue.ready_scan_limit,
        finished_retention=finished_retention,
    )
    context = JobStoreContext(
        kv=stores.kv,
        blobs=stores.blobs,
        limits=limits,
        incarnation=incarnation_of(stores.kv),
        clock=stores.clock,
        signals=signals,
    )
    return open_job_store(queue.backend, context)


def _executor_control(
    store: ReconcileJobStore,
    stores: CatalogStores,
    connections: Connections,
    limits: PlanLimits,
    poll_every: timedelta,
) -> ExecutorControlHandlers:
    assignments = Assignments(store, stores)
    results = Results(store, stores.blobs)
    acceptance = Acceptance(
        connectors=ConnectorPlans(assignments, store.plans),
        tables=TablePlans(assignments, store.plans),
        views=ViewPlans(assignments),
        snapshots=SnapshotPlanResults(assignments, store.plans),
        file_groups=FileGroupResults(assignments, store, stores.blobs),
    )
    return ExecutorControlHandlers(
        Leases(store, results, poll_every),
        LeasedInputs(assignments, store, stores, connections, limits),
        results,
        acceptance,
    )
