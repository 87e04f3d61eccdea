"""A large account: everything still works, and a page costs the same however much there is.

A tenth of the amounts here; the whole (10,000 namespaces, 100,000 tables) with `make soak`.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.catalog import World
from tests.support.service import connected, running_service

from ai.floedb.floecat.catalog import catalog_pb2, directory_pb2, namespace_pb2, table_pb2
from ai.floedb.floecat.common.common_pb2 import NameRef, PageRequest, ResourceId
from floecat.catalog.records import CatalogStores
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.kv.port import ANY, Key, Put
from floecat.storage.kv.sqlite import SqliteKeyValueStore, SqliteOptions
from floecat.storage.open import SqliteKeyValueConfig, open_key_value_store

pytestmark = pytest.mark.slow

SCALE = 10 if os.environ.get("SOAK") else 1
NAMESPACES = 1_000 * SCALE
TABLES = 10_000 * SCALE
SMALL = 100
LISTING_RATIO = 1.3


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    path = tmp_path_factory.mktemp("scale") / "floecat.db"
    kv = SqliteKeyValueStore(path, options=SqliteOptions(synchronous="OFF"))
    yield World(CatalogStores(kv, MemoryBlobStore()))
    kv.close()


def pages(world: World, namespace_id: ResourceId) -> Iterator[table_pb2.ListTablesResponse]:
    request = table_pb2.ListTablesRequest(
        namespace_id=namespace_id, page=PageRequest(page_size=1000)
    )
    while True:
        listed = world.call("TableService/ListTables", request)
        yield listed
        request.page.page_token = listed.page.next_page_token
        if not request.page.page_token:
            return


def ratio_of_best(
    large: Callable[[], object],
    small: Callable[[], object],
    between: Callable[[], object] = lambda: None,
) -> float:
    """How much longer the one takes: the best of many turns each, so that noise drops out."""
    best = [float("inf"), float("inf")]
    for _ in range(60):
        for place, work in enumerate((large, small)):
            between()
            started = time.perf_counter()
            work()
            best[place] = min(best[place], time.perf_counter() - started)
    return best[0] / best[1]


def test_a_large_account(world: World) -> None:
    catalog = world.catalog()
    for number in range(NAMESPACES):
        world.namespace(catalog, f"n{number:06}")
    big = world.namespace(catalog, "big")
    small = world.namespace(catalog, "small")
    for number in range(TABLES):
        world.table(big, f"t{number:06}")
    for number in range(SMALL):
        world.table(small, f"t{number:06}")

    names = [t.display_name for page in pages(world, big.resource_id) for t in page.tables]
    assert names == [f"t{number:06}" for number in range(TABLES)]

    listing = namespace_pb2.ListNamespacesRequest(
        catalog_id=catalog.resource_id, recursive=True, page=PageRequest(page_size=1000)
    )
    seen = 0
    while True:
        listed = world.call("NamespaceService/ListNamespaces", listing)
        seen += len(listed.namespaces)
        listing.page.page_token = listed.page.next_page_token
        if not listing.page.page_token:
            break
    assert seen == NAMESPACES + 2

    def page_of(namespace: namespace_pb2.Namespace, token: str = "") -> Callable[[], object]:
        page = PageRequest(page_size=SMALL - 1, page_token=token)
        request = table_pb2.ListTablesRequest(namespace_id=namespace.resource_id, page=page)
        return lambda: world.call("TableService/ListTables", request)

    first = page_of(big)()
    middle = list(pages(world, big.resource_id))[4].page.next_page_token
    assert first
    assert ratio_of_best(page_of(big), page_of(small)) <= LISTING_RATIO
    assert ratio_of_best(page_of(big, middle), page_of(small)) <= LISTING_RATIO

    name = NameRef(catalog="main", path=["big"], name=f"t{TABLES // 2:06}")
    resolve = directory_pb2.ResolveTableRequest(name=name)
    table_id = world.call("DirectoryService/ResolveTable", resolve).resource_id
    rename = table_pb2.UpdateTableRequest(
        table_id=table_id, spec=table_pb2.TableSpec(display_name="renamed")
    )
    assert world.call("TableService/UpdateTable", rename).table.display_name == "renamed"

    delete = catalog_pb2.DeleteCatalogRequest(catalog_id=catalog.resource_id, cascade=True)
    started = time.perf_counter()
    world.call("CatalogService/DeleteCatalog", delete)
    assert time.perf_counter() - started < 1
    world.sweep()
    left = {record.key.partition.split("/")[0] for record in world.stores.kv.dump()}
    assert left == {"accounts", "resource", "guard", "secrets"}
    assert world.findings() == []


class Listings:
    """A SQLite file with a namespace of few tables and one of many; pages of each."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "data" / "floecat.db"
        self.path.parent.mkdir()
        open_key_value_store(SqliteKeyValueConfig(self.path)).close()  # knows its schema version
        key = self.path.with_name("secrets.key")
        key.write_bytes(bytes(32))  # the one that a world has
        key.chmod(0o600)
        options = SqliteOptions(synchronous="OFF", kept_bytes=0)
        self.kv = SqliteKeyValueStore(self.path, options=options)
        self.world = World(CatalogStores(self.kv, MemoryBlobStore()))
        catalog = self.world.catalog()
        self.small, self.big = (
            self._listing(catalog, name, tables)
            for name, tables in (("small", SMALL), ("big", TABLES))
        )
        self.middle = self._in_the_middle(self.big)

    def _listing(
        self, catalog: catalog_pb2.Catalog, name: str, tables: int
    ) -> table_pb2.ListTablesRequest:
        namespace = self.world.namespace(catalog, name)
        for number in range(tables):
            self.world.table(namespace, f"t{number:06}")
        return table_pb2.ListTablesRequest(
            namespace_id=namespace.resource_id, page=PageRequest(page_size=SMALL - 1)
        )

    def _in_the_middle(self, first: table_pb2.ListTablesRequest) -> table_pb2.ListTablesRequest:
        """The page that lies behind half of the tables."""
        request = table_pb2.ListTablesRequest()
        request.CopyFrom(first)
        request.page.page_size = 500
        for _ in range(TABLES // 500 // 2):
            listed = self.world.call("TableService/ListTables", request)
            request.page.page_token = listed.page.next_page_token
        assert listed.tables[-1].display_name == f"t{TABLES // 2 - 1:06}"
        request.page.page_size = first.page.page_size
        return request

    def disturb(self) -> None:
        """Write something, so that no page can come from a service's memory."""
        self.kv.commit([Put(Key("disturbance", "x"), b"", ANY)])


@pytest.fixture(scope="module")
def listings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listings]:
    made = Listings(tmp_path_factory.mktemp("listings"))
    yield made
    made.kv.close()


