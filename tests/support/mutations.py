"""One example of every mutating RPC of the catalog, ready to be run against any world."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message
from tests.support.catalog import World

from ai.floedb.floecat.account import account_pb2
from ai.floedb.floecat.catalog import (
    catalog_pb2,
    constraints_pb2,
    index_pb2,
    namespace_pb2,
    snapshot_pb2,
    stats_pb2,
    table_pb2,
    view_pb2,
)
from ai.floedb.floecat.common.common_pb2 import BlobReference, ResourceId
from ai.floedb.floecat.connector import connector_pb2
from ai.floedb.floecat.reconciler import reconciler_pb2
from ai.floedb.floecat.statistics.statistics_pb2 import (
    FileStatsTarget,
    StatsTarget,
    TableStatsTarget,
)


@dataclass(frozen=True)
class Case:
    """A mutation: how to prepare for it, and the request it makes after that."""

    method: str
    request: Callable[[World], Message]
    """Fills the world with what the mutation needs and returns the request, without a key."""


def _mask(*paths: str) -> FieldMask:
    return FieldMask(paths=paths)


def _constraint(name: str) -> constraints_pb2.ConstraintDefinition:
    return constraints_pb2.ConstraintDefinition(
        name=name,
        type=constraints_pb2.CT_PRIMARY_KEY,
        columns=[constraints_pb2.ConstraintColumn(column_id=1, name="id")],
    )


def statistics(table: table_pb2.Table) -> stats_pb2.PutTargetStatsRequest:
    """Records that clients put: of the table, and of a file too large for a row."""
    path = "s3://lake/a.parquet"
    file = stats_pb2.FileTargetStats(properties={"large": "x" * 100_000})
    file.identity.file_path = path
    return stats_pb2.PutTargetStatsRequest(
        table_id=table.resource_id,
        snapshot_id=1,
        records=[
            stats_pb2.TargetStatsRecord(
                target=StatsTarget(table=TableStatsTarget()),
                table=stats_pb2.TableValueStats(row_count=3),
            ),
            stats_pb2.TargetStatsRecord(
                target=StatsTarget(file=FileStatsTarget(file_path=path)), file=file
            ),
        ],
    )


def artifacts(world: World, table: table_pb2.Table) -> index_pb2.PutIndexArtifactsRequest:
    """A sidecar that a client registers."""
    with world.stores.blobs.writer(f"captures/{world.account_id}/{uuid4().hex}") as writer:
        writer.write(b"page bounds")
    record = index_pb2.IndexArtifactRecord(
        target_file=stats_pb2.FileIdentity(file_path="s3://lake/a.parquet"),
        artifact=BlobReference(
            uri=writer.ref.uri, sha256=writer.ref.sha256, size_bytes=writer.ref.size
        ),
        state=index_pb2.IAS_READY,
    )
    return index_pb2.PutIndexArtifactsRequest(
        table_id=table.resource_id, snapshot_id=1, records=[record]
    )


def failed_artifact(table: table_pb2.Table) -> index_pb2.PutIndexArtifactsRequest:
    """A sidecar that couldn't be made: it has no bytes that would have to be somewhere."""
    record = index_pb2.IndexArtifactRecord(
        target_file=stats_pb2.FileIdentity(file_path="s3://lake/a.parquet"),
        state=index_pb2.IAS_FAILED,
        failure="too many pages",
    )
    return index_pb2.PutIndexArtifactsRequest(
        table_id=table.resource_id, snapshot_id=1, records=[record]
    )


def _namespace(world: World) -> namespace_pb2.Namespace:
    return world.namespace(world.catalog(), "sales")


def _table(world: World) -> table_pb2.Table:
    return world.table(_namespace(world), "orders", properties={"a": "1", "b": "2", "c": "3"})


def _snapshot(world: World) -> snapshot_pb2.Snapshot:
    return world.snapshot(_table(world), 7)


def _bundle(world: World, *names: str) -> constraints_pb2.TableConstraints:
    snapshot = _snapshot(world)
    bundle = constraints_pb2.TableConstraints(
        table_id=snapshot.table_id,
        snapshot_id=snapshot.snapshot_id,
        constraints=[_constraint(name) for name in names],
        properties={"x": "1", "y": "2"},
    )
    request = constraints_pb2.PutTableConstraintsRequest(constraints=bundle)
    world.call("TableConstraintsService/PutTableConstraints", request)
    return bundle


