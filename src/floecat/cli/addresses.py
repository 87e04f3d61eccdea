"""What a name or an id on the command line stands for."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ai.floedb.floecat.account.account_pb2 import GetAccountRequest, ListAccountsRequest
from ai.floedb.floecat.catalog import directory_pb2 as directory
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import NameRef, PageRequest, ResourceId
from ai.floedb.floecat.connector.connector_pb2 import GetConnectorRequest, ListConnectorsRequest
from floecat.cli.inputs import single_name
from floecat.cli.pages import fetch_all
from floecat.cli.suggestions import Suggestions, near
from floecat.client.names import (
    format_name,
    is_id,
    parse_name,
    parse_namespace,
    parse_relation,
    parts_of,
)
from floecat.errors import InvalidArgumentError, NotFoundError, PermissionDeniedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ai.floedb.floecat.account.account_pb2 import Account
    from ai.floedb.floecat.common.common_pb2 import PageResponse
    from ai.floedb.floecat.connector.connector_pb2 import Connector
    from floecat.client.clients import GrpcClients

KIND_NAMES: Final = {
    common_pb2.RK_ACCOUNT: "account",
    common_pb2.RK_CATALOG: "catalog",
    common_pb2.RK_NAMESPACE: "namespace",
    common_pb2.RK_TABLE: "table",
    common_pb2.RK_VIEW: "view",
}


class Addresses:
    """Finds things by name or by id. A name that leads nowhere says where it stops."""

    def __init__(self, clients: "GrpcClients", account: str | None) -> None:
        self._clients = clients
        self._directory = clients.directory
        self._account = account
        self._suggestions = Suggestions(clients)

    def account(self, text: str) -> ResourceId:
        """An account, by name or id."""
        accounts = self._accounts()
        name = single_name(text)
        for account in accounts:
            if name in (account.resource_id.id, account.display_name):
                return account.resource_id
        close = near(name, [account.display_name for account in accounts])
        raise NotFoundError(f"there is no account {text}{close}")

    def catalog(self, text: str) -> ResourceId:
        """A catalog."""
        if is_id(text):
            return self._identified(text, common_pb2.RK_CATALOG)
        parts = parse_name(text)
        if len(parts) != 1:
            raise InvalidArgumentError(
                f"{text} isn't the name of a catalog: that has one part, like {parts[0]}"
            )
        request = directory.ResolveCatalogRequest(name=NameRef(catalog=parts[0]))
        return self._resolved(lambda: self._directory.ResolveCatalog(request).resource_id, parts)

    def connector(self, text: str) -> ResourceId:
        """A connector, by name or id."""
        if is_id(text):
            return self._identified(text, common_pb2.RK_CONNECTOR)
        name = single_name(text)
        connectors = self._connectors()
        for connector in connectors:
            if connector.display_name == name:
                return connector.resource_id
        close = near(name, [connector.display_name for connector in connectors])
        raise NotFoundError(f"there is no connector {text}{close}")

    def connector_name(self, connector_id: ResourceId) -> str:
        """What a connector is called; its id if nobody can tell any more."""
        if not connector_id.id:
            return ""
        request = GetConnectorRequest(connector_id=connector_id)
        try:
            found = self._clients.connectors.GetConnector(request).connector
            return format_name([found.display_name])
        except NotFoundError:
            return f"{connector_id.id} (deleted)"
        except PermissionDeniedError:
            return connector_id.id

    def connector_names(self) -> dict[str, str]:
        """What connectors are called, by their ids."""
        return {one.resource_id.id: one.display_name for one in self._connectors()}

    def job(self, text: str) -> ResourceId:
        """A job, which has an id only."""
        if not is_id(text):
            raise InvalidArgumentError(
                f"{text} isn't the id of a job: 'floecat connector jobs' lists them"
            )
        return self._identified(text, common_pb2.RK_RECONCILE_JOB)

    def namespace(self, text: str) -> ResourceId:
        """A namespace."""
        if is_id(text):
            return self._identified(text, common_pb2.RK_NAMESPACE)
        request = directory.ResolveNamespaceRequest(name=parse_namespace(text))
        return self._resolved(
            lambda: self._directory.ResolveNamespace(request).resource_id, parse_name(text)
        )

    def container(self, text: str) -> ResourceId:
        """A catalog or a namespace, whichever the name is long enough for."""
        if is_id(text):
            return self.resource(text)
        return self.catalog(text) if len(parse_name(text)) == 1 else self.namespace(text)

    def table(self, text: str) -> ResourceId:
        """A table."""
        return self._relation(text, common_pb2.RK_TABLE)

    def view(self, text: str) -> ResourceId:
        """A view."""
        return self._relation(text, common_pb2.RK_VIEW)

    def relation(self, text: str) -> ResourceId:
        """A table or a view."""
        request = directory.ResolveRelationRequest(name=parse_relation(text))
        return self._resolved(
            lambda: self._directory.ResolveRelation(request).resource_id,
            parse_name(text),
            "table or view",
        )

    def resource(self, identifier: str) -> ResourceId:
        """Whatever has this id."""
        kinds = (kind for kind in KIND_NAMES if kind != common_pb2.RK_ACCOUNT)
        ids = [self._identified(identifier, kind) for kind in kinds]
        request = directory.LookupResourcesRequest(resource_ids=ids)
        for found in self._directory.LookupResources(request).resources:
            if found.HasField("name"):
                return found.resource_id
        raise NotFoundError(f"nothing has the id {identifier}")

    def name(self, resource_id: ResourceId) -> str:
        """What an id is called, in full."""
        request = directory.LookupResourcesRequest(resource_ids=[resource_id])
        [found] = self._directory.LookupResources(request).resources
        if not found.HasField("name"):
            raise NotFoundError(f"nothing has the id {resource_id.id}")
        return format_name(parts_of(found.name))

    def full_name(self, text: str, resource_id: ResourceId) -> str:
        """The name of what was found under `text`; asked for only if `text` isn't it."""
        return self.name(resource_id) if is_id(text) else format_name(parse_name(text))

    def _relation(self, text: str, wanted: common_pb2.ResourceKind.ValueType) -> ResourceId:
        if is_id(text):
            return self._identified(text, wanted)
        found = self.relation(text)
        if found.kind != wanted:
            actual = KIND_NAMES[found.kind]
            raise NotFoundError(
                f"{text} is a {actual}, not a {KIND_NAMES[wanted]}: use 'floecat {actual} …'"
            )
        return found

    def _resolved(
        self, resolve: Callable[[], ResourceId], parts: "Sequence[str]", kind: str | None = None
    ) -> ResourceId:
        try:
            return resolve()
        except NotFoundError as error:
            raise self._suggestions.missing(parts, kind) or error from error

    def _identified(self, identifier: str, kind: common_pb2.ResourceKind.ValueType) -> ResourceId:
        return ResourceId(account_id=self._account_id(), id=identifier.lower(), kind=kind)

    def _account_id(self) -> str:
        """The id of the account we work in, which full ids need."""
        if self._account and is_id(self._account):
            return self._account
        own = self._clients.accounts.GetAccount(GetAccountRequest()).account
        return own.resource_id.id

    def _connectors(self) -> "list[Connector]":
        def page(request: PageRequest) -> "tuple[Sequence[Connector], PageResponse]":
            response = self._clients.connectors.ListConnectors(ListConnectorsRequest(page=request))
            return response.connectors, response.page

        return fetch_all(page).items

    def _accounts(self) -> "list[Account]":
        def page(request: PageRequest) -> "tuple[Sequence[Account], PageResponse]":
            response = self._clients.accounts.ListAccounts(ListAccountsRequest(page=request))
            return response.accounts, response.page

        return fetch_all(page).items
