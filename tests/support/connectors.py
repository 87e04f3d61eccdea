"""Opening connectors in tests, as the service does: by kind, through the installed factories."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from floecat.connectors.auth.registry import AuthProviders
from floecat.connectors.opening import ConnectorOpener
from floecat.connectors.spi.config import ConnectorConfig, ResolvedAuth
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.provider import ConnectorProvider
from floecat.security.guard import OutboundGuard, OutboundRules
from floecat.security.secret import Secret


def opener(roots: Sequence[Path] = ()) -> ConnectorOpener:
    """Every installed kind, with files below the roots and addresses of this machine allowed."""
    rules = OutboundRules(private_addresses=True, file_roots=tuple(roots))
    return ConnectorOpener(
        provider=ConnectorProvider.from_entry_points(),
        auth=AuthProviders.from_entry_points(),
        guard=OutboundGuard(rules),
    )


def open_connector(
    kind_name: str,
    uri: str,
    *,
    roots: Sequence[Path] = (),
    auth: ResolvedAuth | None = None,
    **options: str,
) -> FloecatConnector:
    """Open a connector; `options` have `_` for `.` and `-` where a name needs it."""
    return open_configured(
        ConnectorConfig(kind_name=kind_name, uri=uri, options=options, auth=auth or ResolvedAuth()),
        roots,
    )


def open_configured(config: ConnectorConfig, roots: Sequence[Path] = ()) -> FloecatConnector:
    """Open a connector from its configuration, once that is checked."""
    ready = opener(roots)
    ready.check(config)
    return ready.open(config)


def aws_auth(options: Mapping[str, str] | None = None) -> ResolvedAuth:
    """Keys that moto takes."""
    return ResolvedAuth(
        scheme="aws-sigv4",
        secrets={"access_key_id": Secret("testing"), "secret_access_key": Secret("testing")},
        options={"region": "us-east-1", **(options or {})},
    )
