"""The one module that knows every part and wires them. Nothing else imports it except `cli`."""

import ipaddress
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Final, Self, assert_never

from google.protobuf.descriptor import ServiceDescriptor
from prometheus_client import CollectorRegistry, start_http_server

from ai.floedb.floecat.account import account_pb2
from ai.floedb.floecat.catalog import (
    catalog_pb2,
    constraints_pb2,
    directory_pb2,
    namespace_pb2,
    snapshot_pb2,
    table_pb2,
    view_pb2,
)
from floecat.catalog.accounts import AccountRepository
from floecat.catalog.callers import Caller
from floecat.catalog.catalogs import CatalogRepository
from floecat.catalog.consistency import ConsistencyCheck, Finding
from floecat.catalog.constraints import ConstraintsRepository
from floecat.catalog.directory import Directory
from floecat.catalog.garbage import GarbageCollector, GarbageReport
from floecat.catalog.namespaces import NamespaceRepository
from floecat.catalog.records import CatalogStores
from floecat.catalog.restore import Restored, restore
from floecat.catalog.snapshots import SnapshotRepository
from floecat.catalog.sweeps import Sweeper
from floecat.catalog.tables import TableRepository
from floecat.catalog.views import ViewRepository
from floecat.clock import utc_now
from floecat.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidSettingsError,
    NotFoundError,
    UnavailableError,
)
from floecat.service.accounts import AccountHandlers
from floecat.service.catalogs import CatalogHandlers
from floecat.service.constraints import ConstraintsHandlers
from floecat.service.directory import DirectoryHandlers
from floecat.service.endpoints import Surroundings
from floecat.service.logs import configure_logs
from floecat.service.maintenance import Maintenance
from floecat.service.metrics import CallMetrics
from floecat.service.namespaces import NamespaceHandlers
from floecat.service.principals import DevAuthenticator
from floecat.service.server import Server, ServerConfig
from floecat.service.snapshots import SnapshotHandlers
from floecat.service.tables import TableHandlers
from floecat.service.views import ViewHandlers
from floecat.settings.model import (
    BlobBackend,
    BlobSettings,
    KeyValueBackend,
    KeyValueSettings,
    LogFormat,
    ServerSettings,
    Settings,
)
from floecat.storage.backup import Backup, EmbeddedStore, back_up
from floecat.storage.folders import make_folder
from floecat.storage.open import (
    BlobConfig,
    DynamoDbKeyValueConfig,
    FilesystemBlobConfig,
    KeyValueConfig,
    MemoryBlobConfig,
    MemoryKeyValueConfig,
    PostgresKeyValueConfig,
    S3BlobConfig,
    SqliteKeyValueConfig,
    open_blob_store,
    open_key_value_store,
)

DEFAULT_ACCOUNT: Final = "default"
DEFAULT_CATALOG: Final = "main"

_OTHER_BACKUPS: Final = {
    KeyValueBackend.MEMORY: "kv = memory: there is nothing to keep",
    KeyValueBackend.POSTGRES: (
        "kv = postgres: use pg_dump, which copies the table floecat_record as of one moment "
        "(pg_dump --table=floecat_record), and then copy the blobs"
    ),
    KeyValueBackend.DYNAMODB: "kv = dynamodb: use the table's point-in-time recovery",
}


class Floecat:
    """A running service: stores, handlers, server and housekeeping, opened and closed together."""

    def __init__(self, settings: Settings, *, insecure_on_network: bool = False) -> None:
        _require_loopback(settings.server, allowed=insecure_on_network)
        configure_logs(
            as_json=settings.server.log_format is LogFormat.JSON, level=settings.server.log_level
        )
        with ExitStack() as opened:
            stores = open_stores(settings, opened)
            ensure_defaults(stores)
            registry = CollectorRegistry()
            accounts = AccountRepository(stores)
            around = Surroundings(
                DevAuthenticator(accounts, DEFAULT_ACCOUNT), CallMetrics(registry)
            )
            self._server = Server(_server_config(settings), handlers(stores), around)
            self._maintenance = Maintenance(Sweeper(stores), stores.kv)
            _serve_metrics(settings.server.metrics_address, registry, opened)
            self._opened = opened.pop_all()
        self.port = self._server.port

    def __enter__(self) -> Self:
        self._server.start()
        self._maintenance.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._server.stop()
        self._maintenance.stop()
        self._opened.close()


