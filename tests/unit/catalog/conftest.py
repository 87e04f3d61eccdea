"""A catalog in memory."""

import pytest
from tests.support.catalog import World
from tests.support.clock import FakeClock

from floecat.catalog.records import CatalogStores
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.kv.memory import MemoryKeyValueStore


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def world(clock: FakeClock) -> World:
    kv = MemoryKeyValueStore(clock=clock)
    return World(CatalogStores(kv, MemoryBlobStore(clock=clock), clock))
