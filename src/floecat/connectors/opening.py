"""Opening a connector from its configuration: the kind's factory, the way to sign in, the guard."""

from dataclasses import dataclass, field
from datetime import timedelta

from floecat.connectors.auth.registry import AuthProviders
from floecat.connectors.failures import connector_error
from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.errors import ConnectorError, PermanentUpstreamError, UpstreamProblem
from floecat.connectors.spi.factory import ConnectorEnvironment
from floecat.connectors.spi.provider import ConnectorProvider
from floecat.errors import FloecatError
from floecat.security.guard import OutboundGuard
from floecat.types.policy import TimestampPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorOpener:
    """Opens connectors of every installed kind."""

    provider: ConnectorProvider
    auth: AuthProviders
    guard: OutboundGuard
    timestamps: TimestampPolicy = field(default_factory=TimestampPolicy)

    def check(self, config: ConnectorConfig) -> None:
        """Refuse what can be seen to be wrong without connecting."""
        factory = self.provider.get(config.kind_name)
        known = {option.name for option in factory.options}
        strangers = sorted(set(config.options) - known)
        if strangers:
            raise PermanentUpstreamError(
                f"{config.kind_name} has no option {', '.join(strangers)}; it has "
                f"{', '.join(sorted(known)) or 'none'}",
                UpstreamProblem.BAD_SPEC,
            )
        factory.check(config)

    def open(
        self, config: ConnectorConfig, timeout: timedelta = timedelta(seconds=30)
    ) -> FloecatConnector:
        """Open a connector. Whatever goes wrong is a `ConnectorError`."""
        try:
            environment = ConnectorEnvironment(
                auth=self.auth.create(config.auth),
                guard=self.guard,
                timestamps=self.timestamps,
                timeout=timeout,
            )
            return self.provider.get(config.kind_name).create(config, environment)
        except ConnectorError:
            raise
        except (FloecatError, OSError) as error:
            raise connector_error(error, f"the upstream of {config.display_name!r}") from error