@pytest.mark.parametrize("where", ["big", "middle"])
def test_a_page_costs_the_same_without_authorisation(listings: Listings, where: str) -> None:
    """Straight to the handler, on a store that keeps nothing of what it read."""

    def page(request: table_pb2.ListTablesRequest) -> Callable[[], object]:
        return lambda: listings.world.call("TableService/ListTables", request)

    large: table_pb2.ListTablesRequest = getattr(listings, where)
    assert ratio_of_best(page(large), page(listings.small)) <= LISTING_RATIO


@pytest.mark.parametrize("where", ["big", "middle"])
@pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])
def test_a_page_costs_the_same_with_authorisation(
    listings: Listings, warm: bool, where: str
) -> None:
    """The same over gRPC, where every call is authenticated and authorised."""
    folder = listings.path.parent.parent
    with running_service(folder) as service, connected(service, account="acme") as clients:

        def page(request: table_pb2.ListTablesRequest) -> Callable[[], object]:
            return lambda: clients.tables.ListTables(request)

        large: table_pb2.ListTablesRequest = getattr(listings, where)
        assert len(clients.tables.ListTables(large).tables) == SMALL - 1
        between = (lambda: None) if warm else listings.disturb
        ratio = ratio_of_best(page(large), page(listings.small), between)
    assert ratio <= LISTING_RATIO
