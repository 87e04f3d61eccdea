"""A connector's secrets, kept apart from its record: the record only says where they are."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from ai.floedb.floecat.connector.connector_pb2 import AuthConfig, ConnectorSpec
from ai.floedb.floecat.connector.stored_pb2 import StoredCredentials
from floecat.connectors.spi.mapper import MASKED
from floecat.errors import InvalidArgumentError
from floecat.security.credentials.resolution import credentials_type
from floecat.security.secret import Secret
from floecat.security.secrets.port import SecretsStore, new_reference
from floecat.storage.kv.port import Operation

ORPHANED_AFTER: Final = timedelta(hours=1)
"""A secret is written before the record that names it; one unnamed for this long is nobody's."""


class Seal:
    """Takes secrets out of specifications, and finds them again."""

    def __init__(self, secrets: SecretsStore) -> None:
        self._secrets = secrets

    def sealed(
        self, account: str, connector_id: str, spec: ConnectorSpec, current: ConnectorSpec | None
    ) -> tuple[ConnectorSpec, tuple[Operation, ...]]:
        """The specification without secrets, and what keeps these.

        Credentials that aren't sent stay as they are, and so do headers sent back masked; the
        scheme `none` forgets the credentials.
        """
        old = current.auth if current else AuthConfig()
        kept = self.unsealed(account, old)
        wanted = _wanted(spec.auth, kept)
        if current is not None:
            _require_own_host(current, spec, kept, wanted)
        reference = old.credentials_reference
        operations: tuple[Operation, ...] = ()
        if wanted != kept:
            reference, operations = self._keep(account, connector_id, wanted)
            operations += self.removed(account, old)
        public = ConnectorSpec()
        public.CopyFrom(spec)
        public.auth.CopyFrom(_public(spec.auth, wanted, reference))
        return public, operations

    def unsealed(self, account: str, auth: AuthConfig) -> StoredCredentials:
        """The secrets of a connector."""
        if not auth.credentials_reference:
            return StoredCredentials()
        content = self._secrets.get(account, auth.credentials_reference)
        return StoredCredentials.FromString(content.reveal())

    def removed(self, account: str, auth: AuthConfig) -> tuple[Operation, ...]:
        """What to commit with a record that stops naming its secrets."""
        if not auth.credentials_reference:
            return ()
        return self._secrets.remove(account, auth.credentials_reference)

    def forget(self, account: str, auth: AuthConfig) -> None:
        """Remove the secrets that a record has stopped naming."""
        if auth.credentials_reference:
            self._secrets.delete(account, auth.credentials_reference)

    def _keep(
        self, account: str, connector_id: str, wanted: StoredCredentials
    ) -> tuple[str, tuple[Operation, ...]]:
        if wanted == StoredCredentials():
            return "", ()
        reference = new_reference(f"connector/{connector_id}")
        content = wanted.SerializeToString(deterministic=True)
        return reference, self._secrets.put(account, reference, Secret(content))


def _require_own_host(
    current: ConnectorSpec, spec: ConnectorSpec, kept: StoredCredentials, wanted: StoredCredentials
) -> None:
    """Secrets were given for one host; whoever names another must have them anew."""
    moved = urlsplit(current.uri).netloc != urlsplit(spec.uri).netloc
    carried = kept.HasField("credentials") and wanted.credentials == kept.credentials
    headers = any(kept.headers.get(name) == value for name, value in wanted.headers.items())
    if moved and (carried or headers):
        raise InvalidArgumentError(
            "its stored secrets would go to another host: send the credentials and headers again "
            "with the new URI, or the scheme none to forget them",
            field="spec.uri",
        )


def given_secrets(auth: AuthConfig) -> StoredCredentials:
    """The secrets that a specification carries itself."""
    return _wanted(auth, StoredCredentials())


def _wanted(auth: AuthConfig, kept: StoredCredentials) -> StoredCredentials:
    wanted = StoredCredentials(headers=_headers(auth.headers, kept.headers))
    if credentials_type(auth.credentials):
        wanted.credentials.CopyFrom(auth.credentials)
    elif auth.scheme != "none" and kept.HasField("credentials"):
        wanted.credentials.CopyFrom(kept.credentials)
    return wanted


def _headers(given: Mapping[str, str], kept: Mapping[str, str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in given.items():
        if value == MASKED and name not in kept:
            raise InvalidArgumentError(
                f"the header {name!r} has no value yet: send it", field="spec.auth.headers"
            )
        headers[name] = kept[name] if value == MASKED else value
    return headers


def _public(auth: AuthConfig, wanted: StoredCredentials, reference: str) -> AuthConfig:
    kind = credentials_type(wanted.credentials)
    return AuthConfig(
        scheme=auth.scheme,
        headers=dict.fromkeys(wanted.headers, MASKED),
        properties=auth.properties,
        credentials_type=kind,
        has_credentials=bool(kind),
        credentials_reference=reference,
    )
