"""Deletions: refused while something is inside, whole when they happen, finished by the sweep."""

import pytest
from tests.support.catalog import World

from ai.floedb.floecat.account import account_pb2
from ai.floedb.floecat.catalog import (
    catalog_pb2,
    constraints_pb2,
    directory_pb2,
    namespace_pb2,
    snapshot_pb2,
    table_pb2,
    view_pb2,
)
from ai.floedb.floecat.common.common_pb2 import NameRef, ResourceId
from floecat.catalog.sweeps import Sweeper
from floecat.errors import FailedPreconditionError, NotFoundError


def delete_catalog(world: World, catalog: catalog_pb2.Catalog, *, cascade: bool) -> None:
    request = catalog_pb2.DeleteCatalogRequest(catalog_id=catalog.resource_id, cascade=cascade)
    world.call("CatalogService/DeleteCatalog", request)


def filled(world: World) -> tuple[catalog_pb2.Catalog, table_pb2.Table, view_pb2.View]:
    catalog = world.catalog()
    world.namespace(catalog, "a")
    inner = world.namespace(catalog, "b", "a")
    table, view = world.table(inner, "orders"), world.view(inner, "daily")
    for number in range(40):
        world.snapshot(table, number)
    bundle = constraints_pb2.TableConstraints(table_id=table.resource_id, snapshot_id=3)
    request = constraints_pb2.PutTableConstraintsRequest(constraints=bundle)
    world.call("TableConstraintsService/PutTableConstraints", request)
    return catalog, table, view


def left_over(world: World) -> list[str]:
    """Everything but the account itself, and what tells the store's key for secrets."""
    account = world.account_id
    own = {"accounts", "secrets", f"guard/{account}/{account}"}
    return [
        f"{record.key.partition} {record.key.sort}"
        for record in world.stores.kv.dump()
        if record.key.partition not in own and record.key.sort != f"account/{account}"
    ]


def test_what_has_something_inside_is_refused_without_cascade(world: World) -> None:
    catalog, _, _ = filled(world)
    with pytest.raises(FailedPreconditionError, match="isn't empty"):
        delete_catalog(world, catalog, cascade=False)
    listing = namespace_pb2.ListNamespacesRequest(catalog_id=catalog.resource_id, recursive=True)
    for namespace in world.call("NamespaceService/ListNamespaces", listing).namespaces:
        request = namespace_pb2.DeleteNamespaceRequest(namespace_id=namespace.resource_id)
        with pytest.raises(FailedPreconditionError, match="isn't empty"):
            world.call("NamespaceService/DeleteNamespace", request)
    account = account_pb2.DeleteAccountRequest(
        account_id=ResourceId(account_id=world.account_id, id=world.account_id)
    )
    with pytest.raises(FailedPreconditionError, match="isn't empty"):
        world.call("AccountService/DeleteAccount", account)


def test_an_empty_one_is_gone_at_once(world: World) -> None:
    catalog = world.catalog()
    world.namespace(catalog, "a")
    listing = namespace_pb2.ListNamespacesRequest(catalog_id=catalog.resource_id)
    namespace = world.call("NamespaceService/ListNamespaces", listing).namespaces[0]
    request = namespace_pb2.DeleteNamespaceRequest(namespace_id=namespace.resource_id)
    world.call("NamespaceService/DeleteNamespace", request)
    delete_catalog(world, catalog, cascade=False)
    assert left_over(world) == []
    with pytest.raises(NotFoundError):
        delete_catalog(world, catalog, cascade=False)