def _given(world: World, *names: str) -> constraints_pb2.TableConstraints:
    bundle = _bundle(world, "pk")
    return constraints_pb2.TableConstraints(
        table_id=bundle.table_id,
        snapshot_id=bundle.snapshot_id,
        constraints=[_constraint(name) for name in names],
    )


def _account_id(world: World) -> ResourceId:
    spec = account_pb2.AccountSpec(display_name=f"other than {world.account_id}")
    request = account_pb2.CreateAccountRequest(spec=spec)
    created: ResourceId = world.call("AccountService/CreateAccount", request).account.resource_id
    return created


def _view_spec(namespace: namespace_pb2.Namespace) -> view_pb2.ViewSpec:
    sql = view_pb2.ViewSqlDefinition(dialect="spark", sql="select 1")
    return view_pb2.ViewSpec(
        namespace_id=namespace.resource_id, display_name="daily", sql_definitions=[sql]
    )


def connector_spec(**fields: Any) -> connector_pb2.ConnectorSpec:
    credentials = connector_pb2.AuthCredentials(
        bearer=connector_pb2.BearerCredentials(token="canary-token")
    )
    return connector_pb2.ConnectorSpec(
        kind_name="parquet-folder",
        auth=connector_pb2.AuthConfig(credentials=credentials, headers={"X-Key": "canary-header"}),
        **fields,
    )


def connector_id(world: World, name: str = "lake") -> ResourceId:
    spec = connector_spec(display_name=name, uri="file:///lake")
    request = connector_pb2.CreateConnectorRequest(spec=spec)
    created: ResourceId = world.call("Connectors/CreateConnector", request).connector.resource_id
    return created


def _settings(world: World, **fields: Any) -> reconciler_pb2.ReconcilerSettings:
    """Settings to write over others that somebody wrote before."""
    before = reconciler_pb2.ReconcilerSettings(max_parallel=3)
    request = reconciler_pb2.UpdateReconcilerSettingsRequest(settings=before)
    world.call("ReconcileControl/UpdateReconcilerSettings", request)
    return reconciler_pb2.ReconcilerSettings(**fields)


