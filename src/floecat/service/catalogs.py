"""CatalogService over the catalog repository."""

from ai.floedb.floecat.catalog.catalog_pb2 import (
    CreateCatalogRequest,
    CreateCatalogResponse,
    DeleteCatalogRequest,
    DeleteCatalogResponse,
    GetCatalogRequest,
    GetCatalogResponse,
    ListCatalogsRequest,
    ListCatalogsResponse,
    UpdateCatalogRequest,
    UpdateCatalogResponse,
)
from floecat.catalog.catalogs import CatalogRepository
from floecat.service.calls import Call
from floecat.service.spliced import Spliced, spliced


class CatalogHandlers:
    """One method per RPC."""

    def __init__(self, catalogs: CatalogRepository) -> None:
        self._catalogs = catalogs

    def ListCatalogs(
        self, request: ListCatalogsRequest, call: Call
    ) -> Spliced[ListCatalogsResponse]:
        return spliced(ListCatalogsResponse, self._catalogs.list(call.caller, request.page))

    def GetCatalog(self, request: GetCatalogRequest, call: Call) -> GetCatalogResponse:
        stored = self._catalogs.get(call.caller, request.catalog_id)
        return GetCatalogResponse(catalog=stored.message, meta=stored.meta)

    def CreateCatalog(self, request: CreateCatalogRequest, call: Call) -> CreateCatalogResponse:
        return self._catalogs.create(call.caller, request)

    def UpdateCatalog(self, request: UpdateCatalogRequest, call: Call) -> UpdateCatalogResponse:
        return self._catalogs.update(call.caller, request)

    def DeleteCatalog(self, request: DeleteCatalogRequest, call: Call) -> DeleteCatalogResponse:
        return self._catalogs.delete(call.caller, request)
