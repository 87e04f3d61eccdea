"""Snapshots: references at one instant, order by upstream time, attachments of any size."""

import hashlib

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from tests.support.catalog import World

from ai.floedb.floecat.catalog import directory_pb2, snapshot_pb2, table_pb2
from ai.floedb.floecat.common.common_pb2 import SS_CURRENT, PageRequest, SnapshotRef
from floecat.catalog import keys
from floecat.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
)
from floecat.storage.kv.port import ANY, Put


@pytest.fixture
def table(world: World) -> table_pb2.Table:
    return world.table(world.namespace(world.catalog(), "sales"), "orders")


def at(seconds: int, nanos: int = 0) -> Timestamp:
    return Timestamp(seconds=seconds, nanos=nanos)


def get(world: World, table: table_pb2.Table, **ref: object) -> snapshot_pb2.Snapshot:
    request = snapshot_pb2.GetSnapshotRequest(
        table_id=table.resource_id,
        snapshot=SnapshotRef(**ref),  # type: ignore[arg-type]
    )
    found: snapshot_pb2.Snapshot = world.call("SnapshotService/GetSnapshot", request).snapshot
    return found


def test_what_is_not_there_is_named(world: World, table: table_pb2.Table) -> None:
    asked: list[tuple[dict[str, object], str]] = [
        ({"snapshot_id": 7}, "has no snapshot 7: 'floecat snapshot list'"),
        ({"as_of": at(0)}, "has no snapshot as of 1970-01-01T00:00:00Z:"),
        ({}, "has no snapshots yet:"),
    ]
    for ref, message in asked:
        with pytest.raises(NotFoundError, match=message):
            get(world, table, **ref)


def test_as_of_is_the_newest_not_later(world: World, table: table_pb2.Table) -> None:
    for number, seconds in ((1, -100), (2, 50), (3, 200)):
        world.snapshot(table, number, upstream_created_at=at(seconds))
    assert get(world, table, as_of=at(-100)).snapshot_id == 1
    assert get(world, table, as_of=at(199, 999_999_999)).snapshot_id == 2
    assert get(world, table, as_of=at(200)).snapshot_id == 3
    with pytest.raises(NotFoundError):
        get(world, table, as_of=at(-101))
    world.snapshot(table, 4, upstream_created_at=at(300, 500))
    assert get(world, table, as_of=at(300, 200)).snapshot_id == 3
    assert get(world, table, as_of=at(300, 500)).snapshot_id == 4


def test_current_is_the_upstreams_else_the_newest(world: World, table: table_pb2.Table) -> None:
    for number, seconds in ((1, 10), (2, 20)):
        world.snapshot(table, number, upstream_created_at=at(seconds))
    assert get(world, table).snapshot_id == 2
    update = table_pb2.UpdateTableRequest(
        table_id=table.resource_id, spec=table_pb2.TableSpec(current_snapshot_id=1)
    )
    world.call("TableService/UpdateTable", update)
    assert get(world, table, special=SS_CURRENT).snapshot_id == 1
    update.spec.current_snapshot_id = 777
    world.call("TableService/UpdateTable", update)
    with pytest.raises(NotFoundError):
        get(world, table)


def test_newest_first_and_paged(world: World, table: table_pb2.Table) -> None:
    for number, seconds in ((5, 30), (6, 10), (7, 20), (18, 20)):
        world.snapshot(table, number, upstream_created_at=at(seconds), attachments={"a": b"x"})
    request = snapshot_pb2.ListSnapshotsRequest(
        table_id=table.resource_id, page=PageRequest(page_size=3)
    )
    first = world.call("SnapshotService/ListSnapshots", request)
    request.page.page_token = first.page.next_page_token
    rest = world.call("SnapshotService/ListSnapshots", request)
    listed = [*first.snapshots, *rest.snapshots]
    assert [s.snapshot_id for s in listed] == [5, 18, 7, 6]
    assert all(not s.attachments and s.attachment_infos[0].size_bytes == 1 for s in listed)


