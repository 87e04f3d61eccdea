"""A worker, wired from its settings: connectors, blobs, executors, and the way to the service."""

import os
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from types import TracebackType
from typing import Final, Self

from floecat.client.clients import ClientOptions, connect
from floecat.errors import InvalidSettingsError
from floecat.outside import open_connectors
from floecat.pipeline import open_capture
from floecat.service.logs import configure_logs
from floecat.settings.model import BlobBackend, LogFormat, Settings
from floecat.storage.blobs.opening import open_blob_store
from floecat.storage.blobs.port import BlobStore
from floecat.storage.configured import blob_config
from floecat.worker.captures import FileGroupCapture
from floecat.worker.connections import OpenConnectors
from floecat.worker.control import ControlPlane
from floecat.worker.default import RemoteDefaultReconcileExecutor
from floecat.worker.executors import Executor, Executors
from floecat.worker.file_group import RemoteFileGroupReconcileExecutor
from floecat.worker.heartbeats import Heartbeats
from floecat.worker.planner import RemotePlannerReconcileExecutor
from floecat.worker.poller import PollerSettings, RemoteReconcileExecutorPoller
from floecat.worker.runner import JobRunner
from floecat.worker.snapshot_planner import RemoteSnapshotPlanningReconcileExecutor

_ROLE: Final = {"x-floe-role": "reconcile-worker"}
"""How a worker says what it is to a service in dev mode."""


class Worker:
    """Everything a worker process has, opened and closed together."""

    def __init__(self, settings: Settings, server: str) -> None:
        _check(settings)
        configure_logs(
            as_json=settings.server.log_format is LogFormat.JSON, level=settings.server.log_level
        )
        self.worker_id = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._grace = settings.reconciler.worker_grace
        self._lost = threading.Event()
        with ExitStack() as opened:
            clients = opened.enter_context(connect(server, ClientOptions(headers=_ROLE)))
            blobs = open_blob_store(blob_config(settings.blobs, settings.data_dir))
            opened.callback(blobs.close)
            control = ControlPlane(clients.executor)
            connectors = OpenConnectors(open_connectors(settings))
            opened.callback(connectors.close)
            capture = opened.enter_context(open_capture(settings, blobs, self._lost.set))
            self.executors = Executors(_executors(settings, control, connectors, blobs, capture))
            heartbeats = Heartbeats(
                control,
                settings.reconciler.job_store.lease,
                threads=settings.reconciler.max_parallelism + 1,
            )
            opened.callback(heartbeats.stop)
            self._poller = RemoteReconcileExecutorPoller(
                _poller_settings(settings, self.worker_id),
                control,
                self.executors,
                JobRunner(control, self.executors, heartbeats),
                connectors,
            )
            self._opened = opened.pop_all()

    def run(self) -> None:
        """Work until `stop` is called from another thread."""
        self._poller.run()

    @property
    def is_lost(self) -> bool:
        """Whether something broke that only a new process mends: Spark's JVM is gone."""
        return self._lost.is_set()

    def stop(self, grace: timedelta | None = None) -> None:
        """Take no more jobs; finish those under way, or hand them back."""
        self._poller.stop(self._grace if grace is None else grace)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._opened.close()


def _executors(
    settings: Settings,
    control: ControlPlane,
    connectors: OpenConnectors,
    blobs: BlobStore,
    capture: FileGroupCapture,
) -> Iterator[Executor]:
    enabled = settings.reconciler.executors
    if enabled.remote_planner:
        yield RemotePlannerReconcileExecutor(control, connectors)
    if enabled.remote_default:
        yield RemoteDefaultReconcileExecutor(control, connectors, blobs)
    if enabled.remote_snapshot_planner:
        yield RemoteSnapshotPlanningReconcileExecutor(control, connectors, blobs, capture.opens)
    if enabled.remote_file_group:
        yield RemoteFileGroupReconcileExecutor(control, connectors, capture)


def _poller_settings(settings: Settings, worker_id: str) -> PollerSettings:
    return PollerSettings(
        worker_id=worker_id,
        max_parallelism=settings.reconciler.max_parallelism,
        poll_every=settings.reconciler.poll_every,
    )


def _check(settings: Settings) -> None:
    reconciler = settings.reconciler
    if reconciler.max_parallelism == 0:
        raise InvalidSettingsError(
            "reconciler.max-parallelism is 0, which makes a control plane without workers: "
            "give a worker at least 1"
        )
    enabled = reconciler.executors
    if not (
        enabled.remote_planner
        or enabled.remote_default
        or enabled.remote_snapshot_planner
        or enabled.remote_file_group
    ):
        raise InvalidSettingsError(
            "every executor is switched off: enable one, e.g. "
            "reconciler.executor.remote-default.enabled=true"
        )
    if settings.blobs.backend is BlobBackend.MEMORY:
        raise InvalidSettingsError(
            "blobs = memory can't be shared with a worker: use filesystem or s3"
        )
