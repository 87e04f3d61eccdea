"""The directory: names into ids and back, one or many."""

import pytest
from tests.support.catalog import World

from ai.floedb.floecat.catalog import directory_pb2, table_pb2
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import NameRef, PageRequest, ResourceId
from floecat.errors import InvalidArgumentError, NotFoundError

SERVICE = "DirectoryService"


@pytest.fixture
def table(world: World) -> table_pb2.Table:
    catalog = world.catalog()
    world.namespace(catalog, "sales")
    inner = world.namespace(catalog, "eu", "sales")
    world.view(inner, "daily")
    return world.table(inner, "orders")


def name(*path: str, relation: str = "", catalog: str = "main") -> NameRef:
    return NameRef(catalog=catalog, path=path, name=relation)


def test_names_become_ids_and_ids_names(world: World, table: table_pb2.Table) -> None:
    orders = name("sales", "eu", relation="orders")
    request = directory_pb2.ResolveTableRequest(name=orders)
    found = world.call(f"{SERVICE}/ResolveTable", request).resource_id
    assert found == table.resource_id
    lookup = directory_pb2.LookupTableRequest(resource_id=found)
    assert world.call(f"{SERVICE}/LookupTable", lookup).name == orders
    catalog = directory_pb2.ResolveCatalogRequest(name=name())
    assert world.call(f"{SERVICE}/ResolveCatalog", catalog).resource_id == table.catalog_id
    for spelled in (name("sales", "eu"), name("sales", relation="eu")):
        namespace = directory_pb2.ResolveNamespaceRequest(name=spelled)
        answer = world.call(f"{SERVICE}/ResolveNamespace", namespace)
        assert answer.resource_id == table.namespace_id
    again = directory_pb2.LookupNamespaceRequest(resource_id=table.namespace_id)
    assert world.call(f"{SERVICE}/LookupNamespace", again).name == name("sales", "eu")


def test_a_table_is_no_view_but_both_are_relations(world: World, table: table_pb2.Table) -> None:
    orders, daily = (name("sales", "eu", relation=r) for r in ("orders", "daily"))
    with pytest.raises(NotFoundError):
        world.call(f"{SERVICE}/ResolveView", directory_pb2.ResolveViewRequest(name=orders))
    with pytest.raises(NotFoundError):
        world.call(f"{SERVICE}/ResolveTable", directory_pb2.ResolveTableRequest(name=daily))
    request = directory_pb2.ResolveRelationRequest(name=daily)
    kind = world.call(f"{SERVICE}/ResolveRelation", request).resource_id.kind
    assert kind == common_pb2.RK_VIEW


@pytest.mark.parametrize(
    ("wanted", "missing"),
    [
        (name("sales", relation="x", catalog="nowhere"), "nowhere"),
        (name("none", "eu", relation="x"), "main.none"),
        (name("sales", "none", relation="x"), "main.sales.none"),
        (name("sales", "eu", relation="none"), "main.sales.eu.none"),
    ],
)
def test_what_is_missing_is_named(
    world: World, table: table_pb2.Table, wanted: NameRef, missing: str
) -> None:
    with pytest.raises(NotFoundError) as refusal:
        world.call(f"{SERVICE}/ResolveTable", directory_pb2.ResolveTableRequest(name=wanted))
    assert repr(missing) in str(refusal.value)


def test_many_names_keep_their_order_and_what_is_missing_has_no_id(
    world: World, table: table_pb2.Table
) -> None:
    wanted = [name("sales", "eu", relation=r) for r in ("daily", "none", "orders")]
    seen: list[directory_pb2.ResolvedRelation] = []
    request = directory_pb2.ResolveRelationsRequest(names=wanted, page=PageRequest(page_size=2))
    while True:
        answer = world.call(f"{SERVICE}/ResolveRelations", request)
        seen += answer.relations
        request.page.page_token = answer.page.next_page_token
        if not request.page.page_token:
            break
    assert [r.name for r in seen] == wanted
    assert [r.HasField("resource_id") for r in seen] == [True, False, True]


def test_many_ids_of_any_kind(world: World, table: table_pb2.Table) -> None:
    unknown = ResourceId(account_id=world.account_id, id="x", kind=common_pb2.RK_TABLE)
    foreign = ResourceId(account_id="other", id=table.resource_id.id, kind=common_pb2.RK_TABLE)
    ids = [table.catalog_id, unknown, table.resource_id, foreign, table.namespace_id]
    request = directory_pb2.LookupResourcesRequest(resource_ids=ids)
    answers = world.call(f"{SERVICE}/LookupResources", request).resources
    assert [a.resource_id for a in answers] == ids
    assert [a.HasField("name") for a in answers] == [True, False, True, False, True]
    kindless = ResourceId(account_id=world.account_id, id=table.resource_id.id)
    request = directory_pb2.LookupResourcesRequest(resource_ids=[kindless])
    with pytest.raises(InvalidArgumentError, match="kind"):
        world.call(f"{SERVICE}/LookupResources", request)


def test_what_the_upstream_dropped_is_not_resolvable(world: World, table: table_pb2.Table) -> None:
    spec = table_pb2.TableSpec(upstream=table_pb2.UpstreamRef(state=table_pb2.US_GONE))
    update = table_pb2.UpdateTableRequest(table_id=table.resource_id, spec=spec)
    world.call("TableService/UpdateTable", update)
    request = directory_pb2.ResolveTableRequest(name=name("sales", "eu", relation="orders"))
    with pytest.raises(NotFoundError):
        world.call(f"{SERVICE}/ResolveTable", request)
    got = table_pb2.GetTableRequest(table_id=table.resource_id)
    assert world.call("TableService/GetTable", got).table.display_name == "orders"


def test_incomplete_names_are_refused(world: World, table: table_pb2.Table) -> None:
    for wanted in (name(relation="orders"), name("sales", "eu")):
        request = directory_pb2.ResolveTableRequest(name=wanted)
        with pytest.raises(InvalidArgumentError):
            world.call(f"{SERVICE}/ResolveTable", request)
    both = directory_pb2.ResolveRelationsRequest(names=[name("a")], below=name("a"))
    for request2 in (both, directory_pb2.ResolveRelationsRequest()):
        with pytest.raises(InvalidArgumentError, match="names or below"):
            world.call(f"{SERVICE}/ResolveRelations", request2)


def test_one_bad_name_does_not_fail_the_others(world: World, table: table_pb2.Table) -> None:
    orders = name("sales", "eu", relation="orders")
    odd = [
        name(relation="orders"),
        name("sales", "eu"),
        name("sales", "eu", relation="x" * 300),
        name("sales", "\x00", relation="orders"),
        name("sales", "eu", relation="orders", catalog=""),
    ]
    request = directory_pb2.ResolveRelationsRequest(names=[*odd, orders])
    answers = world.call(f"{SERVICE}/ResolveRelations", request).relations
    assert [answer.name for answer in answers] == [*odd, orders]
    assert [answer.HasField("resource_id") for answer in answers] == [False] * 5 + [True]
    assert answers[-1].resource_id == table.resource_id
