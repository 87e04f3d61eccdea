"""From a connector's record to an open connection: secrets fetched, exchanged, and used once."""

from ai.floedb.floecat.connector import connector_pb2
from ai.floedb.floecat.connector.connector_pb2 import (
    Connector,
    ConnectorSpec,
    ValidateConnectorRequest,
    ValidateConnectorResponse,
    ValidationProblem,
)
from ai.floedb.floecat.connector.stored_pb2 import StoredCredentials
from ai.floedb.floecat.reconciler.reconciler_pb2 import NamespacePath
from floecat.catalog.callers import Caller
from floecat.catalog.connectors import ConnectorRepository
from floecat.catalog.masks import copy_shared_fields
from floecat.catalog.sealing import given_secrets
from floecat.connectors.opening import ConnectorOpener
from floecat.connectors.spi.config import ConnectorConfig
from floecat.connectors.spi.errors import ConnectorError, PermanentUpstreamError, UpstreamProblem
from floecat.connectors.spi.mapper import KIND_NAMES, ConnectorConfigMapper
from floecat.connectors.validation import Validation, failed, validate
from floecat.errors import InvalidArgumentError
from floecat.security.credentials.resolution import CredentialResolver


class Connections:
    """Resolves connectors for whoever opens them."""

    def __init__(
        self,
        connectors: ConnectorRepository,
        resolver: CredentialResolver,
        opener: ConnectorOpener,
    ) -> None:
        self._connectors = connectors
        self._resolver = resolver
        self._opener = opener

    def config_of(self, account: str, connector: Connector) -> ConnectorConfig:
        """A stored connector's configuration, credentials resolved for one opening."""
        return self._config(connector, self._connectors.seal.unsealed(account, connector.auth))

    def validate(
        self, caller: Caller, request: ValidateConnectorRequest
    ) -> ValidateConnectorResponse:
        """Try a connector, stored or not. What goes wrong upstream is the answer."""
        connector, secrets = self._target(caller, request)
        try:
            if request.HasField("spec"):
                self._check(caller, request.spec)
            tried = validate(self._opener, self._config(connector, secrets))
        except ConnectorError as error:
            tried = failed(error)
        return self._response(connector, tried)

    def _target(
        self, caller: Caller, request: ValidateConnectorRequest
    ) -> tuple[Connector, StoredCredentials]:
        match request.WhichOneof("target"):
            case "connector_id":
                stored = self._connectors.get(caller, request.connector_id).message
                return stored, self._connectors.seal.unsealed(caller.account_id, stored.auth)
            case "spec":
                return _connector_of(request.spec), given_secrets(request.spec.auth)
            case _:
                raise InvalidArgumentError(
                    "say what to validate: connector_id, or spec", field="connector_id"
                )

    def _check(self, caller: Caller, spec: ConnectorSpec) -> None:
        try:
            self._connectors.check(caller, spec)
        except InvalidArgumentError as error:
            raise PermanentUpstreamError(error.message, UpstreamProblem.BAD_SPEC) from error

    def _config(self, connector: Connector, secrets: StoredCredentials) -> ConnectorConfig:
        auth = self._resolver.resolve(connector.auth, secrets)
        return ConnectorConfigMapper().from_connector(connector, auth)

    def _response(self, connector: Connector, tried: Validation) -> ValidateConnectorResponse:
        response = ValidateConnectorResponse(
            valid=tried.problem is None,
            message=tried.message,
            namespaces=[NamespacePath(segments=path) for path in tried.namespaces],
            capabilities=tried.capabilities.shown() if tried.capabilities else {},
        )
        response.elapsed.FromTimedelta(tried.elapsed)
        if tried.problem is not None:
            response.problem = ValidationProblem.Value(f"VP_{tried.problem.value}")
        else:
            response.format = self._opener.provider.get(connector.kind_name).format
        return response


def _connector_of(spec: ConnectorSpec) -> Connector:
    connector = connector_pb2.Connector()
    copy_shared_fields(spec, connector)
    connector.kind_name = KIND_NAMES.get(spec.kind, spec.kind_name)
    return connector