def open_stores(settings: Settings, opened: ExitStack) -> CatalogStores:
    """The stores that the settings name; closed with `opened`."""
    config = _key_value_config(settings.kv, settings.data_dir)
    if isinstance(config, SqliteKeyValueConfig):
        make_folder(config.path.parent)
    kv = open_key_value_store(config)
    opened.callback(kv.close)
    blobs = open_blob_store(_blob_config(settings.blobs, settings.data_dir))
    opened.callback(blobs.close)
    return CatalogStores(kv, blobs)


def handlers(stores: CatalogStores) -> Mapping[ServiceDescriptor, object]:
    """Every service that is served, with what serves it."""
    snapshots = SnapshotRepository(stores)
    by_module = {
        (account_pb2, "AccountService"): AccountHandlers(AccountRepository(stores)),
        (catalog_pb2, "CatalogService"): CatalogHandlers(CatalogRepository(stores)),
        (namespace_pb2, "NamespaceService"): NamespaceHandlers(NamespaceRepository(stores)),
        (table_pb2, "TableService"): TableHandlers(TableRepository(stores)),
        (view_pb2, "ViewService"): ViewHandlers(ViewRepository(stores)),
        (snapshot_pb2, "SnapshotService"): SnapshotHandlers(snapshots),
        (constraints_pb2, "TableConstraintsService"): ConstraintsHandlers(
            ConstraintsRepository(stores)
        ),
        (directory_pb2, "DirectoryService"): DirectoryHandlers(Directory(stores), snapshots),
    }
    return {
        module.DESCRIPTOR.services_by_name[name]: handler
        for (module, name), handler in by_module.items()
    }


def ensure_defaults(stores: CatalogStores) -> None:
    """An account and a catalog to begin with, so that the first command works."""
    accounts = AccountRepository(stores)
    spec = account_pb2.AccountSpec(display_name=DEFAULT_ACCOUNT)
    founder = Caller(DEFAULT_ACCOUNT, "floecat", administrator=True)
    with suppress(AlreadyExistsError):  # made at an earlier start, or by another process just now
        accounts.create(founder, account_pb2.CreateAccountRequest(spec=spec))
    account_id = accounts.find_id(DEFAULT_ACCOUNT)
    if account_id is None or accounts.ever_had_a_catalog(account_id):
        return
    catalog = catalog_pb2.CatalogSpec(display_name=DEFAULT_CATALOG)
    with suppress(AlreadyExistsError):
        CatalogRepository(stores).create(
            Caller(account_id, "floecat"), catalog_pb2.CreateCatalogRequest(spec=catalog)
        )


def _key_value_config(settings: KeyValueSettings, data_dir: Path) -> KeyValueConfig:
    match settings.backend:
        case KeyValueBackend.MEMORY:
            return MemoryKeyValueConfig()
        case KeyValueBackend.SQLITE:
            path = settings.sqlite_path or data_dir / "floecat.db"
            return SqliteKeyValueConfig(path)
        case KeyValueBackend.POSTGRES:
            return PostgresKeyValueConfig(settings.postgres_url or "")
        case KeyValueBackend.DYNAMODB:
            return DynamoDbKeyValueConfig(
                settings.dynamodb_table, settings.dynamodb_region, settings.dynamodb_endpoint
            )
        case _:
            assert_never(settings.backend)


