"""Every StatsStore keeps the same promises."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contracts.stats_contract import StatsStoreContract
from tests.support.stats_store import DictStatsStore

from floecat.catalog.records import CatalogStores
from floecat.errors import InvalidSettingsError
from floecat.statistics.opening import open_stats_store
from floecat.statistics.store import StatsStore
from floecat.storage.blobs.filesystem import FilesystemBlobStore
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.sqlite import SqliteKeyValueStore


class TestDefaultInMemory(StatsStoreContract):
    @pytest.fixture
    def store(self) -> StatsStore:
        return open_stats_store("default", CatalogStores(MemoryKeyValueStore(), MemoryBlobStore()))


class TestDefaultOnFiles(StatsStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[StatsStore]:
        kv = SqliteKeyValueStore(tmp_path / "floecat.db")
        yield open_stats_store("default", CatalogStores(kv, FilesystemBlobStore(tmp_path / "b")))
        kv.close()


class TestElsewhere(StatsStoreContract):
    @pytest.fixture
    def store(self) -> StatsStore:
        return DictStatsStore()


def test_a_store_that_nobody_offers_is_refused() -> None:
    stores = CatalogStores(MemoryKeyValueStore(), MemoryBlobStore())
    with pytest.raises(InvalidSettingsError, match="default"):
        open_stats_store("none", stores)
