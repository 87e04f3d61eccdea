"""ConnectorConfig: everything a connector needs to open, credentials resolved."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.connector.connector_pb2 import (
    ConnectorState,
    DestinationTarget,
    ReconcilePolicy,
    SourceSelector,
)
from floecat.security.secret import Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedAuth:
    """Credentials that need no further exchange: connectors exchange nothing themselves."""

    scheme: str = "none"
    """none, bearer, aws-sigv4, or what an installed auth provider calls itself."""
    secrets: Mapping[str, Secret[str]] = field(default_factory=dict)
    """`token`; `access_key_id`, `secret_access_key`, `session_token`; …"""
    headers: Mapping[str, Secret[str]] = field(default_factory=dict)
    """Sent with each request."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Not secret: region, service, …"""
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorConfig:
    """A connector's configuration."""

    kind_name: str
    """`iceberg-rest` and so on, or what an installed package registered."""
    uri: str
    connector_id: ResourceId = field(default_factory=ResourceId)
    display_name: str = ""
    description: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    auth: ResolvedAuth = field(default_factory=ResolvedAuth)
    source: SourceSelector = field(default_factory=SourceSelector)
    destination: DestinationTarget = field(default_factory=DestinationTarget)
    policy: ReconcilePolicy = field(default_factory=ReconcilePolicy)
    state: "ConnectorState.ValueType" = ConnectorState.CS_UNSPECIFIED