def _blob_config(settings: BlobSettings, data_dir: Path) -> BlobConfig:
    match settings.backend:
        case BlobBackend.MEMORY:
            return MemoryBlobConfig()
        case BlobBackend.FILESYSTEM:
            return FilesystemBlobConfig(settings.filesystem_path or data_dir / "blobs")
        case BlobBackend.S3:
            return S3BlobConfig(
                bucket=settings.s3_bucket or "",
                cache=data_dir / "cache",
                prefix=settings.s3_prefix,
                region=settings.s3_region,
                endpoint=settings.s3_endpoint,
                cache_bytes=settings.cache_max_bytes,
            )
        case _:
            assert_never(settings.backend)


def _server_config(settings: Settings) -> ServerConfig:
    server = settings.server
    return ServerConfig(
        address=server.address,
        unary_threads=server.unary_threads or _fitting_threads(settings.kv.backend),
        stream_threads=server.stream_threads,
        reflection=server.reflection,
        grace=server.grace,
    )


def _fitting_threads(backend: KeyValueBackend) -> int:
    """On a local store one call computes while another waits for the disk.

    More would only fight over the interpreter, which SQLite gives up and asks for at every row.
    """
    local = backend in (KeyValueBackend.MEMORY, KeyValueBackend.SQLITE)
    return 2 if local else 32


def _serve_metrics(address: str | None, registry: CollectorRegistry, opened: ExitStack) -> None:
    if not address:
        return
    host, _, port = address.rpartition(":")
    try:
        server, thread = start_http_server(int(port), host or "localhost", registry=registry)
    except OSError as error:
        raise UnavailableError(
            f"can't serve metrics on {address}: {error.strerror} (change metrics.address)"
        ) from error
    opened.callback(thread.join)
    opened.callback(server.server_close)
    opened.callback(server.shutdown)


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


@contextmanager
def opened_stores(settings: Settings) -> Iterator[CatalogStores]:
    """The stores for an administrator's command, beside a service that may be running."""
    kv = _key_value_config(settings.kv, settings.data_dir)
    if isinstance(kv, MemoryKeyValueConfig):
        raise FailedPreconditionError(
            "kv = memory: such a store lives inside its service, and nothing else can look at it"
        )
    if isinstance(kv, SqliteKeyValueConfig) and not kv.path.exists():
        raise NotFoundError(f"there is no store at {kv.path}: is data.dir the service's?")
    with ExitStack() as opened:
        yield open_stores(settings, opened)


def find_inconsistencies(settings: Settings) -> list[Finding]:
    """Everything in the stores that doesn't fit together."""
    with opened_stores(settings) as stores:
        return list(ConsistencyCheck(stores).run())


def finish_deletions(settings: Settings) -> None:
    """Remove now what is deleted for everyone, instead of in the background."""
    with opened_stores(settings) as stores:
        Sweeper(stores).sweep_all()


def collect_garbage(settings: Settings, grace: timedelta, *, dry_run: bool) -> GarbageReport:
    """One pass over blobs that no record names."""
    with opened_stores(settings) as stores:
        return GarbageCollector(stores, grace).collect(dry_run=dry_run)


def make_backup(settings: Settings, target: Path) -> Backup:
    """Copy the store into one file, while it may be in use."""
    store = _embedded_store(settings)
    made_by = f"Floecat {version('floecat')}"
    return back_up(store, target, made_by=made_by, now=utc_now())


def restore_backup(settings: Settings, source: Path, *, force: bool) -> Restored:
    """Make a backup the store. The store that was there is kept under another name."""
    target = _embedded_store(settings)
    make_folder(target.database.parent)
    return restore(source, target, force=force, now=utc_now())


def _embedded_store(settings: Settings) -> EmbeddedStore:
    """Where the records and blobs are, if they are files; or what to use instead."""
    kv = _key_value_config(settings.kv, settings.data_dir)
    if not isinstance(kv, SqliteKeyValueConfig):
        raise FailedPreconditionError(_OTHER_BACKUPS[settings.kv.backend])
    blobs = _blob_config(settings.blobs, settings.data_dir)
    folder = blobs.root if isinstance(blobs, FilesystemBlobConfig) else None
    return EmbeddedStore(kv.path, folder)
