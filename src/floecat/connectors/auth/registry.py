"""Which ways to sign in there are: ours, and those of installed packages."""

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Final

from floecat.connectors.spi.auth import AuthProvider, AuthProviderFactory
from floecat.connectors.spi.config import ResolvedAuth
from floecat.connectors.spi.errors import PermanentUpstreamError, UpstreamProblem
from floecat.errors import InvalidSettingsError

GROUP: Final = "floecat.auth_providers"


class AuthProviders:
    """Providers by scheme."""

    def __init__(self, factories: Mapping[str, AuthProviderFactory]) -> None:
        self._factories = dict(factories)

    @classmethod
    def from_entry_points(cls) -> "AuthProviders":
        """Every scheme that an installed package offers. Two of one name are refused."""
        factories: dict[str, AuthProviderFactory] = {}
        for point in entry_points(group=GROUP):
            if point.name in factories:
                raise InvalidSettingsError(
                    f"two packages offer the auth scheme {point.name!r}: uninstall one"
                )
            factories[point.name] = point.load()
        return cls(factories)

    def schemes(self) -> list[str]:
        """The names of the schemes there are."""
        return sorted(self._factories)

    def create(self, auth: ResolvedAuth) -> AuthProvider:
        """The provider for resolved credentials."""
        factory = self._factories.get(auth.scheme or "none")
        if factory is None:
            raise PermanentUpstreamError(
                f"there is no auth scheme {auth.scheme!r}; there are {', '.join(self.schemes())}",
                UpstreamProblem.BAD_SPEC,
            )
        return factory(auth)
