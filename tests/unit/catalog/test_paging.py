"""Pages: sizes, tokens, stability under inserts, and trees depth first."""

import pytest
from tests.support.catalog import World

from ai.floedb.floecat.account import account_pb2
from ai.floedb.floecat.catalog import catalog_pb2, directory_pb2, namespace_pb2, table_pb2
from ai.floedb.floecat.common.common_pb2 import NameRef, PageRequest
from floecat.catalog.callers import Caller, Patient
from floecat.catalog.namespaces import NamespaceRepository
from floecat.errors import CancelledError, InvalidArgumentError


def page(
    world: World, namespace: namespace_pb2.Namespace, **fields: object
) -> table_pb2.ListTablesResponse:
    request = table_pb2.ListTablesRequest(namespace_id=namespace.resource_id, **fields)  # type: ignore[arg-type]
    listed: table_pb2.ListTablesResponse = world.call("TableService/ListTables", request)
    return listed


@pytest.fixture
def namespace(world: World) -> namespace_pb2.Namespace:
    return world.namespace(world.catalog(), "sales")


def test_pages_are_in_order_and_complete(world: World, namespace: namespace_pb2.Namespace) -> None:
    wanted = [f"t{number:03}" for number in range(25)]
    for name in reversed(wanted):
        world.table(namespace, name)
    names: list[str] = []
    token = ""
    sizes = []
    while True:
        listed = page(world, namespace, page=PageRequest(page_size=10, page_token=token))
        names += [table.display_name for table in listed.tables]
        sizes.append(len(listed.tables))
        token = listed.page.next_page_token
        if not token:
            break
    assert names == wanted
    assert sizes == [10, 10, 5]


def test_a_last_page_that_is_exactly_full_has_no_token(
    world: World, namespace: namespace_pb2.Namespace
) -> None:
    for name in "ab":
        world.table(namespace, name)
    assert page(world, namespace, page=PageRequest(page_size=2)).page.next_page_token == ""


def test_the_default_and_the_largest_page(world: World, namespace: namespace_pb2.Namespace) -> None:
    for number in range(1001):
        world.table(namespace, f"t{number:04}")
    assert len(page(world, namespace).tables) == 100
    assert len(page(world, namespace, page=PageRequest(page_size=100_000)).tables) == 1000


def test_inserts_between_pages_miss_and_repeat_nothing(
    world: World, namespace: namespace_pb2.Namespace
) -> None:
    there = [f"b{number}" for number in range(6)]
    for name in there:
        world.table(namespace, name)
    first = page(world, namespace, page=PageRequest(page_size=3))
    for name in ("a", "b1x", "c"):
        world.table(namespace, name)
    token = first.page.next_page_token
    second = page(world, namespace, page=PageRequest(page_size=100, page_token=token))
    seen = [table.display_name for table in (*first.tables, *second.tables)]
    assert sorted(name for name in seen if name in there) == there
    assert len(set(seen)) == len(seen)


def test_a_prefix_filters(world: World, namespace: namespace_pb2.Namespace) -> None:
    for name in ("alpha", "beta", "alps"):
        world.table(namespace, name)
    assert [t.display_name for t in page(world, namespace, name_prefix="al").tables] == [
        "alpha",
        "alps",
    ]


def test_a_token_fits_only_the_request_it_came_from(
    world: World, namespace: namespace_pb2.Namespace
) -> None:
    for name in "abc":
        world.table(namespace, name)
    token = page(world, namespace, page=PageRequest(page_size=1)).page.next_page_token
    other = world.namespace(world.catalog("second"), "sales")
    tampered = token[:-2] + ("AA" if token[-2:] != "AA" else "BB")
    for tried in (tampered, "x", "!!!", token + "A", "é"):
        with pytest.raises(InvalidArgumentError, match="page_token"):
            page(world, namespace, page=PageRequest(page_token=tried))
    with pytest.raises(InvalidArgumentError, match="page_token"):
        page(world, other, page=PageRequest(page_token=token))
    with pytest.raises(InvalidArgumentError, match="page_token"):
        page(world, namespace, name_prefix="a", page=PageRequest(page_token=token))


def test_a_negative_size_is_refused(world: World, namespace: namespace_pb2.Namespace) -> None:
    with pytest.raises(InvalidArgumentError, match="negative"):
        page(world, namespace, page=PageRequest(page_size=-1))


def forest(world: World) -> tuple[catalog_pb2.Catalog, list[tuple[str, ...]]]:
    catalog = world.catalog()
    paths: list[tuple[str, ...]] = []
    for a in ("a", "b", "c"):
        world.namespace(catalog, a)
        paths.append((a,))
        for b in ("x", "y"):
            world.namespace(catalog, b, a)
            paths.append((a, b))
            world.namespace(catalog, "z", a, b)
            paths.append((a, b, "z"))
    return catalog, paths


