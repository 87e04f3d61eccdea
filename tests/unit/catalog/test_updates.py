"""Updates: masks, immutable fields, identities, and what a refusal says."""

from collections.abc import Callable, Sequence
from functools import partial

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from tests.support.catalog import World

from ai.floedb.floecat.account import account_pb2
from ai.floedb.floecat.catalog import catalog_pb2, namespace_pb2, table_pb2, view_pb2
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import ResourceId
from floecat.catalog.mutations import PreconditionFailedError
from floecat.catalog.records import CatalogStores
from floecat.errors import InvalidArgumentError, NotFoundError, PermissionDeniedError
from floecat.service.calls import Call
from floecat.service.principals import Principal
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.port import Key, Record


def table_of(world: World) -> table_pb2.Table:
    namespace = world.namespace(world.catalog(), "sales")
    return world.table(
        namespace,
        "orders",
        description="all orders",
        properties={"a": "1"},
        upstream=table_pb2.UpstreamRef(uri="s3://w", namespace_path=["prod"]),
        current_snapshot_id=5,
    )


def update(
    world: World, table: table_pb2.Table, mask: list[str], **spec: object
) -> table_pb2.Table:
    request = table_pb2.UpdateTableRequest(
        table_id=table.resource_id,
        spec=table_pb2.TableSpec(**spec),  # type: ignore[arg-type]
        update_mask=FieldMask(paths=mask),
    )
    updated: table_pb2.Table = world.call("TableService/UpdateTable", request).table
    return updated


def test_only_named_fields_change(world: World) -> None:
    table = table_of(world)
    changed = update(world, table, ["description"], description="x", display_name="ignored")
    assert (changed.description, changed.display_name) == ("x", "orders")
    assert changed.properties == {"a": "1"}


def test_an_empty_mask_names_every_field_that_is_set(world: World) -> None:
    changed = update(world, table_of(world), [], description="x", properties={"b": "2"})
    assert (changed.description, dict(changed.properties)) == ("x", {"b": "2"})
    assert changed.upstream.uri == "s3://w"


def test_a_named_field_that_is_unset_is_cleared(world: World) -> None:
    changed = update(world, table_of(world), ["description", "properties", "current_snapshot_id"])
    assert changed.description == ""
    assert not changed.properties
    assert not changed.HasField("current_snapshot_id")


def test_a_mask_reaches_into_a_message(world: World) -> None:
    upstream = table_pb2.UpstreamRef(uri="s3://new")
    changed = update(world, table_of(world), ["upstream.uri"], upstream=upstream)
    assert changed.upstream.uri == "s3://new"
    assert changed.upstream.namespace_path == ["prod"]


@pytest.mark.parametrize("path", ["colour", "upstream.colour", "display_name.x", "created_at"])
def test_an_unknown_path_is_refused(world: World, path: str) -> None:
    with pytest.raises(InvalidArgumentError, match="update_mask"):
        update(world, table_of(world), [path])


def test_an_immutable_field_is_refused_by_name_but_may_be_repeated(world: World) -> None:
    table = table_of(world)
    other = world.catalog("other")
    with pytest.raises(InvalidArgumentError, match="catalog_id can't be changed"):
        update(world, table, ["catalog_id"], catalog_id=other.resource_id)
    same = ResourceId(account_id=world.account_id, id=table.catalog_id.id)
    assert update(world, table, ["catalog_id"], catalog_id=same).catalog_id == table.catalog_id


def test_versions_rise_and_etags_follow_the_content(world: World) -> None:
    table = table_of(world)
    request = table_pb2.UpdateTableRequest(
        table_id=table.resource_id, spec=table_pb2.TableSpec(description="x")
    )
    first = world.call("TableService/UpdateTable", request).meta
    second = world.call("TableService/UpdateTable", request).meta
    assert (first.version, second.version) == (2, 3)
    assert first.etag == second.etag
    assert first.created_at == second.created_at


@pytest.mark.parametrize(
    "mistake",
    [
        ResourceId(),
        ResourceId(account_id="A"),
        ResourceId(id="x"),
        ResourceId(account_id="A", id="x", kind=common_pb2.RK_VIEW),
    ],
    ids=["nothing", "no id", "no account", "wrong kind"],
)
def test_incomplete_ids_are_refused(world: World, mistake: ResourceId) -> None:
    with pytest.raises(InvalidArgumentError) as refusal:
        world.call("TableService/GetTable", table_pb2.GetTableRequest(table_id=mistake))
    assert "table_id" in str(refusal.value)


def test_a_wrong_kind_is_told_with_both_names(world: World) -> None:
    wrong = ResourceId(account_id=world.account_id, id="x", kind=common_pb2.RK_VIEW)
    with pytest.raises(InvalidArgumentError, match=r"RK_TABLE.*RK_VIEW"):
        world.call("TableService/GetTable", table_pb2.GetTableRequest(table_id=wrong))


