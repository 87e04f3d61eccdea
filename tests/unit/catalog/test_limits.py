"""What fits a message: records that can be read again, pages cut by bytes, bounded attachments."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.catalog import World

from ai.floedb.floecat.catalog import (
    constraints_pb2,
    directory_pb2,
    namespace_pb2,
    snapshot_pb2,
    table_pb2,
)
from ai.floedb.floecat.common.common_pb2 import NameRef, PageRequest, ResourceId
from floecat.catalog.attachments import MAX_ATTACHMENTS
from floecat.catalog.codec import MAX_RECORD_BYTES
from floecat.catalog.paging import page_cursor
from floecat.errors import InvalidArgumentError, LimitExceededError, NotFoundError

MESSAGE_BYTES = 4 * 1024 * 1024
MEGABYTE = 1024 * 1024


def test_what_could_never_be_answered_is_refused_before_it_is_kept(world: World) -> None:
    namespace = world.namespace(world.catalog(), "sales")
    with pytest.raises(LimitExceededError):
        world.table(namespace, "orders", schema_json="x" * MAX_RECORD_BYTES)
    table = world.table(namespace, "orders", schema_json="x" * (MAX_RECORD_BYTES - 1000))
    spec = table_pb2.TableSpec(properties={"more": "y" * MEGABYTE})
    update = table_pb2.UpdateTableRequest(table_id=table.resource_id, spec=spec)
    with pytest.raises(LimitExceededError):
        world.call("TableService/UpdateTable", update)
    got = world.call("TableService/GetTable", table_pb2.GetTableRequest(table_id=table.resource_id))
    assert got.ByteSize() < MESSAGE_BYTES
    assert not got.table.properties


def test_a_page_is_cut_before_it_is_too_large_for_a_message(world: World) -> None:
    namespace = world.namespace(world.catalog(), "sales")
    names = [f"t{number}" for number in range(7)]
    for name in names:
        world.table(namespace, name, schema_json="x" * MEGABYTE)
    request = table_pb2.ListTablesRequest(namespace_id=namespace.resource_id)
    seen: list[str] = []
    while True:
        listed = world.call("TableService/ListTables", request)
        assert listed.ByteSize() < MESSAGE_BYTES
        seen += [table.display_name for table in listed.tables]
        request.page.page_token = listed.page.next_page_token
        if not request.page.page_token:
            break
    assert seen == names


def test_snapshots_and_constraints_are_cut_too(world: World) -> None:
    table = world.table(world.namespace(world.catalog(), "sales"), "orders")
    for number in range(5):
        world.snapshot(table, number, schema_json="x" * MEGABYTE)
        bundle = constraints_pb2.TableConstraints(
            table_id=table.resource_id, snapshot_id=number, properties={"p": "x" * MEGABYTE}
        )
        put = constraints_pb2.PutTableConstraintsRequest(constraints=bundle)
        world.call("TableConstraintsService/PutTableConstraints", put)
    snapshots = snapshot_pb2.ListSnapshotsRequest(table_id=table.resource_id)
    seen = [
        s.snapshot_id
        for page in pages(world, "SnapshotService/ListSnapshots", snapshots)
        for s in page.snapshots
    ]
    assert sorted(seen) == list(range(5))
    bundles = constraints_pb2.ListTableConstraintsRequest(table_id=table.resource_id)
    listed = [
        b.snapshot_id
        for page in pages(world, "TableConstraintsService/ListTableConstraints", bundles)
        for b in page.bundles
    ]
    assert sorted(listed) == list(range(5))


def test_namespaces_are_cut_too_flat_and_recursive(world: World) -> None:
    catalog = world.catalog()
    for number in range(5):
        spec = namespace_pb2.NamespaceSpec(
            catalog_id=catalog.resource_id, display_name=f"n{number}", description="x" * MEGABYTE
        )
        request = namespace_pb2.CreateNamespaceRequest(spec=spec)
        world.call("NamespaceService/CreateNamespace", request)
    for recursive in (False, True):
        listing = namespace_pb2.ListNamespacesRequest(
            catalog_id=catalog.resource_id, recursive=recursive
        )
        seen = [
            namespace.display_name
            for page in pages(world, "NamespaceService/ListNamespaces", listing)
            for namespace in page.namespaces
        ]
        assert seen == [f"n{number}" for number in range(5)]


def pages(world: World, method: str, request: Any) -> Iterator[Any]:
    while True:
        page = world.call(method, request)
        assert page.ByteSize() < MESSAGE_BYTES
        yield page
        request.page.page_token = page.page.next_page_token
        if not page.page.next_page_token:
            return


def test_too_many_attachments_are_refused_before_any_is_written(world: World) -> None:
    table = world.table(world.namespace(world.catalog(), "sales"), "orders")
    many = {f"a{number}": b"x" * 1000 for number in range(MAX_ATTACHMENTS + 1)}
    with pytest.raises(InvalidArgumentError, match="at most 64"):
        world.snapshot(table, 1, attachments=many)
    assert world.stores.blobs.list(limit=1) == []
    many.popitem()
    world.snapshot(table, 1, attachments=many)
    assert world.findings() == []


def test_namespaces_may_be_as_deep_as_anyone_likes(world: World) -> None:
    catalog = world.catalog()
    path: list[str] = []
    for number in range(130):
        deepest = world.namespace(catalog, f"n{number}", *path)
        path.append(f"n{number}")
    table = world.table(deepest, "orders")
    lookup = directory_pb2.LookupTableRequest(resource_id=table.resource_id)
    assert len(world.call("DirectoryService/LookupTable", lookup).name.path) == 130


def doomed_tree(world: World) -> tuple[namespace_pb2.Namespace, ResourceId]:
    catalog = world.catalog()
    top = world.namespace(catalog, "a")
    for name in ("k0", "k1", "k2"):
        world.table(world.namespace(catalog, name, "a"), "t")
    world.table(world.namespace(catalog, "b"), "t")
    return top, catalog.resource_id


def test_a_page_token_leads_into_nothing_that_was_deleted(world: World) -> None:
    top, catalog_id = doomed_tree(world)
    listing = namespace_pb2.ListNamespacesRequest(
        catalog_id=catalog_id, recursive=True, page=PageRequest(page_size=2)
    )
    below = directory_pb2.ResolveRelationsRequest(
        below=NameRef(catalog="main"), page=PageRequest(page_size=1)
    )
    first = world.call("NamespaceService/ListNamespaces", listing)
    relations = world.call("DirectoryService/ResolveRelations", below)
    assert [n.display_name for n in first.namespaces] == ["a", "k0"]
    delete = namespace_pb2.DeleteNamespaceRequest(namespace_id=top.resource_id, cascade=True)
    world.call("NamespaceService/DeleteNamespace", delete)
    listing.page.page_token = first.page.next_page_token
    below.page.page_token = relations.page.next_page_token
    below.page.page_size = 10
    rest = world.call("NamespaceService/ListNamespaces", listing).namespaces
    assert [n.display_name for n in rest] == ["b"]
    left = world.call("DirectoryService/ResolveRelations", below).relations
    assert [(*r.name.path, r.name.name) for r in left] == [("b", "t")]


@pytest.mark.parametrize("payload", ["abc", "[[1]]", "-1", "[]", "null", '["x", [], null, 9, "n"]'])
def test_a_forged_token_is_a_bad_token(world: World, payload: str) -> None:
    _, catalog_id = doomed_tree(world)
    account = world.account_id
    names = f"namespaces/{account}/{catalog_id.id}"
    forged = page_cursor(PageRequest(), "recursive", names, "").token(payload)
    listing = namespace_pb2.ListNamespacesRequest(
        catalog_id=catalog_id, recursive=True, page=PageRequest(page_token=forged)
    )
    if payload != "[]":  # an empty way is a walk that has ended
        with pytest.raises(InvalidArgumentError, match="page_token"):
            world.call("NamespaceService/ListNamespaces", listing)
    forged = page_cursor(PageRequest(), "below", account, catalog_id.id).token(payload)
    below = directory_pb2.ResolveRelationsRequest(
        below=NameRef(catalog="main"), page=PageRequest(page_token=forged)
    )
    with pytest.raises(InvalidArgumentError, match="page_token"):
        world.call("DirectoryService/ResolveRelations", below)


def test_ids_and_prefixes_that_cannot_be_are_refused(world: World) -> None:
    namespace = world.namespace(world.catalog(), "sales")
    long = ResourceId(account_id=world.account_id, id="x" * 20_000)
    with pytest.raises(InvalidArgumentError, match="too long"):
        world.call("TableService/GetTable", table_pb2.GetTableRequest(table_id=long))
    listing = table_pb2.ListTablesRequest(
        namespace_id=namespace.resource_id, name_prefix="x" * 5000
    )
    with pytest.raises(InvalidArgumentError, match="name_prefix"):
        world.call("TableService/ListTables", listing)


def test_an_unknown_catalog_reads_like_a_foreign_one(world: World) -> None:
    namespace = world.namespace(world.catalog(), "sales")
    for account in (world.account_id, "other"):
        unknown = ResourceId(account_id=account, id="x")
        with pytest.raises(NotFoundError, match="no catalog with id 'x'"):
            world.table(namespace, "t", catalog_id=unknown)


def test_a_constraint_refers_to_tables_of_its_account_only(world: World) -> None:
    table = world.table(world.namespace(world.catalog(), "sales"), "orders")
    world.snapshot(table, 1)
    key = constraints_pb2.ConstraintDefinition(
        name="fk",
        type=constraints_pb2.CT_FOREIGN_KEY,
        referenced_table_id=ResourceId(account_id="other", id="x"),
    )
    request = constraints_pb2.AddTableConstraintRequest(
        table_id=table.resource_id, snapshot_id=1, constraint=key
    )
    with pytest.raises(NotFoundError):
        world.call("TableConstraintsService/AddTableConstraint", request)
