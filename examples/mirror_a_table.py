"""Declares a table with two snapshots in a running catalog, and reads it the way a planner would.

    floecat serve &
    python examples/mirror_a_table.py localhost:9100

Running it twice changes nothing: every write has an idempotency key.
"""

import json
import sys
from datetime import UTC, datetime

import floecat
from ai.floedb.floecat.catalog.catalog_pb2 import CatalogSpec, CreateCatalogRequest
from ai.floedb.floecat.catalog.directory_pb2 import ResolveTableRequest
from ai.floedb.floecat.catalog.namespace_pb2 import CreateNamespaceRequest, NamespaceSpec
from ai.floedb.floecat.catalog.snapshot_pb2 import (
    CreateSnapshotRequest,
    GetSnapshotRequest,
    SnapshotSpec,
)
from ai.floedb.floecat.catalog.table_pb2 import (
    TF_ICEBERG,
    CreateTableRequest,
    GetTableRequest,
    Table,
    TableSpec,
)
from ai.floedb.floecat.common.common_pb2 import IdempotencyKey, SnapshotRef
from floecat.client.names import parse_relation

SCHEMA = {
    "type": "struct",
    "fields": [
        {"id": 1, "name": "id", "required": True, "type": "long"},
        {"id": 2, "name": "ordered_at", "required": False, "type": "timestamptz"},
    ],
}


def declare(clients: floecat.GrpcClients) -> Table:
    """Make the catalog `demo`, the namespace `eu` and the table `orders`, once."""
    catalog = clients.catalogs.CreateCatalog(
        CreateCatalogRequest(spec=CatalogSpec(display_name="demo"), idempotency=once("catalog"))
    ).catalog
    place = NamespaceSpec(catalog_id=catalog.resource_id, display_name="eu")
    namespace = clients.namespaces.CreateNamespace(
        CreateNamespaceRequest(spec=place, idempotency=once("namespace"))
    ).namespace
    spec = TableSpec(
        namespace_id=namespace.resource_id,
        display_name="orders",
        format=TF_ICEBERG,
        location="s3://lake/orders",
        schema_json=json.dumps(SCHEMA),
    )
    request = CreateTableRequest(spec=spec, idempotency=once("table"))
    return clients.tables.CreateTable(request).table


def record_snapshot(clients: floecat.GrpcClients, table: Table, number: int, day: int) -> None:
    """Tell of a snapshot that the upstream made on a day in January."""
    spec = SnapshotSpec(
        table_id=table.resource_id, snapshot_id=number, summary={"operation": "append"}
    )
    spec.upstream_created_at.FromDatetime(datetime(2026, 1, day, tzinfo=UTC))
    request = CreateSnapshotRequest(spec=spec, idempotency=once(f"snapshot-{number}"))
    clients.snapshots.CreateSnapshot(request)


def once(step: str) -> IdempotencyKey:
    """A key that is the same each time this runs."""
    return IdempotencyKey(key=f"mirror-a-table/{step}")


def main(server: str) -> None:
    """Declare, then plan: resolve the name, pin a snapshot, read the schema."""
    with floecat.connect(server) as clients:
        declared = declare(clients)
        record_snapshot(clients, declared, 101, day=10)
        record_snapshot(clients, declared, 102, day=20)

        name = parse_relation("demo.eu.orders")
        found = clients.directory.ResolveTable(ResolveTableRequest(name=name))
        as_of = SnapshotRef()
        as_of.as_of.FromDatetime(datetime(2026, 1, 15, tzinfo=UTC))
        pinned = clients.snapshots.GetSnapshot(
            GetSnapshotRequest(table_id=found.resource_id, snapshot=as_of)
        ).snapshot
        table = clients.tables.GetTable(GetTableRequest(table_id=found.resource_id)).table
        columns = [field["name"] for field in json.loads(table.schema_json)["fields"]]
    print(f"demo.eu.orders as of 15 January is snapshot {pinned.snapshot_id}, with {columns}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "localhost:9100")
