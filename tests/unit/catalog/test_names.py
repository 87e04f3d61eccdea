"""Names: cleaned, unique among siblings, kept through renames and moves."""

import pytest
from tests.support.catalog import World

from ai.floedb.floecat.catalog import namespace_pb2, table_pb2
from floecat.catalog.names import MAX_NAME_LENGTH, cleaned_name
from floecat.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError


def test_names_are_trimmed_and_normalised() -> None:
    assert cleaned_name("  cafe\u0301 ", "name") == "caf\u00e9"


def test_every_kind_of_space_is_trimmed() -> None:
    assert cleaned_name("\u00a0\u3000\tname\u2003\n", "name") == "name"


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "   ",
        "\u3000",
        "a\x00b",
        "tab\there",
        "two\u2028lines",
        "two\u2029paragraphs",
        "txt.\u202eexe",
        "\u2066a\u2069b",
        "a\u200fb",
        "\u200b\u200d",
        "\u3164",
        "x" * (MAX_NAME_LENGTH + 1),
    ],
)
def test_bad_names_are_refused_and_name_their_field(raw: str) -> None:
    with pytest.raises(InvalidArgumentError) as refusal:
        cleaned_name(raw, "spec.display_name")
    assert refusal.value.field == "spec.display_name"


@pytest.mark.parametrize("name", ["a/b", "..", "a.b", "😀" * MAX_NAME_LENGTH, "select", "a b"])
def test_unusual_names_are_just_names(world: World, name: str) -> None:
    namespace = world.namespace(world.catalog(), name)
    table = world.table(namespace, name)
    request = table_pb2.ListTablesRequest(namespace_id=namespace.resource_id)
    listed = world.call("TableService/ListTables", request).tables
    assert [t.display_name for t in listed] == [name]
    assert world.findings() == []
    assert table.display_name == name


def test_names_are_case_sensitive(world: World) -> None:
    namespace = world.namespace(world.catalog(), "sales")
    world.table(namespace, "Orders")
    world.table(namespace, "orders")


def test_tables_and_views_share_one_space(world: World) -> None:
    namespace = world.namespace(world.catalog(), "sales")
    world.table(namespace, "orders")
    world.view(namespace, "daily")
    with pytest.raises(AlreadyExistsError):
        world.view(namespace, "orders")
    with pytest.raises(AlreadyExistsError):
        world.table(namespace, "daily")


def test_a_namespace_and_a_table_may_have_one_name(world: World) -> None:
    catalog = world.catalog()
    namespace = world.namespace(catalog, "sales")
    world.table(namespace, "eu")
    world.namespace(catalog, "eu", "sales")


def test_a_name_is_free_again_after_a_rename_and_after_a_delete(world: World) -> None:
    namespace = world.namespace(world.catalog(), "sales")
    orders = world.table(namespace, "orders")
    renamed = table_pb2.UpdateTableRequest(
        table_id=orders.resource_id, spec=table_pb2.TableSpec(display_name="old_orders")
    )
    world.call("TableService/UpdateTable", renamed)
    again = world.table(namespace, "orders")
    delete = table_pb2.DeleteTableRequest(table_id=again.resource_id)
    world.call("TableService/DeleteTable", delete)
    world.table(namespace, "orders")
    world.sweep()
    assert world.findings() == []


def test_a_rename_to_a_taken_name_changes_nothing(world: World) -> None:
    namespace = world.namespace(world.catalog(), "sales")
    orders = world.table(namespace, "orders")
    world.view(namespace, "daily")
    request = table_pb2.UpdateTableRequest(
        table_id=orders.resource_id, spec=table_pb2.TableSpec(display_name="daily")
    )
    with pytest.raises(AlreadyExistsError):
        world.call("TableService/UpdateTable", request)
    got = table_pb2.GetTableRequest(table_id=orders.resource_id)
    assert world.call("TableService/GetTable", got).table.display_name == "orders"
    assert world.findings() == []


def test_a_moved_table_keeps_its_id(world: World) -> None:
    catalog = world.catalog()
    here, there = world.namespace(catalog, "here"), world.namespace(catalog, "there")
    orders = world.table(here, "orders")
    request = table_pb2.UpdateTableRequest(
        table_id=orders.resource_id, spec=table_pb2.TableSpec(namespace_id=there.resource_id)
    )
    moved = world.call("TableService/UpdateTable", request).table
    assert moved.resource_id == orders.resource_id
    assert moved.namespace_id == there.resource_id
    world.table(here, "orders")
    assert world.findings() == []


def test_a_moved_namespace_takes_what_is_below_along(world: World) -> None:
    catalog = world.catalog()
    world.namespace(catalog, "a")
    world.namespace(catalog, "b", "a")
    c = world.namespace(catalog, "c", "a", "b")
    target = world.namespace(catalog, "target")
    found = namespace_pb2.ListNamespacesRequest(catalog_id=catalog.resource_id, path=["a"])
    b = world.call("NamespaceService/ListNamespaces", found).namespaces[0]
    request = namespace_pb2.UpdateNamespaceRequest(
        namespace_id=b.resource_id, spec=namespace_pb2.NamespaceSpec(path=["target"])
    )
    assert world.call("NamespaceService/UpdateNamespace", request).namespace.parents == ["target"]
    got = namespace_pb2.GetNamespaceRequest(namespace_id=c.resource_id)
    assert world.call("NamespaceService/GetNamespace", got).namespace.parents == ["target", "b"]
    assert target.parents == []
    assert world.findings() == []


def test_a_listing_below_a_namespace_wants_its_catalog_or_none(world: World) -> None:
    catalog, other = world.catalog(), world.catalog("other")
    namespace = world.namespace(catalog, "sales")
    world.namespace(catalog, "eu", "sales")
    request = namespace_pb2.ListNamespacesRequest(namespace_id=namespace.resource_id)
    for fitting in (None, catalog.resource_id):
        if fitting:
            request.catalog_id.CopyFrom(fitting)
        listed = world.call("NamespaceService/ListNamespaces", request).namespaces
        assert [n.display_name for n in listed] == ["eu"]
    request.catalog_id.CopyFrom(other.resource_id)
    with pytest.raises(InvalidArgumentError, match="another catalog"):
        world.call("NamespaceService/ListNamespaces", request)
    request.catalog_id.id = "none"
    with pytest.raises(NotFoundError):
        world.call("NamespaceService/ListNamespaces", request)
