"""CredentialResolver: what a connector signs in with, resolved just before it is opened."""

from collections.abc import Callable, Mapping
from typing import Final

from ai.floedb.floecat.connector.connector_pb2 import AuthConfig, AuthCredentials
from ai.floedb.floecat.connector.stored_pb2 import StoredCredentials
from floecat.connectors.spi.config import ResolvedAuth
from floecat.connectors.spi.errors import PermanentUpstreamError, UpstreamProblem
from floecat.security.credentials.commands import CommandLineTools
from floecat.security.credentials.tokens import TokenEndpoint
from floecat.security.secret import Secret

CREDENTIAL_TYPES: Final[Mapping[str, str]] = {
    "bearer": "bearer",
    "client": "client",
    "cli": "cli",
    "token_exchange": "token-exchange",
    "token_exchange_entra": "token-exchange-entra",
    "token_exchange_gcp": "token-exchange-gcp",
    "aws": "aws",
    "aws_assume_role": "aws-assume-role",
    "aws_web_identity": "aws-web-identity",
}
"""What people call the fields of `AuthCredentials`."""


def credentials_type(credentials: AuthCredentials) -> str:
    """The type of credentials, as people call it; empty for none."""
    given = credentials.WhichOneof("credentials")
    return CREDENTIAL_TYPES[given] if given else ""


class CredentialResolver:
    """Resolves and exchanges. Connectors only ever see the result."""

    def __init__(self, tokens: TokenEndpoint, tools: CommandLineTools) -> None:
        self._tokens = tokens
        self._tools = tools
        self._ways: Mapping[str, Callable[[AuthCredentials], ResolvedAuth]] = {
            "": lambda _: ResolvedAuth(),
            "bearer": _bearer,
            "client": lambda given: self._tokens.exchange(given.client),
            "cli": lambda given: self._tools.resolve(given.cli),
            "aws": _aws,
        }

    def resolve(self, auth: AuthConfig, stored: StoredCredentials) -> ResolvedAuth:
        """Sign-in data for one opening. A scheme that the configuration names wins."""
        kind = credentials_type(stored.credentials)
        way = self._ways.get(kind)
        if way is None:
            raise PermanentUpstreamError(
                f"credentials of type {kind!r} are kept, but can't be used yet: until they can, "
                "use bearer, client, cli or aws",
                UpstreamProblem.NOT_SUPPORTED_YET,
            )
        found = way(stored.credentials)
        return ResolvedAuth(
            scheme=auth.scheme or found.scheme,
            secrets=found.secrets,
            headers={name: Secret(value) for name, value in stored.headers.items()},
            options={**found.options, **auth.properties},
            expires_at=found.expires_at,
        )


def _bearer(given: AuthCredentials) -> ResolvedAuth:
    return ResolvedAuth(scheme="bearer", secrets={"token": Secret(given.bearer.token)})


def _aws(given: AuthCredentials) -> ResolvedAuth:
    aws = given.aws
    keys = {"access_key_id": aws.access_key_id, "secret_access_key": aws.secret_access_key}
    if aws.session_token:
        keys["session_token"] = aws.session_token
    return ResolvedAuth(
        scheme="aws-sigv4",
        secrets={name: Secret(value) for name, value in keys.items()},
        options={"region": aws.region} if aws.region else {},
    )
