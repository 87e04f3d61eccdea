"""DirectoryService over the directory."""

from ai.floedb.floecat.catalog.directory_pb2 import (
    LookupCatalogRequest,
    LookupCatalogResponse,
    LookupNamespaceRequest,
    LookupNamespaceResponse,
    LookupResourcesRequest,
    LookupResourcesResponse,
    LookupTableRequest,
    LookupTableResponse,
    LookupViewRequest,
    LookupViewResponse,
    ResolveCatalogRequest,
    ResolveCatalogResponse,
    ResolveNamespaceRequest,
    ResolveNamespaceResponse,
    ResolveRelationRequest,
    ResolveRelationResponse,
    ResolveRelationsRequest,
    ResolveRelationsResponse,
    ResolveSnapshotRequest,
    ResolveSnapshotResponse,
    ResolveTableRequest,
    ResolveTableResponse,
    ResolveViewRequest,
    ResolveViewResponse,
)
from ai.floedb.floecat.common import common_pb2
from floecat.catalog.directory import Directory
from floecat.catalog.snapshots import SnapshotRepository
from floecat.service.calls import Call


class DirectoryHandlers:
    """One method per RPC."""

    def __init__(self, directory: Directory, snapshots: SnapshotRepository) -> None:
        self._directory = directory
        self._snapshots = snapshots

    def ResolveCatalog(self, request: ResolveCatalogRequest, call: Call) -> ResolveCatalogResponse:
        found = self._directory.resolve_catalog(call.caller, request.name)
        return ResolveCatalogResponse(resource_id=found)

    def ResolveNamespace(
        self, request: ResolveNamespaceRequest, call: Call
    ) -> ResolveNamespaceResponse:
        found = self._directory.resolve_namespace(call.caller, request.name)
        return ResolveNamespaceResponse(resource_id=found)

    def ResolveTable(self, request: ResolveTableRequest, call: Call) -> ResolveTableResponse:
        found = self._directory.resolve_table(call.caller, request.name)
        return ResolveTableResponse(resource_id=found)

    def ResolveView(self, request: ResolveViewRequest, call: Call) -> ResolveViewResponse:
        found = self._directory.resolve_view(call.caller, request.name)
        return ResolveViewResponse(resource_id=found)

    def ResolveRelation(
        self, request: ResolveRelationRequest, call: Call
    ) -> ResolveRelationResponse:
        found = self._directory.resolve_relation(call.caller, request.name)
        return ResolveRelationResponse(resource_id=found)

    def ResolveSnapshot(
        self, request: ResolveSnapshotRequest, call: Call
    ) -> ResolveSnapshotResponse:
        found = self._snapshots.resolve(call.caller, request.table_id, request.snapshot)
        snapshot_id = found.message.snapshot_id
        finalized = self._snapshots.is_finalized(call.caller, request.table_id, snapshot_id)
        return ResolveSnapshotResponse(snapshot_id=snapshot_id, finalized=finalized)

    def ResolveRelations(
        self, request: ResolveRelationsRequest, call: Call
    ) -> ResolveRelationsResponse:
        page = self._directory.resolve_relations(call.caller, request)
        return ResolveRelationsResponse(relations=page.items, page=page.message)

    def LookupCatalog(self, request: LookupCatalogRequest, call: Call) -> LookupCatalogResponse:
        name = self._directory.lookup(call.caller, request.resource_id, common_pb2.RK_CATALOG)
        return LookupCatalogResponse(name=name)

    def LookupNamespace(
        self, request: LookupNamespaceRequest, call: Call
    ) -> LookupNamespaceResponse:
        name = self._directory.lookup(call.caller, request.resource_id, common_pb2.RK_NAMESPACE)
        return LookupNamespaceResponse(name=name)

    def LookupTable(self, request: LookupTableRequest, call: Call) -> LookupTableResponse:
        name = self._directory.lookup(call.caller, request.resource_id, common_pb2.RK_TABLE)
        return LookupTableResponse(name=name)

    def LookupView(self, request: LookupViewRequest, call: Call) -> LookupViewResponse:
        name = self._directory.lookup(call.caller, request.resource_id, common_pb2.RK_VIEW)
        return LookupViewResponse(name=name)

    def LookupResources(
        self, request: LookupResourcesRequest, call: Call
    ) -> LookupResourcesResponse:
        page = self._directory.lookup_many(call.caller, request)
        return LookupResourcesResponse(resources=page.items, page=page.message)
