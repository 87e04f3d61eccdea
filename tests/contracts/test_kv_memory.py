"""The memory backend, and its torn reads."""

import pytest
from tests.contracts.kv_contract import KeyValueStoreContract
from tests.contracts.kv_records import OpenStore, key
from tests.support.clock import FakeClock

from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.port import ABSENT, ANY, Delete, Put


class TestMemory(KeyValueStoreContract):
    @pytest.fixture
    def open_store(self, clock: FakeClock) -> OpenStore:
        store = MemoryKeyValueStore(clock=clock)
        return lambda: store


def test_a_torn_scan_sees_what_was_committed_meanwhile() -> None:
    """A move from `z` to `a` behind the reader's back: neither place shows it."""

    def move_once() -> None:
        if store.get(key("z")) is not None:
            store.commit([Delete(key("z"), ANY), Put(key("a"), b"moved", ABSENT)])

    store = MemoryKeyValueStore(between_reads=move_once)
    store.commit([Put(key("m"), b"", ABSENT), Put(key("z"), b"moved", ABSENT)])
    assert [record.key.sort for record in store.scan("p", limit=9)] == ["m"]
    assert store.get(key("a")) is not None


def test_torn_reads_of_several_keys_are_no_snapshot() -> None:
    def raise_both() -> None:
        store.commit([Put(key("a"), b"2", ANY), Put(key("b"), b"2", ANY)])

    store = MemoryKeyValueStore(between_reads=raise_both)
    store.commit([Put(key("a"), b"1", ABSENT), Put(key("b"), b"1", ABSENT)])
    values = [record and record.value for record in store.get_many([key("a"), key("b")])]
    assert values == [b"1", b"2"]
