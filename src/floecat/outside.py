"""What reaches beyond the service, wired from its settings: secrets, and other people's catalogs.

Worker and service both need it, so it stands apart from what only the service has.
"""

from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import assert_never
from zoneinfo import ZoneInfo

from floecat.connectors.auth.registry import AuthProviders
from floecat.connectors.opening import ConnectorOpener
from floecat.connectors.spi.provider import ConnectorProvider
from floecat.errors import FailedPreconditionError
from floecat.security.credentials.commands import CommandLineTools
from floecat.security.credentials.resolution import CredentialResolver
from floecat.security.credentials.tokens import TokenEndpoint
from floecat.security.guard import OutboundGuard, OutboundRules
from floecat.security.secrets.keyfile import read_key
from floecat.security.secrets.local import LocalSecretsStore, has_secrets
from floecat.security.secrets.port import SecretsStore
from floecat.settings.model import (
    OutboundSettings,
    SecretsBackend,
    SecretsSettings,
    Settings,
    ValueSettings,
)
from floecat.settings.model import (
    TimestampPolicy as TimestampChoice,
)
from floecat.storage.kv.port import KeyValueStore
from floecat.types.policy import TimestampPolicy


@dataclass(frozen=True, slots=True)
class Outside:
    """The ways out."""

    secrets: SecretsStore
    opener: ConnectorOpener
    resolver: CredentialResolver


def open_outside(settings: Settings, kv: KeyValueStore, opened: ExitStack) -> Outside:
    """Everything the settings name; closed with `opened`."""
    guard = OutboundGuard(outbound_rules(settings.outbound))
    secrets = _secrets(settings.secrets, settings.data_dir, kv)
    opened.callback(secrets.close)
    tools = CommandLineTools(enabled=settings.outbound.cli_credentials)
    return Outside(
        secrets, open_connectors(settings), CredentialResolver(TokenEndpoint(guard), tools)
    )


def open_connectors(settings: Settings) -> ConnectorOpener:
    """The installed connectors, under the settings' rules."""
    return ConnectorOpener(
        provider=ConnectorProvider.from_entry_points(),
        auth=AuthProviders.from_entry_points(),
        guard=OutboundGuard(outbound_rules(settings.outbound)),
        timestamps=_timestamps(settings.values),
    )


def outbound_rules(settings: OutboundSettings) -> OutboundRules:
    """What may be reached."""
    return OutboundRules(
        private_addresses=settings.private_addresses,
        file_roots=settings.file_roots,
        proxy=settings.proxy,
        aws_default_chain=settings.aws_default_chain,
    )


def _secrets(settings: SecretsSettings, data_dir: Path, kv: KeyValueStore) -> SecretsStore:
    match settings.backend:
        case SecretsBackend.LOCAL:
            path = settings.key_file or data_dir / "secrets.key"
            return LocalSecretsStore(kv, read_key(path, may_make=not has_secrets(kv)))
        case SecretsBackend.AWS:
            return _aws_secrets(settings)
        case _:
            assert_never(settings.backend)


def _aws_secrets(settings: SecretsSettings) -> SecretsStore:
    if find_spec("boto3") is None:
        raise FailedPreconditionError(
            "secrets = aws needs a library that isn't installed: pip install 'floecat[aws]'",
            reason="MISSING_EXTRA",
            metadata={"extra": "aws"},
        )
    from floecat.security.secrets.aws import AwsSecretsStore  # noqa: PLC0415 - an extra

    return AwsSecretsStore(
        settings.aws_prefix, region=settings.aws_region, endpoint=settings.aws_endpoint
    )


def _timestamps(settings: ValueSettings) -> TimestampPolicy:
    if settings.timestamp_policy is TimestampChoice.REJECT:
        return TimestampPolicy()
    return TimestampPolicy(ZoneInfo(settings.session_timezone))
