"""A control plane in memory, to capture with."""

import pytest
from tests.support.capturing import Capturing
from tests.support.catalog import World
from tests.support.clock import FakeClock
from tests.support.reconciling import Reconciling

from floecat.catalog.records import CatalogStores
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.kv.memory import MemoryKeyValueStore


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def capturing(clock: FakeClock) -> Capturing:
    kv = MemoryKeyValueStore(clock=clock)
    world = World(CatalogStores(kv, MemoryBlobStore(clock=clock), clock))
    return Capturing(Reconciling(world), sidecars=True)
