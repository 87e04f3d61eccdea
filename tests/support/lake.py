"""A small Iceberg catalog of a test's own, and a service that mirrors it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Protocol

import pyarrow as pa
from deltalake import write_deltalake
from pyiceberg.catalog.sql import SqlCatalog
from tests.support.service import connected, running_service
from tests.support.waiting import PATIENCE_SECONDS

import floecat
from ai.floedb.floecat.connector import connector_pb2
from ai.floedb.floecat.reconciler import reconciler_pb2
from floecat.bootstrap import Floecat
from floecat.settings.load import load_settings
from floecat.workshop import Worker

ROWS = pa.table({"id": [1, 2, 3], "name": ["a", "b", None]})


class Lake:
    """An upstream that tests write to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "lake"
        self.folder.mkdir()
        self.uri = f"sqlite:///{self.folder}/catalog.db"
        self.catalog = SqlCatalog("lake", uri=self.uri, warehouse=f"file://{self.folder}/data")

    def add(self, name: str, snapshots: int = 1) -> None:
        """A table with some snapshots."""
        self.catalog.create_namespace_if_not_exists(name.rpartition(".")[0])
        table = self.catalog.create_table(name, ROWS.schema)
        for _ in range(snapshots):
            table.append(ROWS)

    def append(self, name: str) -> None:
        """One more snapshot."""
        self.catalog.load_table(name).append(ROWS)

    def copy(self, name: str, copies: Iterable[str]) -> None:
        """The same table under more names: much quicker than writing it again."""
        location = self.catalog.load_table(name).metadata_location
        for copy in copies:
            self.catalog.create_namespace_if_not_exists(copy.rpartition(".")[0])
            self.catalog.register_table(copy, location)

    def table_names(self) -> list[str]:
        """Every table there is."""
        found = [self.catalog.list_tables(space) for space in self.catalog.list_namespaces()]
        return [".".join(identifier) for tables in found for identifier in tables]

    def snapshot_ids(self) -> list[int]:
        """Every snapshot of every table; tables that are copies share theirs."""
        tables = [self.catalog.load_table(name) for name in self.table_names()]
        return [snapshot.snapshot_id for table in tables for snapshot in table.snapshots()]


class DeltaLake:
    """A folder of Delta tables that tests write to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "lake"
        self.folder.mkdir()
        self.uri = f"file://{self.folder}"

    def overwrite(self, name: str, rows: pa.Table) -> None:
        """The next version of a table: these rows, under their own schema."""
        target = self.folder.joinpath(*name.split("."))
        write_deltalake(target, rows, mode="overwrite", schema_mode="overwrite")


class Upstream(Protocol):
    """A folder that a service may read."""

    folder: Path


@contextmanager
def mirroring(lake: Upstream, folder: Path, **settings: str) -> Iterator[Floecat]:
    """A service that may read the lake, without a worker of its own."""
    chosen = {"outbound_file_roots": str(lake.folder), "reconciler_worker_mode": "remote"}
    with running_service(folder, **{**chosen, **settings}) as service:
        yield service


@contextmanager
def worker_of(service: Floecat, lake: Upstream, folder: Path, **settings: str) -> Iterator[Worker]:
    """A worker of the service that may read the lake."""
    roots = {"outbound_file_roots": str(lake.folder)}
    with working(service, folder, **{**roots, **settings}) as worker:
        yield worker


@contextmanager
def working(service: Floecat, folder: Path, **settings: str) -> Iterator[Worker]:
    """A worker of the service, in a thread of this process."""
    environment = {
        "FLOECAT_DATA_DIR": str(folder / "data"),
        "FLOECAT_LOG_LEVEL": "error",
        "FLOECAT_RECONCILER_POLLEVERY": "20ms",
        "FLOECAT_CAPTURE_ENGINE": "native",  # no file is read, unless a test asks for it
        **{f"FLOECAT_{key.upper()}": value for key, value in settings.items()},
    }
    loaded = load_settings(environment, folder / "empty.toml").settings
    with Worker(loaded, f"127.0.0.1:{service.port}") as worker:
        thread = Thread(target=worker.run)
        thread.start()
        try:
            yield worker
        finally:
            worker.stop()
            thread.join(PATIENCE_SECONDS)


def create_connector(
    clients: floecat.GrpcClients, lake: Lake | DeltaLake, name: str = "lake"
) -> connector_pb2.Connector:
    """A connector into the catalog of the same name."""
    spec = connector_pb2.ConnectorSpec(
        display_name=name,
        kind_name="delta-filesystem" if isinstance(lake, DeltaLake) else "iceberg-sql",
        uri=lake.uri,
        destination=connector_pb2.DestinationTarget(catalog_display_name=name),
    )
    return clients.connectors.CreateConnector(
        connector_pb2.CreateConnectorRequest(spec=spec)
    ).connector


def capture(
    clients: floecat.GrpcClients,
    connector: connector_pb2.Connector,
    *,
    mode: "reconciler_pb2.CaptureMode.ValueType" = reconciler_pb2.METADATA_AND_CAPTURE,
    full: bool = False,
    snapshots: reconciler_pb2.SnapshotSelection | None = None,
) -> reconciler_pb2.ReconcileJob:
    """Run and wait for the end."""
    scope = reconciler_pb2.CaptureScope(connector_id=connector.resource_id, snapshots=snapshots)
    request = reconciler_pb2.CaptureNowRequest(scope=scope, mode=mode, full_rescan=full)
    return capture_now(clients, request)


def capture_now(
    clients: floecat.GrpcClients, request: reconciler_pb2.CaptureNowRequest
) -> reconciler_pb2.ReconcileJob:
    """Run, and wait for the end in the call itself."""
    request.max_wait.seconds = PATIENCE_SECONDS
    # Calls have a deadline of their own, which mustn't come before the end of the wait.
    answer = clients.reconcile.CaptureNow(request, timeout=2 * PATIENCE_SECONDS)
    assert answer.finished, f"waited {PATIENCE_SECONDS} s for this run to end: {answer.job}"
    return answer.job


__all__ = [
    "DeltaLake",
    "Lake",
    "capture",
    "capture_now",
    "connected",
    "create_connector",
    "mirroring",
    "worker_of",
    "working",
]