def test_a_cascade_hides_everything_below_before_anything_is_swept(world: World) -> None:
    catalog, table, view = filled(world)
    delete_catalog(world, catalog, cascade=True)
    gone = [
        ("TableService/GetTable", table_pb2.GetTableRequest(table_id=table.resource_id)),
        ("ViewService/GetView", view_pb2.GetViewRequest(view_id=view.resource_id)),
        (
            "SnapshotService/GetSnapshot",
            snapshot_pb2.GetSnapshotRequest(table_id=table.resource_id),
        ),
        (
            "TableService/ListTables",
            table_pb2.ListTablesRequest(namespace_id=table.namespace_id),
        ),
        (
            "TableService/UpdateTable",
            table_pb2.UpdateTableRequest(table_id=table.resource_id),
        ),
        (
            "SnapshotService/CreateSnapshot",
            snapshot_pb2.CreateSnapshotRequest(
                spec=snapshot_pb2.SnapshotSpec(table_id=table.resource_id, snapshot_id=99)
            ),
        ),
        (
            "DirectoryService/ResolveTable",
            directory_pb2.ResolveTableRequest(
                name=NameRef(catalog="main", path=["a", "b"], name="orders")
            ),
        ),
        (
            "DirectoryService/LookupTable",
            directory_pb2.LookupTableRequest(resource_id=table.resource_id),
        ),
    ]
    for method, request in gone:
        with pytest.raises(NotFoundError):
            world.call(method, request)
    listed = world.call("CatalogService/ListCatalogs", catalog_pb2.ListCatalogsRequest())
    assert list(listed.catalogs) == []
    assert world.findings() == []


def test_the_sweep_leaves_nothing_and_is_consistent_at_every_step(world: World) -> None:
    catalog, _, _ = filled(world)
    delete_catalog(world, catalog, cascade=True)
    sweeper = Sweeper(world.stores)
    steps = 0
    while sweeper.sweep():
        assert world.findings() == []
        steps += 1
    assert steps >= 1
    assert left_over(world) == []


def test_the_name_is_free_while_the_old_one_is_swept(world: World) -> None:
    catalog, _, _ = filled(world)
    delete_catalog(world, catalog, cascade=True)
    fresh = world.catalog()
    world.namespace(fresh, "a")
    world.sweep()
    listing = namespace_pb2.ListNamespacesRequest(catalog_id=fresh.resource_id)
    assert len(world.call("NamespaceService/ListNamespaces", listing).namespaces) == 1
    assert world.findings() == []


def test_deleting_a_table_takes_its_snapshots_and_constraints(world: World) -> None:
    _, table, _ = filled(world)
    request = table_pb2.DeleteTableRequest(table_id=table.resource_id)
    world.call("TableService/DeleteTable", request)
    world.sweep()
    assert [row for row in left_over(world) if table.resource_id.id in row] == []


def test_deleting_an_account_takes_everything_in_it(world: World) -> None:
    filled(world)
    request = account_pb2.DeleteAccountRequest(
        account_id=ResourceId(account_id=world.account_id, id=world.account_id), cascade=True
    )
    world.call("AccountService/DeleteAccount", request)
    world.sweep()
    assert [tuple(record.key) for record in world.stores.kv.dump()] == [("secrets", "key")]


def test_a_child_that_moves_away_survives_the_sweep(world: World) -> None:
    """Between the sweep's look at a name and its commit, the child goes to another namespace."""
    catalog = world.catalog()
    doomed, safe = world.namespace(catalog, "doomed"), world.namespace(catalog, "safe")
    table = world.table(doomed, "orders")
    sweeper = Sweeper(world.stores)
    name = world.stores.kv.scan(f"tables/{world.account_id}/{doomed.resource_id.id}", limit=1)[0]
    move = table_pb2.UpdateTableRequest(
        table_id=table.resource_id, spec=table_pb2.TableSpec(namespace_id=safe.resource_id)
    )
    world.call("TableService/UpdateTable", move)
    delete = namespace_pb2.DeleteNamespaceRequest(namespace_id=doomed.resource_id, cascade=True)
    world.call("NamespaceService/DeleteNamespace", delete)
    operations = sweeper._hidden(world.account_id, table.resource_id.kind, name)
    with pytest.raises(Exception, match="isn't"):
        world.stores.kv.commit(operations)
    world.sweep()
    got = table_pb2.GetTableRequest(table_id=table.resource_id)
    assert world.call("TableService/GetTable", got).table.display_name == "orders"
