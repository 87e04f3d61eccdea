"""Every id that a request can carry, found in the descriptors, and requests that are right else."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from uuid import uuid4

from google.protobuf.descriptor import Descriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from tests.support.catalog import World
from tests.support.mutations import CASES, artifacts, statistics

from ai.floedb.floecat.account import account_pb2
from ai.floedb.floecat.catalog import (
    catalog_pb2,
    constraints_pb2,
    directory_pb2,
    index_pb2,
    namespace_pb2,
    snapshot_pb2,
    stats_pb2,
    table_pb2,
    view_pb2,
)
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import ResourceId, SnapshotRef
from ai.floedb.floecat.connector import connector_pb2
from ai.floedb.floecat.reconciler import reconciler_pb2
from ai.floedb.floecat.reconciler.stored_pb2 import StoredJob
from ai.floedb.floecat.statistics.statistics_pb2 import StatsTarget, TableStatsTarget
from floecat.reconciler import keys
from floecat.storage.kv.port import ANY, Put

Path = tuple[str, ...]


def id_paths(message: Descriptor, above: tuple[Descriptor, ...] = ()) -> Iterator[Path]:
    """The way to every `ResourceId` inside a message, nested and repeated ones included."""
    for field in message.fields:
        inner = field.message_type
        if inner is None or inner in above or inner.full_name.startswith("google.protobuf."):
            continue
        if inner is ResourceId.DESCRIPTOR:
            yield (field.name,)
        elif not inner.GetOptions().map_entry:
            for path in id_paths(inner, (*above, message)):
                yield (field.name, *path)


def with_id(request: Message, path: Path, value: ResourceId) -> Message:
    """A copy of the request with another id at a path; of a repeated field the first is changed."""
    copy: Any = type(request)()
    copy.CopyFrom(request)
    if hasattr(copy, "update_mask"):
        copy.ClearField("update_mask")  # then every field that is set counts
    at = copy
    for name in path:
        at = getattr(at, name)
        if hasattr(at, "add"):
            at = at[0] if len(at) else at.add()
    at.CopyFrom(value)
    return copy  # type: ignore[no-any-return]


class Furniture:
    """One resource of every kind in a world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.account = ResourceId(
            account_id=world.account_id, id=world.account_id, kind=common_pb2.RK_ACCOUNT
        )
        catalog = world.catalog("furnished")
        namespace = world.namespace(catalog, "furnished")
        table = world.table(namespace, "furnished")
        world.snapshot(table, 1, attachments={"a": b"x"})
        bundle = constraints_pb2.TableConstraints(table_id=table.resource_id, snapshot_id=1)
        world.call(
            "TableConstraintsService/PutTableConstraints",
            constraints_pb2.PutTableConstraintsRequest(constraints=bundle),
        )
        world.call("TableStatisticsService/PutTargetStats", statistics(table))
        world.call("TableIndexService/PutIndexArtifacts", artifacts(world, table))
        self.by_kind = {
            common_pb2.RK_ACCOUNT: self.account,
            common_pb2.RK_CATALOG: catalog.resource_id,
            common_pb2.RK_NAMESPACE: namespace.resource_id,
            common_pb2.RK_TABLE: table.resource_id,
            common_pb2.RK_CONNECTOR: world.connector("furnished"),
            common_pb2.RK_VIEW: world.view(namespace, "furnished view").resource_id,
        }
        self.scope = reconciler_pb2.CaptureScope(connector_id=self.connector)
        started = reconciler_pb2.StartCaptureRequest(scope=self.scope, full_rescan=True)
        self.job: ResourceId = world.call("ReconcileControl/StartCapture", started).job_id
        self.by_kind[common_pb2.RK_RECONCILE_JOB] = self.job
        self.file_group = _file_group(world)

    def __getattr__(self, name: str) -> ResourceId:
        kind = common_pb2.ResourceKind.Value(f"RK_{name.upper()}")
        return self.by_kind[kind]


def _file_group(world: World) -> ResourceId:
    """A job that only a worker could make, put where it would be."""
    job = StoredJob(
        job_id=str(uuid4()),
        account_id=world.account_id,
        kind=reconciler_pb2.EXEC_FILE_GROUP,
        state=reconciler_pb2.RJS_SUCCEEDED,
    )
    row = keys.job(world.account_id, job.job_id)
    world.stores.kv.commit([Put(row, job.SerializeToString(), ANY)])
    return ResourceId(account_id=world.account_id, id=job.job_id, kind=common_pb2.RK_RECONCILE_JOB)


FIRST = SnapshotRef(snapshot_id=1)

