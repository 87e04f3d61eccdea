"""Collecting garbage: what a record names stays, whatever happens between two looks."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

import pytest
from tests.support.catalog import World
from tests.support.clock import FakeClock

from ai.floedb.floecat.catalog.snapshot_pb2 import (
    CreateSnapshotRequest,
    DeleteSnapshotRequest,
    SnapshotSpec,
)
from ai.floedb.floecat.catalog.table_pb2 import Table
from ai.floedb.floecat.common.common_pb2 import IdempotencyKey
from floecat.catalog import keys
from floecat.catalog.garbage import DEFAULT_GRACE, GarbageCollector
from floecat.catalog.records import CatalogStores
from floecat.catalog.references import references_of
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.port import ABSENT, Key, Operation, Put, Record

LARGE = bytes(100_000)


class HookedStore(MemoryKeyValueStore):
    """Calls back once, before its next commit or before the `n`-th dump from now."""

    before_commit: Callable[[], None] | None = None
    before_dump: tuple[int, Callable[[], None]] | None = None

    def commit(self, operations: Sequence[Operation]) -> None:
        hook, self.before_commit = self.before_commit, None
        if hook:
            hook()
        super().commit(operations)

    def dump(self, after: Key | None = None) -> Iterator[Record]:
        if self.before_dump:
            left, hook = self.before_dump
            self.before_dump = (left - 1, hook) if left > 1 else None
            if left == 1:
                hook()
        return super().dump(after)


@pytest.fixture
def store(clock: FakeClock) -> HookedStore:
    return HookedStore(clock=clock)


@pytest.fixture
def world(store: HookedStore, clock: FakeClock) -> World:
    return World(CatalogStores(store, MemoryBlobStore(clock=clock), clock))


def table(world: World) -> Table:
    return world.table(world.namespace(world.catalog(), "eu"), "orders")


def forget(world: World, of: Table, snapshot_id: int) -> None:
    request = DeleteSnapshotRequest(table_id=of.resource_id, snapshot_id=snapshot_id)
    world.call("SnapshotService/DeleteSnapshot", request)


def blobs(world: World) -> set[str]:
    return {blob.uri for blob in world.stores.blobs.list(limit=1000)}


def named(world: World) -> set[str]:
    return {r.uri for record in world.stores.kv.dump() for r in references_of(record)}


def test_what_records_name_is_kept_for_ever(world: World, clock: FakeClock) -> None:
    orders = table(world)
    world.snapshot(orders, 1, attachments={"big": LARGE})
    world.table(world.namespace(world.catalog("other"), "x"), "wide", schema_json="x" * 100_000)
    kept = blobs(world)
    assert len(kept) == 2
    for _ in range(3):
        assert GarbageCollector(world.stores).collect().deleted == 0
        clock.now += 2 * DEFAULT_GRACE
    assert blobs(world) == kept == named(world)


def test_a_blob_goes_once_two_passes_found_it_unnamed(world: World, clock: FakeClock) -> None:
    orders = table(world)
    world.snapshot(orders, 1, attachments={"big": LARGE})
    forget(world, orders, 1)
    first = GarbageCollector(world.stores).collect()
    assert (first.deleted, first.waiting) == (0, 1)
    clock.now += DEFAULT_GRACE - timedelta(seconds=1)
    assert GarbageCollector(world.stores).collect().deleted == 0
    clock.now += timedelta(seconds=1)
    last = GarbageCollector(world.stores).collect()
    assert (last.deleted, last.freed_bytes, last.waiting) == (1, len(LARGE), 0)
    assert blobs(world) == set()
    assert not world.stores.kv.scan("garbage", limit=1)


def test_a_dry_run_changes_nothing(world: World, clock: FakeClock) -> None:
    orders = table(world)
    world.snapshot(orders, 1, attachments={"big": LARGE})
    forget(world, orders, 1)
    GarbageCollector(world.stores).collect(dry_run=True)
    clock.now += DEFAULT_GRACE
    assert GarbageCollector(world.stores).collect().deleted == 0  # the dry run took no note
    clock.now += DEFAULT_GRACE
    assert GarbageCollector(world.stores).collect(dry_run=True).deleted == 1
    assert len(blobs(world)) == 1


def test_a_blob_that_gets_its_record_between_the_passes_stays(
    world: World, store: HookedStore, clock: FakeClock
) -> None:
    def first_pass() -> None:  # the slow writer's blob is there, its record isn't yet
        assert GarbageCollector(world.stores).collect().waiting == 1

    orders = table(world)
    store.before_commit = first_pass
    world.snapshot(orders, 1, attachments={"big": LARGE})
    clock.now += 2 * DEFAULT_GRACE
    assert GarbageCollector(world.stores).collect().deleted == 0
    assert blobs(world) == named(world) != set()


def test_the_last_look_before_a_delete_counts(
    world: World, store: HookedStore, clock: FakeClock
) -> None:
    orders = table(world)
    world.snapshot(orders, 1, attachments={"big": LARGE})
    record = next(r for r in store.dump() if r.key.partition.startswith("snapshot/"))
    forget(world, orders, 1)
    GarbageCollector(world.stores).collect()
    clock.now += DEFAULT_GRACE

    def bring_back() -> None:
        store.commit([Put(record.key, record.value, ABSENT)])

    store.before_dump = (2, bring_back)  # the first is the pass's, the second the last look
    assert GarbageCollector(world.stores).collect().deleted == 0
    assert blobs(world) == named(world) != set()


def test_an_answer_under_an_idempotency_key_names_its_blob_until_it_expires(
    world: World, clock: FakeClock
) -> None:
    orders = table(world)
    spec = SnapshotSpec(table_id=orders.resource_id, snapshot_id=1, schema_json="x" * 100_000)
    request = CreateSnapshotRequest(spec=spec, idempotency=IdempotencyKey(key="k"))
    world.call("SnapshotService/CreateSnapshot", request)
    forget(world, orders, 1)
    assert len(blobs(world)) == 2  # the record's, and the answer's
    GarbageCollector(world.stores, timedelta(0)).collect()
    GarbageCollector(world.stores, timedelta(0)).collect()
    assert blobs(world) == named(world)
    assert len(blobs(world)) == 1
    clock.now += timedelta(hours=25)
    GarbageCollector(world.stores, timedelta(0)).collect()
    GarbageCollector(world.stores, timedelta(0)).collect()
    assert blobs(world) == set()


def test_blobs_of_other_rooms_are_left_alone(world: World, clock: FakeClock) -> None:
    with world.stores.blobs.writer("segments/one") as writer:
        writer.write(b"not ours")
    GarbageCollector(world.stores, timedelta(0)).collect()
    assert GarbageCollector(world.stores, timedelta(0)).collect().blobs == 0
    assert len(blobs(world)) == 1


def test_batches_find_what_one_pass_would(world: World, clock: FakeClock) -> None:
    """However few blobs are looked at together, the same are deleted, remembered and forgotten."""
    its_table = table(world)
    for number in range(9):
        world.snapshot(its_table, number, attachments={"large": LARGE})
    gone = range(0, 9, 2)
    for number in gone:
        delete = DeleteSnapshotRequest(table_id=its_table.resource_id, snapshot_id=number)
        world.call("SnapshotService/DeleteSnapshot", delete)
    world.stores.kv.commit(
        [Put(keys.garbage(name), clock().isoformat().encode(), ABSENT) for name in ("a", "zzz")]
    )
    collector = GarbageCollector(world.stores, batch=2)
    first = collector.collect()
    assert (first.blobs, first.waiting, first.deleted) == (9, len(gone), 0)
    assert len(world.stores.kv.scan(keys.GARBAGE, limit=100)) == len(gone)
    clock.advance(seconds=DEFAULT_GRACE.total_seconds() + 1)
    assert collector.collect(dry_run=True).deleted == len(gone)
    assert collector.collect().deleted == len(gone)
    assert collector.collect().blobs == 9 - len(gone)
    assert not world.stores.kv.scan(keys.GARBAGE, limit=100)
    assert world.findings() == []
