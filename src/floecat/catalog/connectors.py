"""Connectors of an account: what they reach, how, and where what they find goes."""

from collections.abc import Iterator

from ai.floedb.floecat.account.account_pb2 import Account
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import PageRequest, ResourceId
from ai.floedb.floecat.connector.connector_pb2 import (
    Connector,
    ConnectorKind,
    ConnectorSpec,
    ConnectorState,
    CreateConnectorRequest,
    CreateConnectorResponse,
    DeleteConnectorRequest,
    DeleteConnectorResponse,
    UpdateConnectorRequest,
    UpdateConnectorResponse,
)
from floecat.catalog import keys
from floecat.catalog.callers import Caller, named_id
from floecat.catalog.codec import Stored
from floecat.catalog.paging import Page
from floecat.catalog.records import CatalogStores, Records
from floecat.catalog.resources import Resources
from floecat.catalog.rules import Home, ResourceRules
from floecat.catalog.sealing import ORPHANED_AFTER, Seal
from floecat.catalog.specs import ConnectorChecks
from floecat.connectors.opening import ConnectorOpener
from floecat.connectors.spi.mapper import KIND_NAMES, kind_of
from floecat.security.secrets.port import SecretInfo, SecretsStore
from floecat.storage.kv.port import ANY, Operation, Put


class ConnectorRules(ResourceRules[Connector, ConnectorSpec]):
    """A connector lies in its account; its secrets lie in the secrets store."""

    kind = common_pb2.RK_CONNECTOR
    message_type = Connector
    spec_type = ConnectorSpec
    immutable = ("kind", "kind_name")

    def __init__(self, stores: CatalogStores, seal: Seal, opener: ConnectorOpener) -> None:
        self._accounts = Records(stores, common_pb2.RK_ACCOUNT, Account)
        self._seal = seal
        self._opener = opener
        self._checks = ConnectorChecks(stores, opener)

    def home(self, caller: Caller, spec: ConnectorSpec) -> Home:
        return self._home(caller.account_id)

    def home_of(self, account: str, message: Connector) -> Home:
        return self._home(account)

    def check(self, caller: Caller, spec: ConnectorSpec) -> None:
        self._checks.check(caller, spec)

    def normalised(self, spec: ConnectorSpec) -> ConnectorSpec:
        """With both the kind and its name, whichever of them was given."""
        full = ConnectorSpec()
        full.CopyFrom(spec)
        full.kind_name = KIND_NAMES.get(spec.kind, spec.kind_name)
        if full.kind_name and spec.kind == ConnectorKind.CK_UNSPECIFIED:
            full.kind = kind_of(full.kind_name)
        return full

    def sealed(
        self, account: str, identifier: str, spec: ConnectorSpec, current: ConnectorSpec | None
    ) -> tuple[ConnectorSpec, tuple[Operation, ...]]:
        public, kept = self._seal.sealed(account, identifier, spec, current)
        if public.state == ConnectorState.CS_UNSPECIFIED:
            public.state = ConnectorState.CS_ACTIVE
        return public, kept

    def removed(self, account: str, message: Connector) -> tuple[Operation, ...]:
        sweep = Put(keys.sweep(account, self.kind, message.resource_id.id), b"", ANY)
        return (*self._seal.removed(account, message.auth), sweep)

    def spec_of(self, message: Connector, home: Home) -> ConnectorSpec:
        """Whoever changes a connector in error is mending it: the next run says if that worked."""
        spec = super().spec_of(message, home)
        if spec.state == ConnectorState.CS_ERROR:
            spec.state = ConnectorState.CS_ACTIVE
        return spec

    def put_in(self, message: Connector, home: Home) -> None:
        message.format = self._opener.provider.get(message.kind_name).format
        if message.state != ConnectorState.CS_ERROR:
            message.ClearField("state_message")

    def _home(self, account: str) -> Home:
        stored = self._accounts.get(account, account)
        return Home(
            names=keys.connectors(account),
            parent=(common_pb2.RK_ACCOUNT, account, stored.version),
        )


class ConnectorRepository:
    """Connectors by id and by name. Secrets go in, and never come out here."""

    def __init__(
        self, stores: CatalogStores, secrets: SecretsStore, opener: ConnectorOpener
    ) -> None:
        self._stores = stores
        self._secrets = secrets
        self.seal = Seal(secrets)
        self._rules = ConnectorRules(stores, self.seal, opener)
        self._resources = Resources(stores, self._rules)

    def check(self, caller: Caller, spec: ConnectorSpec) -> None:
        """Refuse what `create` would refuse."""
        self._rules.check(caller, self._rules.normalised(spec))

    def list(self, caller: Caller, page: PageRequest) -> Page[bytes]:
        """A page of the account's connectors, by name, serialized."""
        account = caller.account_id
        return self._resources.list(account, Home(names=keys.connectors(account)), "", page)

    def get(self, caller: Caller, connector_id: ResourceId) -> Stored[Connector]:
        """One connector."""
        return self._resources.get(caller, addressed_connector(caller, connector_id))

    def create(self, caller: Caller, request: CreateConnectorRequest) -> CreateConnectorResponse:
        """Add a connector. Nothing is contacted."""
        spec = self._rules.normalised(request.spec)
        return self._resources.create(caller, request, spec, CreateConnectorResponse)

    def update(self, caller: Caller, request: UpdateConnectorRequest) -> UpdateConnectorResponse:
        """Change what the mask names; secrets that aren't sent stay as they are."""
        identifier = addressed_connector(caller, request.connector_id)
        before = self._resources.records.find(caller.account_id, identifier)
        response = self._resources.update(caller, request, identifier, UpdateConnectorResponse)
        if before is not None:
            self._forget_unless_named(caller.account_id, before.message, identifier)
        return response

    def delete(self, caller: Caller, request: DeleteConnectorRequest) -> DeleteConnectorResponse:
        """Remove a connector and its secrets. What it mirrored stays."""
        identifier = addressed_connector(caller, request.connector_id)
        before = self._resources.records.find(caller.account_id, identifier)
        response = self._resources.delete(caller, request, identifier, DeleteConnectorResponse)
        if before is not None:
            self._forget_unless_named(caller.account_id, before.message, identifier)
        return response

    def collect_secrets(self, *, dry_run: bool = False) -> int:
        """Delete secrets that no connector names any more; how many there were."""
        orphans = list(self._orphaned_secrets())
        for info in orphans if not dry_run else ():
            self._secrets.delete(info.account, info.reference)
        return len(orphans)

    def _orphaned_secrets(self) -> Iterator[SecretInfo]:
        now = self._stores.clock()
        for info in self._secrets.list():
            identifier = info.reference.split("/")[1] if "/" in info.reference else ""
            if now - info.created_at < ORPHANED_AFTER or not identifier:
                continue
            if self._reference_of(info.account, identifier) != info.reference:
                yield info

    def _forget_unless_named(self, account: str, before: Connector, identifier: str) -> None:
        """Secrets that the record named before and doesn't any more, whoever changed it."""
        if self._reference_of(account, identifier) != before.auth.credentials_reference:
            self.seal.forget(account, before.auth)

    def _reference_of(self, account: str, identifier: str) -> str:
        stored = self._resources.records.find(account, identifier)
        return stored.message.auth.credentials_reference if stored else ""


def addressed_connector(caller: Caller, connector_id: ResourceId) -> str:
    """The connector an id names."""
    return named_id(caller, connector_id, common_pb2.RK_CONNECTOR, "connector_id")
