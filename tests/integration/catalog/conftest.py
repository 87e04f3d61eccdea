"""The catalog on every backend that runs here."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.catalog import World
from tests.support.clock import FakeClock
from tests.support.postgres import Postgres

from floecat.catalog.records import CatalogStores
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.port import KeyValueStore
from floecat.storage.kv.postgres import PostgresKeyValueStore
from floecat.storage.kv.sqlite import SqliteKeyValueStore, SqliteOptions

BACKENDS = ["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=BACKENDS)
def kv(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[KeyValueStore]:
    store: KeyValueStore
    match request.param:
        case "memory":
            store = MemoryKeyValueStore(clock=clock)
        case "sqlite":
            options = SqliteOptions(synchronous="OFF")  # durability has tests of its own
            store = SqliteKeyValueStore(tmp_path / "floecat.db", options=options, clock=clock)
        case _:
            server: Postgres = request.getfixturevalue("postgres")
            store = PostgresKeyValueStore(server.new_schema(), clock=clock)
    yield store
    store.close()


@pytest.fixture
def world(kv: KeyValueStore, clock: FakeClock) -> World:
    return World(CatalogStores(kv, MemoryBlobStore(clock=clock), clock))


@pytest.fixture
def memory_world(clock: FakeClock) -> World:
    return World(
        CatalogStores(MemoryKeyValueStore(clock=clock), MemoryBlobStore(clock=clock), clock)
    )
