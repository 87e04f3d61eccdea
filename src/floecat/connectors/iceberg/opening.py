"""Opening catalogs: every address passes the guard before anything connects to it."""

from typing import Any, Final
from urllib.parse import quote

from floecat.connectors.access import own_access
from floecat.connectors.glue import glue_client
from floecat.connectors.iceberg.catalog import SourceCatalog
from floecat.connectors.iceberg.errors import missing_library, reading
from floecat.connectors.iceberg.filesystem import FolderCatalog, is_metadata_file
from floecat.connectors.iceberg.glue import GlueCatalog
from floecat.connectors.iceberg.hive import HiveCatalog
from floecat.connectors.iceberg.rest import RestCatalog
from floecat.connectors.iceberg.sql import SqlCatalog
from floecat.connectors.iceberg.storage import SourceFiles
from floecat.connectors.spi.access import FileAccess
from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.errors import PermanentUpstreamError, UpstreamProblem
from floecat.connectors.spi.factory import ConnectorEnvironment
from floecat.connectors.spi.records import Namespace
from floecat.security.http import GuardedClient

_THRIFT: Final = frozenset({"thrift"})
_POSTGRES_PORT: Final = 5432
_POSTGRES_SETTINGS: Final = frozenset({"application_name", "connect_timeout", "sslmode"})
"""What a URI may ask of the connection. Other settings name hosts, or files of this machine."""


def open_rest(config: ConnectorConfig, environment: ConnectorEnvironment) -> SourceCatalog:
    """A REST catalog; its answers may be whole tables' metadata, so they may be large."""
    with reading(config.uri):
        environment.guard.check_url(config.uri)
    client = GuardedClient(
        environment.guard, timeout=environment.timeout, max_bytes=512 * 1024 * 1024
    )
    try:
        access = _access(config, environment)
        return RestCatalog(config.uri, client, environment.auth, access, config.options)
    except BaseException:
        client.close()
        raise


def open_glue(config: ConnectorConfig, environment: ConnectorEnvironment) -> SourceCatalog:
    """AWS's Glue, or what answers like it at another endpoint."""
    with reading("Glue"):
        client = glue_client(config, environment)
    catalog_id = config.options.get("glue.catalog-id", "")
    return GlueCatalog(client, _access(config, environment), catalog_id)


def open_sql(config: ConnectorConfig, environment: ConnectorEnvironment) -> SourceCatalog:
    """SQLite by its file, opened for reading only; PostgreSQL by its host."""
    try:
        from sqlalchemy.engine import URL, make_url  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise missing_library("sqlalchemy") from error
    with reading(config.uri):
        url = make_url(config.uri)
    if url.username or url.password:
        raise _bad("the URI carries a user or password: give them apart from it")
    with reading(config.uri):
        if url.get_backend_name() == "sqlite":
            path = quote(str(environment.guard.check_path(url.database or "")))
            url = URL.create("sqlite", database=f"file:{path}", query={"mode": "ro", "uri": "true"})
        else:
            url = _postgres(url, config, environment)
    name = config.options.get("catalog-name", "")
    return SqlCatalog(url, _access(config, environment), name, config.uri)


def open_hive(config: ConnectorConfig, environment: ConnectorEnvironment) -> SourceCatalog:
    """A metastore that speaks thrift."""
    with reading(config.uri):
        environment.guard.check_url(config.uri, _THRIFT)
    return HiveCatalog(config.uri, _access(config, environment), environment.timeout)


def open_filesystem(config: ConnectorConfig, environment: ConnectorEnvironment) -> SourceCatalog:
    """A folder of an object store, or of this machine below the allowed roots."""
    files = SourceFiles(_access(config, environment))
    with reading(config.uri):
        environment.guard.check(config.uri)
        return FolderCatalog(config.uri, files, _single(config))


def _single(config: ConnectorConfig) -> tuple[Namespace, str]:
    """How a table that is alone is called."""
    parts = config.uri.rstrip("/").split("/")
    if is_metadata_file(config.uri):
        parts = parts[: -2 if parts[-2] == "metadata" else -1]
    namespace = tuple(config.options.get("namespace", "default").split("."))
    return namespace, config.options.get("table", "") or parts[-1]


def _access(config: ConnectorConfig, environment: ConnectorEnvironment) -> FileAccess:
    return own_access(environment.guard.rules, environment.auth, config.options)


def _postgres(url: Any, config: ConnectorConfig, environment: ConnectorEnvironment) -> Any:
    """With the driver that Floecat has, and the password that the URI must not carry.

    The driver connects to addresses that were approved, and knows the host's name for TLS only.
    """
    refused = sorted(set(url.query) - _POSTGRES_SETTINGS)
    if refused:
        allowed = ", ".join(sorted(_POSTGRES_SETTINGS))
        raise _bad(f"the URI sets {refused[0][:40]!r}: it may set {allowed}")
    if not url.host:
        raise _bad("the URI names no host")
    approved = environment.guard.check_host(url.host, url.port or _POSTGRES_PORT)
    each = [str(address) for address in approved.addresses]
    hosts = {
        "host": ",".join([approved.host] * len(each)),
        "hostaddr": ",".join(each),
        "port": ",".join([str(approved.port)] * len(each)),
    }
    password = config.auth.secrets.get("token")
    return url.set(
        drivername="postgresql+psycopg",
        host=None,
        port=None,
        query={**url.query, **hosts},
        username=config.options.get("user") or None,
        password=password.reveal() if password else None,
    )


def _bad(message: str) -> PermanentUpstreamError:
    return PermanentUpstreamError(message, UpstreamProblem.BAD_SPEC)
