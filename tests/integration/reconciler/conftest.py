"""A control plane on stores of every backend that a test runs against."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.catalog import World
from tests.support.clock import FakeClock
from tests.support.reconciling import Reconciling

from floecat.catalog.records import CatalogStores
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.port import KeyValueStore
from floecat.storage.kv.sqlite import SqliteKeyValueStore


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite"])
def kv(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[KeyValueStore]:
    store: KeyValueStore = (
        MemoryKeyValueStore(clock=clock)
        if request.param == "memory"
        else SqliteKeyValueStore(tmp_path / "floecat.db", clock=clock)
    )
    yield store
    store.close()


@pytest.fixture
def world(kv: KeyValueStore, clock: FakeClock) -> World:
    return World(CatalogStores(kv, MemoryBlobStore(clock=clock), clock))


@pytest.fixture
def plane(world: World) -> Reconciling:
    return Reconciling(world)
