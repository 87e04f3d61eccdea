"""Catalogs: the roots of an account's trees of namespaces."""

from collections.abc import Sequence

from ai.floedb.floecat.account.account_pb2 import Account
from ai.floedb.floecat.catalog.catalog_pb2 import (
    Catalog,
    CatalogSpec,
    CreateCatalogRequest,
    CreateCatalogResponse,
    DeleteCatalogRequest,
    DeleteCatalogResponse,
    UpdateCatalogRequest,
    UpdateCatalogResponse,
)
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import PageRequest, ResourceId
from floecat.catalog import keys
from floecat.catalog.callers import Caller, named_id
from floecat.catalog.codec import Stored
from floecat.catalog.paging import Page
from floecat.catalog.records import CatalogStores, Records
from floecat.catalog.resources import Resources
from floecat.catalog.rules import Home, ResourceRules


class CatalogRules(ResourceRules[Catalog, CatalogSpec]):
    """A catalog lies in its account."""

    kind = common_pb2.RK_CATALOG
    message_type = Catalog
    spec_type = CatalogSpec

    def __init__(self, stores: CatalogStores) -> None:
        self._accounts = Records(stores, common_pb2.RK_ACCOUNT, Account)

    def home(self, caller: Caller, spec: CatalogSpec) -> Home:
        return self._home(caller.account_id)

    def home_of(self, account: str, message: Catalog) -> Home:
        return self._home(account)

    def child_partitions(self, account: str, identifier: str) -> Sequence[str]:
        return [keys.namespaces(account, identifier)]

    def check(self, caller: Caller, spec: CatalogSpec) -> None:
        if spec.HasField("connector_id"):
            named_id(caller, spec.connector_id, common_pb2.RK_CONNECTOR, "spec.connector_id")

    def _home(self, account: str) -> Home:
        stored = self._accounts.get(account, account)
        return Home(
            names=keys.catalogs(account),
            parent=(common_pb2.RK_ACCOUNT, account, stored.version),
        )


class CatalogRepository:
    """Catalogs by id and by name."""

    def __init__(self, stores: CatalogStores) -> None:
        self._rules = CatalogRules(stores)
        self._resources = Resources(stores, self._rules)

    def list(self, caller: Caller, page: PageRequest) -> Page[bytes]:
        """A page of the account's catalogs, by name; framed rows."""
        account = caller.account_id
        return self._resources.list(account, Home(names=keys.catalogs(account)), "", page)

    def get(self, caller: Caller, catalog_id: ResourceId) -> Stored[Catalog]:
        """One catalog."""
        return self._resources.get(caller, _addressed(caller, catalog_id))

    def create(self, caller: Caller, request: CreateCatalogRequest) -> CreateCatalogResponse:
        """Add a catalog."""
        return self._resources.create(caller, request, request.spec, CreateCatalogResponse)

    def update(self, caller: Caller, request: UpdateCatalogRequest) -> UpdateCatalogResponse:
        """Change what the mask names."""
        identifier = _addressed(caller, request.catalog_id)
        return self._resources.update(caller, request, identifier, UpdateCatalogResponse)

    def delete(self, caller: Caller, request: DeleteCatalogRequest) -> DeleteCatalogResponse:
        """Remove a catalog; everything below it too under `cascade`."""
        identifier = _addressed(caller, request.catalog_id)
        return self._resources.delete(
            caller, request, identifier, DeleteCatalogResponse, cascade=request.cascade
        )


def _addressed(caller: Caller, catalog_id: ResourceId) -> str:
    return named_id(caller, catalog_id, common_pb2.RK_CATALOG, "catalog_id")
