"""A catalog to test with: stores of any backend, an account, and calls straight to the handlers."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import grpc
from examples.parquet_folder_connector import FACTORY
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from ai.floedb.floecat.account.account_pb2 import AccountSpec, CreateAccountRequest
from ai.floedb.floecat.catalog.catalog_pb2 import Catalog, CatalogSpec, CreateCatalogRequest
from ai.floedb.floecat.catalog.namespace_pb2 import (
    CreateNamespaceRequest,
    Namespace,
    NamespaceSpec,
)
from ai.floedb.floecat.catalog.snapshot_pb2 import CreateSnapshotRequest, Snapshot, SnapshotSpec
from ai.floedb.floecat.catalog.table_pb2 import CreateTableRequest, Table, TableSpec
from ai.floedb.floecat.catalog.view_pb2 import (
    CreateViewRequest,
    View,
    ViewSpec,
    ViewSqlDefinition,
)
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.connector.connector_pb2 import ConnectorSpec, CreateConnectorRequest
from floecat.bootstrap import services
from floecat.catalog.accounts import AccountRepository
from floecat.catalog.callers import Caller
from floecat.catalog.consistency import ConsistencyCheck, Finding
from floecat.catalog.records import CatalogStores
from floecat.catalog.sweeps import Sweeper
from floecat.connectors.auth.registry import AuthProviders
from floecat.connectors.opening import ConnectorOpener
from floecat.connectors.spi.provider import ConnectorProvider
from floecat.outside import Outside
from floecat.security.credentials.commands import CommandLineTools
from floecat.security.credentials.resolution import CredentialResolver
from floecat.security.credentials.tokens import TokenEndpoint
from floecat.security.guard import OutboundGuard, OutboundRules
from floecat.security.secret import Secret
from floecat.security.secrets.local import LocalSecretsStore
from floecat.service.calls import Call
from floecat.service.permissions import ADMINISTRATOR
from floecat.service.principals import Principal
from floecat.service.spliced import Spliced


class Connected:
    """The part of a call's context that work asks about: the client is there and has time."""

    def is_active(self) -> bool:
        return True

    def time_remaining(self) -> float:
        return 60.0


def outside(stores: CatalogStores, guard: OutboundGuard | None = None) -> Outside:
    """Secrets beside the records, and one kind of connector."""
    judged = guard or OutboundGuard(OutboundRules())
    opener = ConnectorOpener(
        provider=ConnectorProvider({FACTORY.kind_name: FACTORY}),
        auth=AuthProviders.from_entry_points(),
        guard=judged,
    )
    resolver = CredentialResolver(TokenEndpoint(judged), CommandLineTools(enabled=True))
    return Outside(LocalSecretsStore(stores.kv, Secret(bytes(32)), stores.clock), opener, resolver)


@dataclass
class World:
    """An account in some stores, and short ways to fill it."""

    stores: CatalogStores
    account_id: str = ""
    name: str = "acme"
    guard: OutboundGuard | None = None
    services: dict[str, object] = field(default_factory=dict)
    client_streams: set[str] = field(default_factory=set)
    requests: dict[str, type[Message]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        served = services(self.stores, outside(self.stores, self.guard))
        by_descriptor: dict[ServiceDescriptor, object] = dict(served.handlers)
        self.dependents = served.dependents
        self.requests = {
            f"{service.name}/{method.name}": GetMessageClass(method.input_type)
            for service in by_descriptor
            for method in service.methods
        }
        self.client_streams = {
            f"{service.name}/{method.name}"
            for service in by_descriptor
            for method in service.methods
            if method.client_streaming
        }
        self.services = {service.name: handler for service, handler in by_descriptor.items()}
        if not self.account_id:
            founder = Caller("founder", administrator=True)
            request = CreateAccountRequest(spec=AccountSpec(display_name=self.name))
            created = AccountRepository(self.stores).create(founder, request)
            self.account_id = created.account.resource_id.id

    @property
    def caller(self) -> Caller:
        """The account, as the catalog knows it."""
        return Caller(self.account_id, "tester")

    def call(
        self,
        method: str,
        request: Message | Iterator[Message],
        *,
        account_id: str = "",
        client: Connected = Connected(),  # noqa: B008 - it has no state
    ) -> Any:
        """Call a handler as the server would, by `Service/Method`; a message alone is a stream."""
        service, _, name = method.partition("/")
        principal = Principal(account_id or self.account_id, "tester", frozenset([ADMINISTRATOR]))
        context = cast("grpc.ServicerContext", client)
        alone = isinstance(request, Message) and method in self.client_streams
        argument = iter([request]) if alone else request
        answer = getattr(self.services[service], name)(
            argument, Call(method, "test", {}, principal, context)
        )
        return answer.decoded() if isinstance(answer, Spliced) else answer

    def request_type(self, method: str) -> type[Message]:
        """The type of a method's request."""
        return self.requests[method]

    def catalog(self, name: str = "main") -> Catalog:
        spec = CatalogSpec(display_name=name)
        response = self.call("CatalogService/CreateCatalog", CreateCatalogRequest(spec=spec))
        return cast("Catalog", response.catalog)

    def connector(self, name: str = "lake", **fields: Any) -> ResourceId:
        defaults = {"kind_name": FACTORY.kind_name, "uri": "file:///lake"}
        spec = ConnectorSpec(display_name=name, **{**defaults, **fields})
        response = self.call("Connectors/CreateConnector", CreateConnectorRequest(spec=spec))
        return cast("ResourceId", response.connector.resource_id)

    def namespace(self, catalog: Catalog, name: str, *path: str) -> Namespace:
        spec = NamespaceSpec(catalog_id=catalog.resource_id, display_name=name, path=path)
        request = CreateNamespaceRequest(spec=spec)
        return cast("Namespace", self.call("NamespaceService/CreateNamespace", request).namespace)

    def table(self, namespace: Namespace, name: str, **fields: Any) -> Table:
        spec = TableSpec(namespace_id=namespace.resource_id, display_name=name, **fields)
        request = CreateTableRequest(spec=spec)
        return cast("Table", self.call("TableService/CreateTable", request).table)

    def view(self, namespace: Namespace, name: str) -> View:
        sql = ViewSqlDefinition(dialect="duckdb", sql="select 1")
        spec = ViewSpec(
            namespace_id=namespace.resource_id, display_name=name, sql_definitions=[sql]
        )
        request = CreateViewRequest(spec=spec)
        return cast("View", self.call("ViewService/CreateView", request).view)

    def snapshot(self, table: Table, snapshot_id: int, **fields: Any) -> Snapshot:
        spec = SnapshotSpec(table_id=table.resource_id, snapshot_id=snapshot_id, **fields)
        request = CreateSnapshotRequest(spec=spec)
        return cast("Snapshot", self.call("SnapshotService/CreateSnapshot", request).snapshot)

    def sweep(self) -> None:
        Sweeper(self.stores, self.dependents).sweep_all()

    def findings(self) -> list[Finding]:
        return list(ConsistencyCheck(self.stores).run())
