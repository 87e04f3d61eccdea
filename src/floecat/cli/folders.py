"""What lies directly in a catalog or namespace, of any kind: for drawing trees and completing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ai.floedb.floecat.catalog.catalog_pb2 import Catalog, ListCatalogsRequest
from ai.floedb.floecat.catalog.directory_pb2 import ResolveCatalogRequest, ResolveNamespaceRequest
from ai.floedb.floecat.catalog.namespace_pb2 import ListNamespacesRequest, Namespace
from ai.floedb.floecat.catalog.table_pb2 import ListTablesRequest, Table
from ai.floedb.floecat.catalog.view_pb2 import ListViewsRequest, View
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import NameRef, PageRequest, ResourceId
from floecat.cli.pages import Fetched, fetch_all

if TYPE_CHECKING:
    from ai.floedb.floecat.common.common_pb2 import PageResponse
    from floecat.client.clients import GrpcClients


@dataclass(frozen=True, slots=True)
class Entry:
    """Something in a folder."""

    id: ResourceId
    name: str

    @property
    def is_folder(self) -> bool:
        return self.id.kind in (common_pb2.RK_CATALOG, common_pb2.RK_NAMESPACE)


@dataclass(frozen=True, slots=True)
class Folder:
    """What is in a folder, folders first; `more` if a limit left something out."""

    entries: Sequence[Entry]
    more: bool


def list_folder(
    clients: "GrpcClients", parts: Sequence[str], *, prefix: str = "", limit: int
) -> Folder:
    """The content of the folder with this name; no parts mean the account."""
    if not parts:
        return list_catalogs(clients, prefix, limit)
    name = NameRef(catalog=parts[0], path=parts[1:])
    if len(parts) == 1:
        found = clients.directory.ResolveCatalog(ResolveCatalogRequest(name=name)).resource_id
    else:
        request = ResolveNamespaceRequest(name=name)
        found = clients.directory.ResolveNamespace(request).resource_id
    return list_contents(clients, found, prefix, limit)


def list_catalogs(clients: "GrpcClients", prefix: str, limit: int) -> Folder:
    """The account's catalogs."""

    def page(request: PageRequest) -> "tuple[Sequence[Catalog], PageResponse]":
        response = clients.catalogs.ListCatalogs(ListCatalogsRequest(page=request))
        return [c for c in response.catalogs if c.display_name.startswith(prefix)], response.page

    return _folder(fetch_all(page, limit))


def list_contents(clients: "GrpcClients", parent: ResourceId, prefix: str, limit: int) -> Folder:
    """Namespaces, tables and views, `limit` of each."""
    in_catalog = parent.kind == common_pb2.RK_CATALOG

    def namespaces(page: PageRequest) -> "tuple[Sequence[Namespace], PageResponse]":
        request = ListNamespacesRequest(
            catalog_id=parent if in_catalog else None,
            namespace_id=None if in_catalog else parent,
            name_prefix=prefix,
            page=page,
        )
        response = clients.namespaces.ListNamespaces(request)
        return response.namespaces, response.page

    def tables(page: PageRequest) -> "tuple[Sequence[Table], PageResponse]":
        request = ListTablesRequest(namespace_id=parent, name_prefix=prefix, page=page)
        response = clients.tables.ListTables(request)
        return response.tables, response.page

    def views(page: PageRequest) -> "tuple[Sequence[View], PageResponse]":
        request = ListViewsRequest(namespace_id=parent, name_prefix=prefix, page=page)
        response = clients.views.ListViews(request)
        return response.views, response.page

    below = _folder(fetch_all(namespaces, limit))
    if in_catalog:
        return below
    relations = [_folder(fetch_all(tables, limit)), _folder(fetch_all(views, limit))]
    return Folder(
        [*below.entries, *(entry for folder in relations for entry in folder.entries)],
        below.more or any(folder.more for folder in relations),
    )


def _folder(
    fetched: Fetched[Catalog] | Fetched[Namespace] | Fetched[Table] | Fetched[View],
) -> Folder:
    entries = [Entry(item.resource_id, item.display_name) for item in fetched.items]
    return Folder(entries, fetched.more)
