"""The kinds of Iceberg connector, what can be set for each, and opening them."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from ai.floedb.floecat.connector.connector_pb2 import ConnectorFormat
from floecat.connectors.access import S3_OPTIONS, check_s3_options
from floecat.connectors.iceberg import opening
from floecat.connectors.iceberg.catalog import SourceCatalog
from floecat.connectors.iceberg.connector import IcebergConnector
from floecat.connectors.spi.capabilities import Capabilities
from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.errors import PermanentUpstreamError, UpstreamProblem
from floecat.connectors.spi.factory import ConnectorEnvironment, ConnectorOption
from floecat.security.guard import OBJECT_STORES, scheme_of

_FLAT: Final = Capabilities(
    native_ndv=True,
    constraints=True,
    position_deletes=True,
    equality_deletes=True,
    deletion_vectors=True,
    revisions=True,
)
_NESTED: Final = replace(_FLAT, nested_namespaces=True)
_WITH_VIEWS: Final = replace(_NESTED, views=True)

_LOCAL: Final = frozenset({"", "file"})

Open = Callable[[ConnectorConfig, ConnectorEnvironment], SourceCatalog]


@dataclass(frozen=True, slots=True, kw_only=True)
class IcebergFactory:
    """Opens connectors of one kind."""

    kind_name: str
    capabilities: Capabilities
    schemes: frozenset[str]
    """What a URI of this kind may start with."""
    open_catalog: Open
    own_options: tuple[ConnectorOption, ...] = ()
    format: "ConnectorFormat.ValueType" = ConnectorFormat.CF_ICEBERG

    @property
    def options(self) -> tuple[ConnectorOption, ...]:
        return (*self.own_options, *S3_OPTIONS)

    def check(self, config: ConnectorConfig) -> None:
        """The URI's scheme, and the region of its files."""
        check_s3_options(config.options)
        scheme = scheme_of(config.uri)
        if scheme.partition("+")[0] not in self.schemes:
            expected = ", ".join(sorted(f"{scheme}:" for scheme in self.schemes if scheme))
            raise _bad(f"the URI of an {self.kind_name} connector starts with {expected}")

    def create(
        self, config: ConnectorConfig, environment: ConnectorEnvironment
    ) -> FloecatConnector:
        self.check(config)
        catalog = self.open_catalog(config, environment)
        return IcebergConnector(
            _identity(config), catalog, self.capabilities, environment.timestamps
        )


def _identity(config: ConnectorConfig) -> str:
    """The same for the same upstream in every process, whoever signs in."""
    parts = [config.kind_name, config.uri, *_sorted(config.options)]
    digest = hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:16]
    return f"{config.kind_name}:{digest}"


def _sorted(options: Mapping[str, str]) -> list[str]:
    return [f"{key}={options[key]}" for key in sorted(options)]


def _bad(message: str) -> PermanentUpstreamError:
    return PermanentUpstreamError(message, UpstreamProblem.BAD_SPEC)


REST: Final = IcebergFactory(
    kind_name="iceberg-rest",
    capabilities=replace(_WITH_VIEWS, revisions=False),
    schemes=frozenset({"http", "https"}),
    open_catalog=opening.open_rest,
    own_options=(
        ConnectorOption("warehouse", "which of the server's warehouses"),
        ConnectorOption("prefix", "path prefix, where the server doesn't say it itself"),
    ),
)
GLUE: Final = IcebergFactory(
    kind_name="iceberg-glue",
    capabilities=_FLAT,
    schemes=frozenset({"", "glue"}),
    open_catalog=opening.open_glue,
    own_options=(
        ConnectorOption("glue.region", "region of the catalog; by default the credentials'"),
        ConnectorOption("glue.endpoint", "another endpoint than the region's own"),
        ConnectorOption("glue.catalog-id", "account of the catalog, when it isn't the caller's"),
    ),
)
SQL: Final = IcebergFactory(
    kind_name="iceberg-sql",
    capabilities=_WITH_VIEWS,
    schemes=frozenset({"sqlite", "postgresql"}),
    open_catalog=opening.open_sql,
    own_options=(
        ConnectorOption("catalog-name", "which catalog, when the database holds several"),
        ConnectorOption("user", "user of the database"),
    ),
)
HIVE: Final = IcebergFactory(
    kind_name="iceberg-hive",
    capabilities=_FLAT,
    schemes=frozenset({"thrift"}),
    open_catalog=opening.open_hive,
)
FILESYSTEM: Final = IcebergFactory(
    kind_name="iceberg-filesystem",
    capabilities=_NESTED,
    schemes=_LOCAL | OBJECT_STORES,
    open_catalog=opening.open_filesystem,
    own_options=(
        ConnectorOption("namespace", "namespace of a single table", "default"),
        ConnectorOption("table", "name of a single table; by default its folder's"),
    ),
)
