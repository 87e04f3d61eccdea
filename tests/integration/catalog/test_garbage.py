"""Collecting garbage on every backend: the same two passes, the same survivors."""

from datetime import timedelta

from tests.support.catalog import World
from tests.support.clock import FakeClock

from ai.floedb.floecat.catalog.table_pb2 import DeleteTableRequest
from floecat.catalog.garbage import DEFAULT_GRACE, GarbageCollector

WIDE = "x" * 100_000


def test_what_is_deleted_loses_its_blobs_and_the_rest_keeps_them(
    world: World, clock: FakeClock
) -> None:
    namespace = world.namespace(world.catalog(), "eu")
    kept = world.table(namespace, "kept", schema_json=WIDE)
    world.snapshot(kept, 1, attachments={"big": bytes(50_000)})
    gone = world.table(namespace, "gone", schema_json=WIDE)
    world.snapshot(gone, 1, attachments={"big": bytes(50_000)})
    world.call("TableService/DeleteTable", DeleteTableRequest(table_id=gone.resource_id))
    world.sweep()
    first = GarbageCollector(world.stores).collect()
    assert first.deleted == 0
    assert first.waiting == first.blobs - 2
    clock.advance(seconds=(DEFAULT_GRACE + timedelta(seconds=1)).total_seconds())
    assert GarbageCollector(world.stores).collect().deleted == first.waiting
    assert GarbageCollector(world.stores).collect().blobs == 2
    assert world.findings() == []
