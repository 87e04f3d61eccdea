"""The one module that knows every part and wires them into a service."""

import ipaddress
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from google.protobuf.descriptor import ServiceDescriptor
from prometheus_client import CollectorRegistry

from ai.floedb.floecat.account import account_pb2
from ai.floedb.floecat.catalog import (
    catalog_pb2,
    constraints_pb2,
    directory_pb2,
    index_pb2,
    namespace_pb2,
    snapshot_pb2,
    stats_pb2,
    table_pb2,
    view_pb2,
)
from ai.floedb.floecat.connector import connector_pb2
from floecat.catalog.accounts import AccountRepository
from floecat.catalog.callers import Caller
from floecat.catalog.catalogs import CatalogRepository
from floecat.catalog.connections import Connections
from floecat.catalog.connectors import ConnectorRepository
from floecat.catalog.constraints import ConstraintsRepository
from floecat.catalog.directory import Directory
from floecat.catalog.namespaces import NamespaceRepository
from floecat.catalog.records import CatalogStores
from floecat.catalog.snapshots import SnapshotRepository
from floecat.catalog.sweeps import Dependents, Sweeper
from floecat.catalog.tables import TableRepository
from floecat.catalog.uploads import AttachmentUploads
from floecat.catalog.views import ViewRepository
from floecat.errors import (
    AlreadyExistsError,
    InvalidSettingsError,
    UnavailableError,
)
from floecat.outside import Outside, open_outside
from floecat.reconciler.leftovers import ReconcilerSweep
from floecat.reconciler.upkeep import Upkeep
from floecat.reconciliation import open_reconciliation
from floecat.service.accounts import AccountHandlers
from floecat.service.catalogs import CatalogHandlers
from floecat.service.clocks import check_clock
from floecat.service.connectors import ConnectorHandlers
from floecat.service.constraints import ConstraintsHandlers
from floecat.service.directory import DirectoryHandlers
from floecat.service.endpoints import Surroundings
from floecat.service.logs import configure_logs
from floecat.service.maintenance import Maintenance
from floecat.service.metrics import CallMetrics, serve_metrics
from floecat.service.namespaces import NamespaceHandlers
from floecat.service.principals import DevAuthenticator
from floecat.service.server import Server, ServerConfig
from floecat.service.snapshots import SnapshotHandlers
from floecat.service.table_index import TableIndexHandlers
from floecat.service.table_statistics import TableStatisticsHandlers
from floecat.service.tables import TableHandlers
from floecat.service.views import ViewHandlers
from floecat.settings.model import (
    CaptureSettings,
    KeyValueBackend,
    LogFormat,
    ReconcilerSettings,
    ServerSettings,
    Settings,
)
from floecat.statistics.index_artifacts import IndexArtifactRepository
from floecat.statistics.opening import open_stats_store
from floecat.statistics.reading import TableIndex, TableStatistics
from floecat.statistics.repository import StatsRepository
from floecat.statistics.store import StatsStore
from floecat.storage.blobs.opening import open_blob_store
from floecat.storage.configured import blob_config, key_value_config
from floecat.storage.folders import make_folder
from floecat.storage.open import SqliteKeyValueConfig, open_key_value_store

DEFAULT_ACCOUNT: Final = "default"
DEFAULT_CATALOG: Final = "main"


class Floecat:
    """A running service: stores, handlers, server and housekeeping, opened and closed together."""

    def __init__(self, settings: Settings, *, insecure_on_network: bool = False) -> None:
        _require_loopback(settings.server, allowed=insecure_on_network)
        configure_logs(
            as_json=settings.server.log_format is LogFormat.JSON, level=settings.server.log_level
        )
        with ExitStack() as opened:
            stores = open_stores(settings, opened)
            check_clock(stores.kv, stores.clock)
            default_account_id = ensure_defaults(stores)
            registry = CollectorRegistry()
            around = Surroundings(
                DevAuthenticator(AccountRepository(stores), default_account_id),
                CallMetrics(registry),
                stores.kv.glance,
                settings.server.stream_idle,
            )
            outside = open_outside(settings, stores.kv, opened)
            statistics = open_stats_store(settings.statistics.store, stores)
            served = services(stores, outside, settings.reconciler, statistics, settings.capture)
            self._upkeep = served.upkeep
            self._server = Server(_server_config(settings), served.handlers, around)
            self._maintenance = Maintenance(Sweeper(stores, served.dependents), stores.kv)
            serve_metrics(settings.server.metrics_address, registry, opened)
            self._opened = opened.pop_all()
        self.port = self._server.port

    def __enter__(self) -> Self:
        self._server.start()
        self._maintenance.start()
        self._upkeep.start()
        return self

    def announce_stop(self) -> None:
        """Say to health checks that it will stop; until then it goes on as before."""
        self._server.announce_stop()

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._server.stop()
        self._upkeep.stop()
        self._maintenance.stop()
        self._opened.close()


def open_stores(settings: Settings, opened: ExitStack) -> CatalogStores:
    """The stores that the settings name; closed with `opened`."""
    config = key_value_config(settings.kv, settings.data_dir)
    try:
        if isinstance(config, SqliteKeyValueConfig):
            make_folder(config.path.parent)
        kv = open_key_value_store(config)
        opened.callback(kv.close)
        blobs = open_blob_store(blob_config(settings.blobs, settings.data_dir))
    except OSError as error:
        raise InvalidSettingsError(
            f"can't keep data in {settings.data_dir} ({error.filename or 'there'}: "
            f"{error.strerror}): choose a folder that can be written to with data.dir "
            "(FLOECAT_DATA_DIR)"
        ) from error
    opened.callback(blobs.close)
    return CatalogStores(kv, blobs)


