"""ConnectorFactory: opens connectors of one kind."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from ai.floedb.floecat.connector.connector_pb2 import ConnectorFormat
from floecat.connectors.spi.auth import AuthProvider
from floecat.connectors.spi.capabilities import Capabilities
from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.connector import FloecatConnector
from floecat.security.guard import OutboundGuard, OutboundRules
from floecat.types.policy import TimestampPolicy


@dataclass(frozen=True, slots=True)
class ConnectorOption:
    """An option that connectors of a kind understand."""

    name: str
    help: str
    default: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorEnvironment:
    """What a connector is given besides its configuration."""

    auth: AuthProvider
    guard: OutboundGuard = field(default_factory=lambda: OutboundGuard(OutboundRules()))
    timestamps: TimestampPolicy = field(default_factory=TimestampPolicy)
    timeout: timedelta = timedelta(seconds=30)
    """For one answer of the upstream."""


class ConnectorFactory(Protocol):
    """Opens connectors of one kind. Stateless; its libraries are imported when it opens one."""

    @property
    def kind_name(self) -> str:
        """The kind's name, unique among installed packages."""

    @property
    def format(self) -> "ConnectorFormat.ValueType":
        """The format of its tables."""

    @property
    def capabilities(self) -> Capabilities:
        """What its connectors can do."""

    @property
    def options(self) -> tuple[ConnectorOption, ...]:
        """The options it understands; others are refused when a connector is created."""

    def check(self, config: ConnectorConfig) -> None:
        """Raise `PermanentUpstreamError` (BAD_SPEC) for what can be seen without connecting."""

    def create(
        self, config: ConnectorConfig, environment: ConnectorEnvironment
    ) -> FloecatConnector:
        """Open a connector. Called often: validation opens one for a moment, a run for long.

        Every address that the configuration or an answer names passes `environment.guard`.
        """