@pytest.mark.parametrize("size", [1, 2, 4, 100])
def test_a_recursive_listing_is_depth_first(world: World, size: int) -> None:
    catalog, paths = forest(world)
    seen: list[tuple[str, ...]] = []
    token = ""
    while True:
        request = namespace_pb2.ListNamespacesRequest(
            catalog_id=catalog.resource_id,
            recursive=True,
            page=PageRequest(page_size=size, page_token=token),
        )
        listed = world.call("NamespaceService/ListNamespaces", request)
        seen += [(*n.parents, n.display_name) for n in listed.namespaces]
        token = listed.page.next_page_token
        if not token:
            break
    assert seen == paths


def test_a_listing_starts_where_it_is_told(world: World) -> None:
    catalog, _ = forest(world)
    request = namespace_pb2.ListNamespacesRequest(
        catalog_id=catalog.resource_id, path=["b"], recursive=True
    )
    listed = world.call("NamespaceService/ListNamespaces", request).namespaces
    assert [(*n.parents, n.display_name) for n in listed] == [
        ("b", "x"),
        ("b", "x", "z"),
        ("b", "y"),
        ("b", "y", "z"),
    ]
    children = namespace_pb2.ListNamespacesRequest(
        catalog_id=catalog.resource_id, path=["b"], children_only=True
    )
    names = [
        n.display_name for n in world.call("NamespaceService/ListNamespaces", children).namespaces
    ]
    assert names == ["x", "y"]


def test_recursive_and_children_only_exclude_each_other(world: World) -> None:
    catalog, _ = forest(world)
    request = namespace_pb2.ListNamespacesRequest(
        catalog_id=catalog.resource_id, recursive=True, children_only=True
    )
    with pytest.raises(InvalidArgumentError, match="exclude"):
        world.call("NamespaceService/ListNamespaces", request)


@pytest.mark.parametrize("size", [1, 3, 100])
def test_every_relation_below_a_place_is_resolved(world: World, size: int) -> None:
    catalog, paths = forest(world)
    listing = namespace_pb2.ListNamespacesRequest(catalog_id=catalog.resource_id, recursive=True)
    for namespace in world.call("NamespaceService/ListNamespaces", listing).namespaces:
        world.table(namespace, "t1")
        world.table(namespace, "t2")
        world.view(namespace, "v")
    seen: list[tuple[str, ...]] = []
    token = ""
    while True:
        request = directory_pb2.ResolveRelationsRequest(
            below=NameRef(catalog="main", path=["b"]),
            page=PageRequest(page_size=size, page_token=token),
        )
        answer = world.call("DirectoryService/ResolveRelations", request)
        seen += [(*r.name.path, r.name.name) for r in answer.relations]
        token = answer.page.next_page_token
        if not token:
            break
    below = [path for path in paths if path[0] == "b"]
    assert seen == [(*path, name) for path in below for name in ("t1", "t2", "v")]


def test_accounts_are_paged_too(world: World) -> None:
    for number in range(5):
        spec = account_pb2.AccountSpec(display_name=f"b{number}")
        world.call("AccountService/CreateAccount", account_pb2.CreateAccountRequest(spec=spec))
    request = account_pb2.ListAccountsRequest(page=PageRequest(page_size=4))
    first = world.call("AccountService/ListAccounts", request)
    assert [a.display_name for a in first.accounts] == ["acme", "b0", "b1", "b2"]
    request.page.page_token = first.page.next_page_token
    rest = world.call("AccountService/ListAccounts", request)
    assert [a.display_name for a in rest.accounts] == ["b3", "b4"]


def test_a_tree_without_matches_is_walked_in_bounded_pages(world: World) -> None:
    catalog = world.catalog()
    for number in range(2_100):
        world.namespace(catalog, f"n{number:04}")
    world.namespace(catalog, "wanted")
    token, pages, names = "", 0, []
    while True:
        request = namespace_pb2.ListNamespacesRequest(
            catalog_id=catalog.resource_id,
            recursive=True,
            name_prefix="wan",
            page=PageRequest(page_token=token),
        )
        listed = world.call("NamespaceService/ListNamespaces", request)
        names += [namespace.display_name for namespace in listed.namespaces]
        pages += 1
        token = listed.page.next_page_token
        if not token:
            break
    assert (pages, names) == (2, ["wanted"])


def test_a_walk_ends_when_nobody_waits_for_it(world: World) -> None:
    catalog = world.catalog()
    for number in range(5):
        world.namespace(catalog, f"n{number}")

    class Impatient(Patient):
        def __init__(self) -> None:
            self.asked = 0

        def require_waiting(self) -> None:
            self.asked += 1
            if self.asked == 3:
                raise CancelledError("gone")

    caller = Caller(world.account_id, asker=Impatient())
    request = namespace_pb2.ListNamespacesRequest(catalog_id=catalog.resource_id, recursive=True)
    with pytest.raises(CancelledError):
        NamespaceRepository(world.stores).list(caller, request)
