"""AuthProvider: what has to be added to a request so that the upstream knows who asks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from floecat.connectors.spi.config import ResolvedAuth
from floecat.security.secret import Secret


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """A request that is about to be sent."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsKeys:
    """AWS credentials."""

    access_key_id: Secret[str]
    secret_access_key: Secret[str]
    session_token: Secret[str] | None = None
    region: str = ""


class AuthProvider(Protocol):
    """Signs requests with credentials that were resolved for it."""

    @property
    def scheme(self) -> str:
        """The name it is registered under."""

    def headers_for(self, request: OutgoingRequest) -> Mapping[str, str]:
        """The headers to add to one request. They are secret: send them, and nothing else."""

    def aws_keys(self) -> AwsKeys | None:
        """Keys for AWS's own clients, where the scheme has them."""


class AuthProviderFactory(Protocol):
    """Makes providers of one scheme; packages offer them as `floecat.auth_providers`."""

    def __call__(self, auth: ResolvedAuth, /) -> AuthProvider: ...
