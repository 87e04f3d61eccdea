"""Requests and pages of any size: bounded, quick to refuse, and never more than an answer holds."""

import base64
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.catalog import World

from ai.floedb.floecat.account import account_pb2
from ai.floedb.floecat.catalog import constraints_pb2, directory_pb2, namespace_pb2, table_pb2
from ai.floedb.floecat.common.common_pb2 import NameRef, PageRequest
from floecat.catalog.paging import PageCursor
from floecat.catalog.records import CatalogStores
from floecat.errors import InvalidArgumentError
from floecat.service.server import MAX_MESSAGE_BYTES
from floecat.storage.blobs.filesystem import FilesystemBlobStore
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.kv.memory import MemoryKeyValueStore

LONG = "😀" * 255


@pytest.fixture
def world() -> World:
    return World(CatalogStores(MemoryKeyValueStore(), MemoryBlobStore()))


def pages(ask: Callable[[PageRequest], Any], size: int = 1000) -> list[Any]:
    """Every page, each small enough to be sent."""
    found, token = [], ""
    while True:
        answer = ask(PageRequest(page_size=size, page_token=token))
        assert answer.ByteSize() < MAX_MESSAGE_BYTES
        found.append(answer)
        token = answer.page.next_page_token
        if not token:
            return found


def test_many_constraints_are_refused_at_once(world: World) -> None:
    snapshot = world.snapshot(world.table(world.namespace(world.catalog(), "n"), "t"), 1)
    bundle = constraints_pb2.TableConstraints(table_id=snapshot.table_id, snapshot_id=1)
    for number in range(20_000):
        bundle.constraints.add(name=f"c{number}", type=constraints_pb2.CT_CHECK)
    request = constraints_pb2.PutTableConstraintsRequest(constraints=bundle)
    started = time.perf_counter()
    with pytest.raises(InvalidArgumentError, match="at most 10000 constraints"):
        world.call("TableConstraintsService/PutTableConstraints", request)
    assert time.perf_counter() - started < 2
    del request.constraints.constraints[9_000:]
    started = time.perf_counter()
    world.call("TableConstraintsService/PutTableConstraints", request)
    assert time.perf_counter() - started < 5


def test_accounts_with_long_descriptions(world: World) -> None:
    for number in range(4):
        spec = account_pb2.AccountSpec(display_name=f"a{number}", description="x" * 2_000_000)
        world.call("AccountService/CreateAccount", account_pb2.CreateAccountRequest(spec=spec))
    found = pages(
        lambda page: world.call(
            "AccountService/ListAccounts", account_pb2.ListAccountsRequest(page=page)
        )
    )
    names = [account.display_name for answer in found for account in answer.accounts]
    assert sorted(names) == ["a0", "a1", "a2", "a3", "acme"]


def test_batches_of_long_names(world: World) -> None:
    catalog = world.catalog()
    namespace = world.namespace(catalog, LONG)
    for depth in range(12):
        namespace = world.namespace(catalog, LONG, *[LONG] * (depth + 1))
    tables = [world.table(namespace, f"{number:03}{'😀' * 250}") for number in range(350)]
    ids = [table.resource_id for table in tables]
    looked_up = pages(
        lambda page: world.call(
            "DirectoryService/LookupResources",
            directory_pb2.LookupResourcesRequest(resource_ids=ids, page=page),
        )
    )
    assert len(looked_up) > 1
    assert [r.resource_id for answer in looked_up for r in answer.resources] == ids
    below = pages(
        lambda page: world.call(
            "DirectoryService/ResolveRelations",
            directory_pb2.ResolveRelationsRequest(below=NameRef(catalog="main"), page=page),
        )
    )
    assert len(below) > 1
    assert [r.resource_id for answer in below for r in answer.relations] == ids


def test_a_page_of_large_records_reads_what_it_shows(tmp_path: Any) -> None:
    world = World(CatalogStores(MemoryKeyValueStore(), FilesystemBlobStore(tmp_path)))
    namespace = world.namespace(world.catalog(), "n")
    for number in range(30):
        world.table(namespace, f"t{number:02}", schema_json="x" * 2_500_000)
    request = table_pb2.ListTablesRequest(
        namespace_id=namespace.resource_id, page=PageRequest(page_size=1000)
    )
    tracemalloc.start()
    answer = world.call("TableService/ListTables", request)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(answer.tables) == 1
    assert peak < 30_000_000
    found = pages(
        lambda page: world.call(
            "TableService/ListTables",
            table_pb2.ListTablesRequest(namespace_id=namespace.resource_id, page=page),
        )
    )
    names = [table.display_name for answer in found for table in answer.tables]
    assert names == [f"t{number:02}" for number in range(30)]


@pytest.mark.parametrize(
    "payload", ['[["x", 5]]', "[[1, 2]]", "[" * 100_000, "[]", "7", "null", '[["else", "where"]]']
)
def test_forged_tokens_of_a_walk(world: World, payload: str) -> None:
    catalog = world.catalog()
    world.namespace(catalog, "n")
    request = namespace_pb2.ListNamespacesRequest(
        catalog_id=catalog.resource_id, recursive=True, page=PageRequest(page_size=1)
    )
    world.namespace(catalog, "m")
    token = world.call("NamespaceService/ListNamespaces", request).page.next_page_token
    request.page.page_token = forged(token, payload)
    with pytest.raises(InvalidArgumentError):
        world.call("NamespaceService/ListNamespaces", request)


def forged(token: str, payload: str) -> str:
    """A token with another payload, its check made right by trying the scopes that there are."""
    raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    scopes = SCOPES.copy()
    for scope in scopes:
        if PageCursor(1, None, scope).token(raw[8:].decode()) == token:
            return PageCursor(1, None, scope).token(payload)
    raise AssertionError("the scope of the token isn't known")


SCOPES: list[str] = []


@pytest.fixture(autouse=True)
def known_scopes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remember the scope of every token that is made, as somebody who reads our code could."""
    make = PageCursor.token

    def token(self: PageCursor, last: str) -> str:
        SCOPES.append(self.scope)
        return make(self, last)

    SCOPES.clear()
    monkeypatch.setattr(PageCursor, "token", token)


def test_a_forged_offset(world: World) -> None:
    table = world.table(world.namespace(world.catalog(), "n"), "t")
    request = directory_pb2.LookupResourcesRequest(
        resource_ids=[table.resource_id] * 3, page=PageRequest(page_size=1)
    )
    token = world.call("DirectoryService/LookupResources", request).page.next_page_token
    request.page.page_token = forged(token, "9" * 5000)
    with pytest.raises(InvalidArgumentError):
        world.call("DirectoryService/LookupResources", request)