@dataclass(frozen=True, slots=True)
class Services:
    """What is served, and what goes on beside that."""

    handlers: Mapping[ServiceDescriptor, object]
    upkeep: Upkeep
    dependents: Sequence[Dependents]
    """What goes when accounts and connectors do."""


def services(
    stores: CatalogStores,
    outside: Outside,
    settings: ReconcilerSettings | None = None,
    statistics: StatsStore | None = None,
    capture: CaptureSettings | None = None,
) -> Services:
    """Every service, with what serves it."""
    stats = statistics or StatsRepository(stores)
    connectors = ConnectorRepository(stores, outside.secrets, outside.opener)
    connections = Connections(connectors, outside.resolver, outside.opener)
    reconciliation = open_reconciliation(
        settings or ReconcilerSettings(),
        stores,
        connectors,
        connections,
        stats,
        (capture or CaptureSettings()).sketch_budget,
    )
    snapshots = SnapshotRepository(stores)
    by_module = {
        (account_pb2, "AccountService"): AccountHandlers(AccountRepository(stores)),
        (catalog_pb2, "CatalogService"): CatalogHandlers(CatalogRepository(stores)),
        (namespace_pb2, "NamespaceService"): NamespaceHandlers(NamespaceRepository(stores)),
        (table_pb2, "TableService"): TableHandlers(TableRepository(stores)),
        (view_pb2, "ViewService"): ViewHandlers(ViewRepository(stores)),
        (snapshot_pb2, "SnapshotService"): SnapshotHandlers(snapshots, AttachmentUploads(stores)),
        (constraints_pb2, "TableConstraintsService"): ConstraintsHandlers(
            ConstraintsRepository(stores)
        ),
        (stats_pb2, "TableStatisticsService"): TableStatisticsHandlers(
            TableStatistics(stores, stats)
        ),
        (index_pb2, "TableIndexService"): TableIndexHandlers(
            TableIndex(stores, IndexArtifactRepository(stores))
        ),
        (directory_pb2, "DirectoryService"): DirectoryHandlers(Directory(stores), snapshots),
        (connector_pb2, "Connectors"): ConnectorHandlers(
            connectors, connections, reconciliation.service
        ),
    }
    catalog = {
        module.DESCRIPTOR.services_by_name[name]: handler
        for (module, name), handler in by_module.items()
    }
    return Services(
        {**catalog, **reconciliation.handlers},
        reconciliation.upkeep,
        [ReconcilerSweep(stores.kv, reconciliation.store)],
    )


def ensure_defaults(stores: CatalogStores) -> str:
    """An account and a catalog to begin with, so that the first command works; the account's id."""
    accounts = AccountRepository(stores)
    account_id = accounts.find_default_id() or _first_account(accounts)
    if not accounts.ever_had_a_catalog(account_id):
        catalog = catalog_pb2.CatalogSpec(display_name=DEFAULT_CATALOG)
        with suppress(AlreadyExistsError):
            CatalogRepository(stores).create(
                Caller(account_id, "floecat"), catalog_pb2.CreateCatalogRequest(spec=catalog)
            )
    return account_id


def _first_account(accounts: AccountRepository) -> str:
    """The default account of a store that doesn't know which that is: the one of its name."""
    spec = account_pb2.AccountSpec(display_name=DEFAULT_ACCOUNT)
    founder = Caller(DEFAULT_ACCOUNT, "floecat", administrator=True)
    with suppress(AlreadyExistsError):  # made by another process just now, or before it was noted
        accounts.create(founder, account_pb2.CreateAccountRequest(spec=spec))
    named = accounts.find_id(DEFAULT_ACCOUNT)
    if named is not None:
        accounts.keep_default_id(named)
    kept = accounts.find_default_id()
    if kept is None:
        raise UnavailableError("the default account was deleted at this very moment: start again")
    return kept


def _server_config(settings: Settings) -> ServerConfig:
    server = settings.server
    return ServerConfig(
        address=server.address,
        unary_threads=server.unary_threads or _fitting_threads(settings.kv.backend),
        stream_threads=server.stream_threads,
        unary_waiting=server.unary_waiting,
        stream_waiting=server.stream_waiting,
        reflection=server.reflection,
        grace=server.grace,
    )


def _fitting_threads(backend: KeyValueBackend) -> int:
    """On a local store one call computes while another waits for the disk.

    More would only fight over the interpreter, which SQLite gives up and asks for at every row.
    """
    local = backend in (KeyValueBackend.MEMORY, KeyValueBackend.SQLITE)
    return 2 if local else 32


def _require_loopback(settings: ServerSettings, *, allowed: bool) -> None:
    """Without authentication only this machine may connect."""
    host = settings.address.rpartition(":")[0].strip("[]")
    if allowed or host == "localhost" or _is_loopback(host):
        return
    raise InvalidSettingsError(
        f"server.address {settings.address} can be reached from the network, but auth.mode is dev, "
        "which trusts every caller: listen on localhost, or say --insecure-dev-on-network"
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
