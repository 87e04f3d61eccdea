"""A store's memory of its own shape: new, old, interrupted, and from the future."""

import pytest
from tests.support.threads import together

from floecat.errors import ConflictError, DataLossError, IncompatibleStoreError
from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.port import ABSENT, ANY, Delete, Key, KeyValueStore, Put
from floecat.storage.kv.schema import (
    SCHEMA_KEY,
    Migrations,
    StoreSchema,
    open_schema,
    raise_incarnation,
)

V1 = Migrations("Floecat 1")


def rename_colours(store: KeyValueStore) -> None:
    """An example of a step: moves each record on its own, so that any of them may be the last."""
    for record in list(store.scan("colour", limit=100)):
        moved = Put(Key("color", record.key.sort), record.value, ABSENT)
        try:
            store.commit([moved, Delete(record.key, record.version)])
        except ConflictError:
            continue  # another process moved it


def mark(store: KeyValueStore) -> None:
    store.commit([Put(Key("marks", "3"), b"", ANY)])


V3 = Migrations("Floecat 3", [rename_colours, mark])


def test_a_new_store_gets_the_newest_version() -> None:
    store = MemoryKeyValueStore()
    assert open_schema(store, V3) == StoreSchema(3, "Floecat 3", 1)
    assert open_schema(store, V3) == StoreSchema(3, "Floecat 3", 1)
    assert store.get(Key("marks", "3")) is None


def test_a_newer_store_is_refused_with_what_to_do() -> None:
    store = MemoryKeyValueStore()
    open_schema(store, V3)
    with pytest.raises(IncompatibleStoreError) as caught:
        open_schema(store, V1)
    for told in ("version 3", "made by Floecat 3", "up to version 1", "Run Floecat 3 or newer"):
        assert told in str(caught.value)


def test_an_older_store_is_brought_up_to_date() -> None:
    store = MemoryKeyValueStore()
    open_schema(store, V1)
    store.commit([Put(Key("colour", name), name.encode(), ABSENT) for name in ("red", "blue")])
    assert open_schema(store, V3) == StoreSchema(3, "Floecat 3", 1)
    assert [record.key.sort for record in store.scan("color", limit=9)] == ["blue", "red"]
    assert list(store.scan("colour", limit=9)) == []
    assert store.get(Key("marks", "3")) is not None


def test_an_interrupted_migration_goes_on_where_it_was() -> None:
    store = MemoryKeyValueStore()
    open_schema(store, V1)
    store.commit([Put(Key("colour", f"{n}"), b"", ABSENT) for n in range(5)])
    runs = []

    def dies_halfway(store: KeyValueStore) -> None:
        runs.append("dying")
        first = store.scan("colour", limit=1)[0]
        store.commit([Put(Key("color", first.key.sort), b"", ABSENT), Delete(first.key, ANY)])
        raise KeyboardInterrupt

    def counted(store: KeyValueStore) -> None:
        runs.append("counted")
        mark(store)

    with pytest.raises(KeyboardInterrupt):
        open_schema(store, Migrations("Floecat 3", [dies_halfway, counted]))
    assert open_schema(store, Migrations("Floecat 3", [rename_colours, counted])).version == 3
    assert runs == ["dying", "counted"]
    assert len(store.scan("color", limit=9)) == 5


def test_processes_that_migrate_at_once_agree() -> None:
    store = MemoryKeyValueStore()
    open_schema(store, V1)
    store.commit([Put(Key("colour", f"{n}"), b"", ABSENT) for n in range(50)])
    outcomes = together([lambda: open_schema(store, V3)] * 6)
    assert outcomes == [StoreSchema(3, "Floecat 3", 1)] * 6
    assert len(store.scan("color", limit=99)) == 50


def test_the_incarnation_only_rises() -> None:
    store = MemoryKeyValueStore()
    open_schema(store, V1)
    numbers = together([lambda: raise_incarnation(store)] * 8)
    assert sorted(numbers, key=str) == [2, 3, 4, 5, 6, 7, 8, 9]
    assert open_schema(store, V1).incarnation == 9
    assert open_schema(store, V3).incarnation == 9


def test_a_store_that_was_never_opened_has_no_incarnation_to_raise() -> None:
    with pytest.raises(IncompatibleStoreError):
        raise_incarnation(MemoryKeyValueStore())


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"{}",
        b"[]",
        b"7",
        b"\xff",
        b'{"version": 1}',
        b'{"version": "99", "made_by": "x"}',
        b'{"version": 0, "made_by": "x"}',
        b'{"version": -5, "made_by": "x"}',
        b'{"version": true, "made_by": "x"}',
        b'{"version": 1, "made_by": "x", "incarnation": null}',
    ],
)
def test_a_damaged_schema_record_is_said_to_be_damaged(damaged: bytes) -> None:
    store = MemoryKeyValueStore()
    store.commit([Put(SCHEMA_KEY, damaged, ABSENT)])
    with pytest.raises(DataLossError):
        open_schema(store, V1)