def test_finalized_only_says_what_to_run(world: World, table: table_pb2.Table) -> None:
    world.snapshot(table, 1)
    with pytest.raises(FailedPreconditionError, match="connector trigger"):
        get(world, table, snapshot_id=1, finalized_only=True)
    world.stores.kv.commit([Put(keys.final(world.account_id, table.resource_id.id, 1), b"", ANY)])
    assert get(world, table, snapshot_id=1, finalized_only=True).snapshot_id == 1
    request = directory_pb2.ResolveSnapshotRequest(table_id=table.resource_id)
    assert world.call("DirectoryService/ResolveSnapshot", request).finalized


@pytest.mark.parametrize("size", [0, 1, 31_000, 33_000, 900_000, 1_200_000, 3_000_000])
def test_attachments_of_any_size_come_back(world: World, table: table_pb2.Table, size: int) -> None:
    data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    world.snapshot(table, 1, attachments={"metadata.json": data, "small": b"1"})
    shown = get(world, table, snapshot_id=1)
    info = shown.attachment_infos[0]
    assert (info.size_bytes, info.sha256) == (size, hashlib.sha256(data).hexdigest())
    if size < 512 * 1024:
        assert shown.attachments["metadata.json"] == data
    else:
        assert not shown.attachments
    request = snapshot_pb2.ReadSnapshotAttachmentRequest(
        table_id=table.resource_id, snapshot_id=1, name="metadata.json"
    )
    pieces = [p.data for p in world.call("SnapshotService/ReadSnapshotAttachment", request)]
    assert b"".join(pieces) == data
    assert max(map(len, pieces)) <= 256 * 1024
    assert world.findings() == []


def test_refusals(world: World, table: table_pb2.Table) -> None:
    world.snapshot(table, 1)
    with pytest.raises(AlreadyExistsError):
        world.snapshot(table, 1)
    with pytest.raises(InvalidArgumentError, match="years"):
        world.snapshot(table, 2, upstream_created_at=at(10**15))
    with pytest.raises(InvalidArgumentError, match="name"):
        world.snapshot(table, 2, attachments={"": b"x"})
    with pytest.raises(NotFoundError):
        get(world, table, snapshot_id=2)
    missing = snapshot_pb2.ReadSnapshotAttachmentRequest(
        table_id=table.resource_id, snapshot_id=1, name="none"
    )
    with pytest.raises(NotFoundError, match="attachment"):
        list(world.call("SnapshotService/ReadSnapshotAttachment", missing))


def test_ids_may_be_any_64_bits(world: World, table: table_pb2.Table) -> None:
    for number in (-(2**63), 0, 2**63 - 1):
        world.snapshot(table, number)
        assert get(world, table, snapshot_id=number).snapshot_id == number


@pytest.mark.parametrize("key", ["", "once"])
def test_an_upload_to_nothing_keeps_nothing(world: World, table: table_pb2.Table, key: str) -> None:
    upload = snapshot_pb2.WriteSnapshotAttachmentRequest(
        table_id=table.resource_id, snapshot_id=1, name="large", data=b"x" * 100_000
    )
    if key:
        upload.idempotency.key = key
    with pytest.raises(NotFoundError):
        world.call("SnapshotService/WriteSnapshotAttachment", upload)
    assert not world.stores.blobs.list(limit=1)
    world.snapshot(table, 1)
    first = world.call("SnapshotService/WriteSnapshotAttachment", upload)
    if key:
        assert world.call("SnapshotService/WriteSnapshotAttachment", upload) == first


def test_pages_of_large_snapshots_read_what_they_show(world: World, table: table_pb2.Table) -> None:
    for number in range(5):
        world.snapshot(table, number, upstream_created_at=at(number), schema_json="x" * 1_400_000)
    seen: list[int] = []
    request = snapshot_pb2.ListSnapshotsRequest(
        table_id=table.resource_id, page=PageRequest(page_size=4)
    )
    while True:
        listed = world.call("SnapshotService/ListSnapshots", request)
        assert len(listed.snapshots) <= 2
        seen += [snapshot.snapshot_id for snapshot in listed.snapshots]
        request.page.page_token = listed.page.next_page_token
        if not request.page.page_token:
            break
    assert seen == [4, 3, 2, 1, 0]
