"""The three kinds of delta connector."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ai.floedb.floecat.connector.connector_pb2 import ConnectorFormat
from floecat.connectors.access import S3_OPTIONS, check_s3_options, own_access
from floecat.connectors.delta.connector import DeltaConnector
from floecat.connectors.delta.sources.filesystem import DEFAULT_NAMESPACE, FilesystemSource
from floecat.connectors.delta.sources.glue import GlueSource
from floecat.connectors.delta.sources.port import TableSource
from floecat.connectors.delta.sources.unity import UnitySource
from floecat.connectors.spi.capabilities import Capabilities
from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.errors import PermanentUpstreamError, UpstreamProblem
from floecat.connectors.spi.factory import ConnectorEnvironment, ConnectorOption
from floecat.security.guard import FILE, HTTP, scheme_of


@dataclass(frozen=True, slots=True)
class DeltaFactory:
    """Opens delta connectors of one kind."""

    kind_name: str
    source: Callable[[ConnectorConfig, ConnectorEnvironment], TableSource]
    capabilities: Capabilities
    options: tuple[ConnectorOption, ...]
    schemes: frozenset[str] | None
    """Which the URI may have; None when it isn't used."""

    @property
    def format(self) -> "ConnectorFormat.ValueType":
        return ConnectorFormat.CF_DELTA

    def check(self, config: ConnectorConfig) -> None:
        """Refuse a URI of another sort, and a region that isn't one."""
        check_s3_options(config.options)
        if self.schemes is None:
            return
        if not config.uri or scheme_of(config.uri) not in self.schemes:
            allowed = ", ".join(sorted(scheme or "a path" for scheme in self.schemes))
            raise PermanentUpstreamError(
                f"{self.kind_name} needs a URI that is one of: {allowed}", UpstreamProblem.BAD_SPEC
            )

    def create(
        self, config: ConnectorConfig, environment: ConnectorEnvironment
    ) -> FloecatConnector:
        """Open a connector."""
        identity = f"{self.kind_name}:{config.connector_id.id or config.uri}"
        source = self.source(config, environment)
        return DeltaConnector(identity, source, self.capabilities, environment.timestamps)


def _filesystem(config: ConnectorConfig, environment: ConnectorEnvironment) -> TableSource:
    access = own_access(environment.guard.rules, environment.auth, config.options)
    namespace = config.options.get("namespace") or DEFAULT_NAMESPACE
    return FilesystemSource(config.uri, access, namespace)


def _capable(*, views: bool = False, nested_namespaces: bool = False) -> Capabilities:
    return Capabilities(
        views=views,
        nested_namespaces=nested_namespaces,
        constraints=True,
        deletion_vectors=True,
        revisions=True,
    )


FILESYSTEM: Final = DeltaFactory(
    "delta-filesystem",
    _filesystem,
    _capable(nested_namespaces=True),
    (
        ConnectorOption(
            "namespace", "The namespace of tables directly in the folder.", DEFAULT_NAMESPACE
        ),
        *S3_OPTIONS,
    ),
    FILE | {"s3", "s3a"},
)
UNITY: Final = DeltaFactory(
    "delta-unity",
    UnitySource,
    _capable(views=True, nested_namespaces=True),
    (ConnectorOption("catalog", "Only this catalog of the server's."), *S3_OPTIONS),
    HTTP,
)
GLUE: Final = DeltaFactory(
    "delta-glue",
    GlueSource,
    _capable(),
    (
        ConnectorOption("glue.region", "The catalog's region; by default the credentials'."),
        ConnectorOption("glue.endpoint", "Another endpoint than the region's own."),
        *S3_OPTIONS,
    ),
    None,
)