READS: Mapping[str, Callable[[Furniture], Message]] = {
    "AccountService/GetAccount": lambda f: account_pb2.GetAccountRequest(account_id=f.account),
    "Connectors/StartCapture": lambda f: connector_pb2.StartCaptureRequest(
        connector_id=f.connector
    ),
    "Connectors/GetReconcileJob": lambda f: connector_pb2.GetReconcileJobRequest(job_id=f.job),
    "ReconcileControl/StartCapture": lambda f: reconciler_pb2.StartCaptureRequest(scope=f.scope),
    "ReconcileControl/CaptureNow": lambda f: reconciler_pb2.CaptureNowRequest(
        scope=f.scope, max_wait=Duration()
    ),
    "ReconcileControl/GetReconcileJob": lambda f: reconciler_pb2.GetReconcileJobRequest(
        job_id=f.job
    ),
    "ReconcileControl/GetReconcileJobTree": lambda f: reconciler_pb2.GetReconcileJobTreeRequest(
        job_id=f.job
    ),
    "ReconcileControl/ListReconcileJobs": lambda f: reconciler_pb2.ListReconcileJobsRequest(),
    "ReconcileControl/ListFileExecutionResults": lambda f: (
        reconciler_pb2.ListFileExecutionResultsRequest(job_id=f.file_group)
    ),
    "ReconcileControl/GetFinalizedSnapshotStatus": lambda f: (
        reconciler_pb2.GetFinalizedSnapshotStatusRequest(table_id=f.table, snapshot_id=1)
    ),
    "ReconcileControl/CancelReconcileJob": lambda f: reconciler_pb2.CancelReconcileJobRequest(
        job_id=f.job
    ),
    "Connectors/GetConnector": lambda f: connector_pb2.GetConnectorRequest(
        connector_id=f.connector
    ),
    "Connectors/ValidateConnector": lambda f: connector_pb2.ValidateConnectorRequest(
        connector_id=f.connector
    ),
    "CatalogService/GetCatalog": lambda f: catalog_pb2.GetCatalogRequest(catalog_id=f.catalog),
    "NamespaceService/ListNamespaces": lambda f: namespace_pb2.ListNamespacesRequest(
        catalog_id=f.catalog
    ),
    "NamespaceService/GetNamespace": lambda f: namespace_pb2.GetNamespaceRequest(
        namespace_id=f.namespace
    ),
    "TableService/ListTables": lambda f: table_pb2.ListTablesRequest(namespace_id=f.namespace),
    "TableService/GetTable": lambda f: table_pb2.GetTableRequest(table_id=f.table),
    "ViewService/ListViews": lambda f: view_pb2.ListViewsRequest(namespace_id=f.namespace),
    "ViewService/GetView": lambda f: view_pb2.GetViewRequest(view_id=f.view),
    "SnapshotService/ListSnapshots": lambda f: snapshot_pb2.ListSnapshotsRequest(table_id=f.table),
    "SnapshotService/GetSnapshot": lambda f: snapshot_pb2.GetSnapshotRequest(
        table_id=f.table, snapshot=FIRST
    ),
    "SnapshotService/ReadSnapshotAttachment": lambda f: snapshot_pb2.ReadSnapshotAttachmentRequest(
        table_id=f.table, snapshot_id=1, name="a"
    ),
    "TableConstraintsService/GetTableConstraints": (
        lambda f: constraints_pb2.GetTableConstraintsRequest(table_id=f.table, snapshot=FIRST)
    ),
    "TableConstraintsService/ListTableConstraints": (
        lambda f: constraints_pb2.ListTableConstraintsRequest(table_id=f.table)
    ),
    "TableStatisticsService/GetTargetStats": lambda f: stats_pb2.GetTargetStatsRequest(
        table_id=f.table, snapshot=FIRST, target=StatsTarget(table=TableStatsTarget())
    ),
    "TableStatisticsService/ListTargetStats": lambda f: stats_pb2.ListTargetStatsRequest(
        table_id=f.table, snapshot=FIRST
    ),
    "TableIndexService/GetIndexArtifact": lambda f: index_pb2.GetIndexArtifactRequest(
        table_id=f.table, snapshot=FIRST, file_path="s3://lake/a.parquet"
    ),
    "TableIndexService/ListIndexArtifacts": lambda f: index_pb2.ListIndexArtifactsRequest(
        table_id=f.table, snapshot=FIRST
    ),
    "TableIndexService/ReadIndexArtifact": lambda f: index_pb2.ReadIndexArtifactRequest(
        table_id=f.table, snapshot=FIRST, file_path="s3://lake/a.parquet"
    ),
    "DirectoryService/ResolveSnapshot": lambda f: directory_pb2.ResolveSnapshotRequest(
        table_id=f.table, snapshot=FIRST
    ),
    "DirectoryService/LookupCatalog": lambda f: directory_pb2.LookupCatalogRequest(
        resource_id=f.catalog
    ),
    "DirectoryService/LookupNamespace": lambda f: directory_pb2.LookupNamespaceRequest(
        resource_id=f.namespace
    ),
    "DirectoryService/LookupTable": lambda f: directory_pb2.LookupTableRequest(resource_id=f.table),
    "DirectoryService/LookupView": lambda f: directory_pb2.LookupViewRequest(resource_id=f.view),
    "DirectoryService/LookupResources": lambda f: directory_pb2.LookupResourcesRequest(
        resource_ids=[f.table]
    ),
}


OWN: Mapping[str, Callable[[Furniture], Message]] = {
    "AccountService/UpdateAccount": lambda f: account_pb2.UpdateAccountRequest(
        account_id=f.account, spec=account_pb2.AccountSpec(description="ours")
    ),
    "AccountService/DeleteAccount": lambda f: account_pb2.DeleteAccountRequest(
        account_id=f.account, cascade=True
    ),
}
"""Other accounts are for administrators, so here these are about the caller's."""


def requests() -> dict[str, Callable[[Furniture], Message]]:
    """A request that succeeds, for every RPC that takes an id."""
    mutations = {case.method: case.request for case in CASES}
    return {
        **READS,
        **{method: (lambda f, make=make: make(f.world)) for method, make in mutations.items()},  # type: ignore[misc]
        **OWN,
    }
