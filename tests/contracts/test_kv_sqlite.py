"""The SQLite backend. Durability has tests of its own, so here nothing is synced."""

from pathlib import Path

import pytest
from tests.contracts.kv_contract import KeyValueStoreContract
from tests.contracts.kv_records import OpenStore
from tests.support.clock import FakeClock

from floecat.storage.kv.sqlite import SqliteKeyValueStore
from floecat.storage.kv.sqlite.connections import SqliteOptions


class TestSqlite(KeyValueStoreContract):
    @pytest.fixture
    def open_store(self, clock: FakeClock, tmp_path: Path) -> OpenStore:
        options = SqliteOptions(synchronous="OFF")
        path = tmp_path / "store.db"
        return lambda: SqliteKeyValueStore(path, options=options, clock=clock)