def test_a_foreign_id_reads_like_none_at_all(world: World) -> None:
    table = table_of(world)
    stranger = World(world.stores, account_id="somebody else")
    own = ResourceId(account_id="somebody else", id=table.resource_id.id)
    texts = set()
    for resource_id in (table.resource_id, own):
        request = table_pb2.GetTableRequest(table_id=resource_id)
        with pytest.raises(NotFoundError) as refusal:
            stranger.call("TableService/GetTable", request)
        texts.add(str(refusal.value))
    assert len(texts) == 1


def test_a_namespace_of_another_catalog_is_refused(world: World) -> None:
    namespace = world.namespace(world.catalog(), "sales")
    other = world.catalog("other")
    spec = table_pb2.TableSpec(
        namespace_id=namespace.resource_id, catalog_id=other.resource_id, display_name="t"
    )
    with pytest.raises(InvalidArgumentError, match="another catalog"):
        world.call("TableService/CreateTable", table_pb2.CreateTableRequest(spec=spec))


@pytest.mark.parametrize(
    "definitions",
    [
        [],
        [("spark", " ")],
        [("", "select 1")],
        [("spark", "select 1"), ("spark", "select 2")],
    ],
    ids=["none", "no text", "no dialect", "twice"],
)
def test_a_view_says_what_it_is(world: World, definitions: list[tuple[str, str]]) -> None:
    namespace = world.namespace(world.catalog(), "sales")
    sql = [view_pb2.ViewSqlDefinition(dialect=d, sql=s) for d, s in definitions]
    spec = view_pb2.ViewSpec(
        namespace_id=namespace.resource_id, display_name="v", sql_definitions=sql
    )
    with pytest.raises(InvalidArgumentError):
        world.call("ViewService/CreateView", view_pb2.CreateViewRequest(spec=spec))


def test_a_namespace_cannot_move_below_itself(world: World) -> None:
    catalog = world.catalog()
    a = world.namespace(catalog, "a")
    world.namespace(catalog, "b", "a")
    for path in (["a"], ["a", "b"]):
        request = namespace_pb2.UpdateNamespaceRequest(
            namespace_id=a.resource_id, spec=namespace_pb2.NamespaceSpec(path=path)
        )
        with pytest.raises(InvalidArgumentError, match="below itself"):
            world.call("NamespaceService/UpdateNamespace", request)


def test_only_administrators_reach_other_accounts(world: World) -> None:
    reader = Principal(world.account_id, "reader", frozenset(["reader"]))
    call = Call("x", "test", {}, reader, None)  # type: ignore[arg-type]
    accounts = world.services["AccountService"]
    spec = account_pb2.AccountSpec(display_name="theirs")
    create = account_pb2.CreateAccountRequest(spec=spec)
    theirs = world.call("AccountService/CreateAccount", create).account.resource_id
    with pytest.raises(PermissionDeniedError):
        accounts.CreateAccount(create, call)  # type: ignore[attr-defined]
    with pytest.raises(NotFoundError):
        accounts.GetAccount(account_pb2.GetAccountRequest(account_id=theirs), call)  # type: ignore[attr-defined]
    listed = accounts.ListAccounts(account_pb2.ListAccountsRequest(), call)  # type: ignore[attr-defined]
    assert [account.display_name for account in listed.accounts] == ["acme"]


def test_catalog_names_are_unique_in_an_account_only(world: World) -> None:
    world.catalog("lake")
    spec = account_pb2.AccountSpec(display_name="other")
    request = account_pb2.CreateAccountRequest(spec=spec)
    other = world.call("AccountService/CreateAccount", request).account.resource_id.id
    World(world.stores, account_id=other).catalog("lake")
    listed = world.call("CatalogService/ListCatalogs", catalog_pb2.ListCatalogsRequest())
    assert [catalog.display_name for catalog in listed.catalogs] == ["lake"]


class InterruptedStore(MemoryKeyValueStore):
    """Calls back once, before names are looked at."""

    before_names: Callable[[], object] | None = None

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        hook, self.before_names = self.before_names, None
        if hook:
            hook()
        return super().get_many(keys)


@pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "unguarded"])
def test_a_name_that_the_same_update_took_meanwhile(guarded: bool) -> None:
    """It is taken by the resource itself, which is no reason to refuse it."""
    kv = InterruptedStore()
    world = World(CatalogStores(kv, MemoryBlobStore()))
    request = catalog_pb2.UpdateCatalogRequest(
        catalog_id=world.catalog().resource_id, spec=catalog_pb2.CatalogSpec(display_name="new")
    )
    if guarded:
        request.precondition.expected_version = 1
    rename = partial(world.call, "CatalogService/UpdateCatalog", request)
    kv.before_names = rename
    if guarded:
        with pytest.raises(PreconditionFailedError) as refusal:
            rename()
        assert refusal.value.current.version == 2
    else:
        assert rename().meta.version == 3
    assert world.findings() == []
