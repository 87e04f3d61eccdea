"""A worker's parts in a test's own process, against whatever control plane the test has."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from examples.parquet_folder_connector import ParquetFolderConnector, ParquetFolderFactory
from tests.support.connectors import opener

from ai.floedb.floecat.reconciler.executor_control_pb2 import LeasedConnector
from floecat.connectors.opening import ConnectorOpener
from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.factory import ConnectorEnvironment
from floecat.connectors.spi.provider import ConnectorProvider
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.worker.captures import NativeFileGroupCapture
from floecat.worker.connections import OpenConnectors
from floecat.worker.control import ControlPlane
from floecat.worker.default import RemoteDefaultReconcileExecutor
from floecat.worker.executors import Executors
from floecat.worker.file_group import RemoteFileGroupReconcileExecutor
from floecat.worker.heartbeats import Heartbeats
from floecat.worker.planner import RemotePlannerReconcileExecutor
from floecat.worker.poller import PollerSettings, RemoteReconcileExecutorPoller
from floecat.worker.runner import JobRunner
from floecat.worker.snapshot_planner import RemoteSnapshotPlanningReconcileExecutor


@dataclass
class Working:
    """The parts."""

    control: ControlPlane
    connectors: OpenConnectors
    blobs: MemoryBlobStore
    executors: Executors
    heartbeats: Heartbeats
    runner: JobRunner

    def poller(self, **settings: Any) -> RemoteReconcileExecutorPoller:
        chosen = {"max_parallelism": 2, "poll_every": timedelta(milliseconds=50), **settings}
        return RemoteReconcileExecutorPoller(
            PollerSettings(worker_id="w1", **chosen),
            self.control,
            self.executors,
            self.runner,
            self.connectors,
        )


@contextmanager
def working(
    control: ControlPlane, opened: ConnectorOpener, *, lease: timedelta = timedelta(seconds=30)
) -> Iterator[Working]:
    """The parts of a worker, closed at the end."""
    connectors = OpenConnectors(opened)
    blobs = MemoryBlobStore(clock=lambda: datetime.now(UTC))
    capture = NativeFileGroupCapture()
    executors = Executors(
        [
            RemotePlannerReconcileExecutor(control, connectors),
            RemoteDefaultReconcileExecutor(control, connectors, blobs),
            RemoteSnapshotPlanningReconcileExecutor(control, connectors, blobs, capture.opens),
            RemoteFileGroupReconcileExecutor(control, connectors, capture),
        ]
    )
    heartbeats = Heartbeats(control, lease)
    runner = JobRunner(control, executors, heartbeats)
    try:
        yield Working(control, connectors, blobs, executors, heartbeats, runner)
    finally:
        heartbeats.stop()
        connectors.close()
        blobs.close()


class CountingFactory(ParquetFolderFactory):
    """Opens connectors that a test has made, and counts."""

    kind_name = "tested"

    def __init__(self, kind: type[ParquetFolderConnector]) -> None:
        self._kind = kind
        self.opened: list[ParquetFolderConnector] = []
        self.closed = 0

    def create(
        self, config: ConnectorConfig, environment: ConnectorEnvironment
    ) -> FloecatConnector:
        guard = environment.guard
        connector = self._kind(guard.check_path(config.uri), guard.rules)
        close = connector.close

        def count() -> None:
            self.closed += 1
            close()

        connector.close = count  # type: ignore[method-assign]  # to see that it is called
        self.opened.append(connector)
        return connector


def folder_opener(factory: CountingFactory, root: Path) -> ConnectorOpener:
    """An opener that knows one kind."""
    plain = opener([root])
    return ConnectorOpener(
        provider=ConnectorProvider({factory.kind_name: factory}),
        auth=plain.auth,
        guard=plain.guard,
    )


def leased(root: Path, kind_name: str = "tested") -> LeasedConnector:
    """What a lease says of a connector on a folder."""
    connector = LeasedConnector(kind_name=kind_name, uri=f"file://{root}", display_name="lake")
    connector.connector_id.id = "c1"
    connector.auth.scheme = "none"
    return connector