CASES = [
    Case(
        "Connectors/CreateConnector",
        lambda _: connector_pb2.CreateConnectorRequest(
            spec=connector_spec(display_name="lake", uri="file:///lake")
        ),
    ),
    Case(
        "Connectors/UpdateConnector",
        lambda world: connector_pb2.UpdateConnectorRequest(
            connector_id=connector_id(world),
            spec=connector_spec(description="all of it"),
            update_mask=_mask("description", "auth"),
        ),
    ),
    Case(
        "ReconcileControl/UpdateReconcilerSettings",
        lambda world: reconciler_pb2.UpdateReconcilerSettingsRequest(
            settings=_settings(world, auto_enabled=True, properties={"by": "us"})
        ),
    ),
    Case(
        "Connectors/DeleteConnector",
        lambda world: connector_pb2.DeleteConnectorRequest(connector_id=connector_id(world)),
    ),
    Case(
        "AccountService/CreateAccount",
        lambda world: account_pb2.CreateAccountRequest(
            spec=account_pb2.AccountSpec(
                display_name=f"new beside {world.account_id}", properties={"k": "v", "l": "w"}
            )
        ),
    ),
    Case(
        "AccountService/UpdateAccount",
        lambda world: account_pb2.UpdateAccountRequest(
            account_id=_account_id(world),
            spec=account_pb2.AccountSpec(display_name=f"renamed by {world.account_id}"),
        ),
    ),
    Case(
        "AccountService/DeleteAccount",
        lambda world: account_pb2.DeleteAccountRequest(account_id=_account_id(world)),
    ),
    Case(
        "CatalogService/CreateCatalog",
        lambda _: catalog_pb2.CreateCatalogRequest(
            spec=catalog_pb2.CatalogSpec(display_name="lake", properties={"k": "v", "l": "w"})
        ),
    ),
    Case(
        "CatalogService/UpdateCatalog",
        lambda world: catalog_pb2.UpdateCatalogRequest(
            catalog_id=world.catalog().resource_id,
            spec=catalog_pb2.CatalogSpec(display_name="renamed"),
        ),
    ),
    Case(
        "CatalogService/DeleteCatalog",
        lambda world: catalog_pb2.DeleteCatalogRequest(catalog_id=world.catalog().resource_id),
    ),
    Case(
        "NamespaceService/CreateNamespace",
        lambda world: namespace_pb2.CreateNamespaceRequest(
            spec=namespace_pb2.NamespaceSpec(
                catalog_id=world.catalog().resource_id, display_name="sales"
            )
        ),
    ),
    Case(
        "NamespaceService/UpdateNamespace",
        lambda world: namespace_pb2.UpdateNamespaceRequest(
            namespace_id=_namespace(world).resource_id,
            spec=namespace_pb2.NamespaceSpec(description="all of it"),
            update_mask=_mask("description"),
        ),
    ),
    Case(
        "NamespaceService/DeleteNamespace",
        lambda world: namespace_pb2.DeleteNamespaceRequest(
            namespace_id=_namespace(world).resource_id
        ),
    ),
    Case(
        "TableService/CreateTable",
        lambda world: table_pb2.CreateTableRequest(
            spec=table_pb2.TableSpec(
                namespace_id=_namespace(world).resource_id,
                display_name="orders",
                schema_json='{"fields": []}' + " " * 100_000,
                properties={"k": "v", "l": "w"},
            )
        ),
    ),
    Case(
        "TableService/UpdateTable",
        lambda world: table_pb2.UpdateTableRequest(
            table_id=_table(world).resource_id, spec=table_pb2.TableSpec(display_name="renamed")
        ),
    ),
    Case(
        "TableService/DeleteTable",
        lambda world: table_pb2.DeleteTableRequest(table_id=_table(world).resource_id),
    ),
    Case(
        "ViewService/CreateView",
        lambda world: view_pb2.CreateViewRequest(spec=_view_spec(_namespace(world))),
    ),
    Case(
        "ViewService/UpdateView",
        lambda world: view_pb2.UpdateViewRequest(
            view_id=world.view(_namespace(world), "daily").resource_id,
            spec=view_pb2.ViewSpec(description="each day"),
        ),
    ),
    Case(
        "ViewService/DeleteView",
        lambda world: view_pb2.DeleteViewRequest(
            view_id=world.view(_namespace(world), "daily").resource_id
        ),
    ),
    Case(
        "SnapshotService/CreateSnapshot",
        lambda world: snapshot_pb2.CreateSnapshotRequest(
            spec=snapshot_pb2.SnapshotSpec(
                table_id=_table(world).resource_id,
                snapshot_id=9,
                attachments={"iceberg": b"x" * 50_000, "more": b"y"},
                summary={"operation": "append", "added": "3"},
            )
        ),
    ),
    Case(
        "SnapshotService/DeleteSnapshot",
        lambda world: snapshot_pb2.DeleteSnapshotRequest(
            table_id=_snapshot(world).table_id, snapshot_id=7
        ),
    ),
    Case(
        "SnapshotService/WriteSnapshotAttachment",
        lambda world: snapshot_pb2.WriteSnapshotAttachmentRequest(
            table_id=_snapshot(world).table_id, snapshot_id=7, name="manifest", data=b"z" * 300_000
        ),
    ),
    Case("TableStatisticsService/PutTargetStats", lambda world: statistics(_table(world))),
    Case("TableIndexService/PutIndexArtifacts", lambda world: failed_artifact(_table(world))),
    Case(
        "TableConstraintsService/PutTableConstraints",
        lambda world: constraints_pb2.PutTableConstraintsRequest(
            constraints=_given(world, "pk", "uq")
        ),
    ),
    Case(
        "TableConstraintsService/MergeTableConstraints",
        lambda world: constraints_pb2.MergeTableConstraintsRequest(
            constraints=_given(world, "pk", "uq")
        ),
    ),
    Case(
        "TableConstraintsService/AppendTableConstraints",
        lambda world: constraints_pb2.AppendTableConstraintsRequest(
            constraints=_given(world, "uq")
        ),
    ),
    Case(
        "TableConstraintsService/DeleteTableConstraints",
        lambda world: constraints_pb2.DeleteTableConstraintsRequest(
            table_id=_bundle(world, "pk").table_id, snapshot_id=7
        ),
    ),
    Case(
        "TableConstraintsService/AddTableConstraint",
        lambda world: constraints_pb2.AddTableConstraintRequest(
            table_id=_bundle(world, "pk").table_id, snapshot_id=7, constraint=_constraint("uq")
        ),
    ),
    Case(
        "TableConstraintsService/DeleteTableConstraint",
        lambda world: constraints_pb2.DeleteTableConstraintRequest(
            table_id=_bundle(world, "pk").table_id, snapshot_id=7, constraint_name="pk"
        ),
    ),
]
