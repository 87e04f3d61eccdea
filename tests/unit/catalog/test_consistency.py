"""The check reads every blob that a record names, remembered answers included."""

import pytest
from tests.support.catalog import World

from ai.floedb.floecat.catalog.snapshot_pb2 import CreateSnapshotRequest, SnapshotSpec
from ai.floedb.floecat.common.common_pb2 import IdempotencyKey


@pytest.fixture
def filled(world: World) -> World:
    """Blobs of each kind: a table's, a snapshot's, an attachment's and an answer's."""
    table = world.table(world.namespace(world.catalog(), "eu"), "t", schema_json="x" * 100_000)
    spec = SnapshotSpec(
        table_id=table.resource_id,
        snapshot_id=1,
        schema_json="y" * 100_000,
        attachments={"big": bytes(50_000)},
    )
    request = CreateSnapshotRequest(spec=spec, idempotency=IdempotencyKey(key="k"))
    world.call("SnapshotService/CreateSnapshot", request)
    return world


def test_a_whole_store_has_no_findings(filled: World) -> None:
    assert filled.findings() == []


@pytest.mark.parametrize("number", range(4))
def test_each_blob_is_missed(filled: World, number: int) -> None:
    blobs = filled.stores.blobs.list(limit=100)
    assert len(blobs) == 4
    filled.stores.blobs.delete(blobs[number].name)
    assert filled.findings()
