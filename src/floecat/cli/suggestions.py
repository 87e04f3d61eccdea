"""Where a name stops leading anywhere, and what may have been meant. Asked only after a failure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ai.floedb.floecat.catalog import directory_pb2 as directory
from ai.floedb.floecat.catalog.catalog_pb2 import ListCatalogsRequest
from ai.floedb.floecat.catalog.namespace_pb2 import ListNamespacesRequest
from ai.floedb.floecat.catalog.table_pb2 import US_GONE, ListTablesRequest, Table
from ai.floedb.floecat.catalog.view_pb2 import ListViewsRequest, View
from ai.floedb.floecat.common.common_pb2 import NameRef, PageRequest, ResourceId
from floecat.cli.descriptions import in_full
from floecat.client.names import format_name
from floecat.errors import NotFoundError
from floecat.spelling import nearest

if TYPE_CHECKING:
    from floecat.client.clients import GrpcClients

_SIBLINGS: Final = 1000
"""Names that are looked through for a near one."""


def near(name: str, names: Sequence[str], above: Sequence[str] = ()) -> str:
    """The end of a message: the sibling that is spelled most alike, if one is."""
    close = nearest(name, names)
    return f"; did you mean {format_name([*above, close])}?" if close else ""


class Suggestions:
    """Follows a name from its catalog down."""

    def __init__(self, clients: "GrpcClients") -> None:
        self._clients = clients
        self._page = PageRequest(page_size=_SIBLINGS)

    def missing(self, parts: Sequence[str], relation: str | None) -> NotFoundError | None:
        """The first part that doesn't exist; `relation` is what the last part should be, if one.

        None if everything is there after all.
        """
        above: ResourceId | None = None
        folders = parts[:-1] if relation else parts
        for depth in range(1, len(folders) + 1):
            found = self._find_folder(folders[:depth])
            if found is None:
                kind = "catalog" if depth == 1 else "namespace"
                return _missing(kind, parts, depth, self._folders(above, depth))
            above = found
        if relation and above is not None:
            return self._missing_relation(relation, parts, above)
        return None

    def _missing_relation(
        self, relation: str, parts: Sequence[str], namespace: ResourceId
    ) -> NotFoundError:
        siblings = self._relations(namespace)
        for sibling in siblings:
            if sibling.display_name == parts[-1] and sibling.upstream.state == US_GONE:
                return NotFoundError(
                    f"{format_name(parts)} is gone: its upstream doesn't have it any more, since "
                    f"{in_full(sibling.upstream.gone_since)}"
                )
        present = [one.display_name for one in siblings if one.upstream.state != US_GONE]
        return _missing(relation, parts, len(parts), present)

    def _find_folder(self, parts: Sequence[str]) -> ResourceId | None:
        name = NameRef(catalog=parts[0], path=parts[1:])
        try:
            if len(parts) == 1:
                request = directory.ResolveCatalogRequest(name=name)
                return self._clients.directory.ResolveCatalog(request).resource_id
            below = directory.ResolveNamespaceRequest(name=name)
            return self._clients.directory.ResolveNamespace(below).resource_id
        except NotFoundError:
            return None

    def _folders(self, above: ResourceId | None, depth: int) -> list[str]:
        if above is None:
            catalogs = ListCatalogsRequest(page=self._page)
            listed = self._clients.catalogs.ListCatalogs(catalogs).catalogs
            return [catalog.display_name for catalog in listed]
        request = ListNamespacesRequest(
            catalog_id=above if depth == 2 else None,
            namespace_id=above if depth > 2 else None,
            page=self._page,
        )
        found = self._clients.namespaces.ListNamespaces(request).namespaces
        return [namespace.display_name for namespace in found]

    def _relations(self, namespace: ResourceId) -> list[Table | View]:
        tables = self._clients.tables.ListTables(
            ListTablesRequest(namespace_id=namespace, page=self._page)
        )
        views = self._clients.views.ListViews(
            ListViewsRequest(namespace_id=namespace, page=self._page)
        )
        return [*tables.tables, *views.views]


def _missing(kind: str, parts: Sequence[str], depth: int, siblings: list[str]) -> NotFoundError:
    above, name = parts[: depth - 1], parts[depth - 1]
    rest = f" (in {format_name(parts)})" if depth < len(parts) else ""
    close = near(name, siblings, above)
    return NotFoundError(f"there is no {kind} {format_name(parts[:depth])}{rest}{close}")
