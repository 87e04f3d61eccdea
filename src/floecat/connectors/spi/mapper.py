"""ConnectorConfigMapper: the contract's messages to the SPI's configuration, and back."""

from collections.abc import Mapping
from datetime import UTC
from typing import Final

from ai.floedb.floecat.connector.connector_pb2 import AuthConfig, Connector, ConnectorKind
from ai.floedb.floecat.reconciler.executor_control_pb2 import LeasedConnector
from ai.floedb.floecat.reconciler.executor_control_pb2 import ResolvedAuth as ResolvedAuthMessage
from floecat.connectors.spi.config import ConnectorConfig, ResolvedAuth
from floecat.security.secret import Secret

MASKED: Final = "***"
"""Shown instead of a secret. Sent back, it means that the secret stays as it is."""

KIND_NAMES: Final = {
    ConnectorKind.CK_ICEBERG_REST: "iceberg-rest",
    ConnectorKind.CK_ICEBERG_GLUE: "iceberg-glue",
    ConnectorKind.CK_ICEBERG_SQL: "iceberg-sql",
    ConnectorKind.CK_ICEBERG_HIVE: "iceberg-hive",
    ConnectorKind.CK_ICEBERG_FILESYSTEM: "iceberg-filesystem",
    ConnectorKind.CK_DELTA_UNITY: "delta-unity",
    ConnectorKind.CK_DELTA_GLUE: "delta-glue",
    ConnectorKind.CK_DELTA_FILESYSTEM: "delta-filesystem",
}
_KINDS: Final = {name: kind for kind, name in KIND_NAMES.items()}


def kind_of(kind_name: str) -> "ConnectorKind.ValueType":
    """The contract's kind for a name; what isn't one of ours is custom."""
    return _KINDS.get(kind_name, ConnectorKind.CK_CUSTOM)


class ConnectorConfigMapper:
    """Both ways, without loss; but secrets never go into a `Connector`."""

    def from_connector(self, connector: Connector, auth: ResolvedAuth) -> ConnectorConfig:
        """The configuration of a connector, with credentials resolved for it."""
        return ConnectorConfig(
            kind_name=KIND_NAMES.get(connector.kind, connector.kind_name),
            uri=connector.uri,
            connector_id=connector.resource_id,
            display_name=connector.display_name,
            description=connector.description,
            options=dict(connector.properties),
            auth=auth,
            source=connector.source,
            destination=connector.destination,
            policy=connector.policy,
            state=connector.state,
        )

    def to_connector(self, config: ConnectorConfig) -> Connector:
        """What of a configuration may be shown."""
        return Connector(
            resource_id=config.connector_id,
            display_name=config.display_name,
            description=config.description,
            kind=kind_of(config.kind_name),
            kind_name=config.kind_name,
            uri=config.uri,
            source=config.source,
            destination=config.destination,
            auth=AuthConfig(
                scheme=config.auth.scheme,
                headers=dict.fromkeys(config.auth.headers, MASKED),
                properties=dict(config.auth.options),
                has_credentials=bool(config.auth.secrets),
            ),
            policy=config.policy,
            state=config.state,
            properties=dict(config.options),
        )

    def from_leased(self, leased: LeasedConnector) -> ConnectorConfig:
        """The configuration that a worker was handed with its lease."""
        return ConnectorConfig(
            kind_name=leased.kind_name,
            uri=leased.uri,
            connector_id=leased.connector_id,
            display_name=leased.display_name,
            options=dict(leased.options),
            auth=_from_auth(leased.auth),
        )

    def to_leased(self, config: ConnectorConfig) -> LeasedConnector:
        """What a worker needs to open the connector. Reveals its secrets: for a lease only."""
        return LeasedConnector(
            connector_id=config.connector_id,
            display_name=config.display_name,
            kind_name=config.kind_name,
            uri=config.uri,
            options=dict(config.options),
            auth=_to_auth(config.auth),
        )


def _from_auth(message: ResolvedAuthMessage) -> ResolvedAuth:
    expires = message.expires_at.ToDatetime(UTC) if message.HasField("expires_at") else None
    return ResolvedAuth(
        scheme=message.scheme,
        secrets=_hidden(message.secrets),
        headers=_hidden(message.headers),
        options=dict(message.options),
        expires_at=expires,
    )


def _to_auth(auth: ResolvedAuth) -> ResolvedAuthMessage:
    message = ResolvedAuthMessage(
        scheme=auth.scheme,
        secrets={name: secret.reveal() for name, secret in auth.secrets.items()},
        headers={name: secret.reveal() for name, secret in auth.headers.items()},
        options=dict(auth.options),
    )
    if auth.expires_at is not None:
        message.expires_at.FromDatetime(auth.expires_at)
    return message


def _hidden(values: Mapping[str, str]) -> dict[str, Secret[str]]:
    return {name: Secret(value) for name, value in values.items()}
