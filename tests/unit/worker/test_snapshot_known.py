"""What a planner takes for known: what this version of Floecat can read, and nothing else."""

from collections.abc import Iterator

import pytest
from tests.support.segments import TABLE

from ai.floedb.floecat.execution.stored_pb2 import ScanIndex
from ai.floedb.floecat.reconciler.executor_control_pb2 import GetLeasedPlanSnapshotInputResponse
from floecat.artifacts.index.layout import FORMAT_VERSION
from floecat.artifacts.payloads import reference
from floecat.capture.columns import FilePolicy
from floecat.connectors.spi.records import ScanBundle
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.worker.snapshot_known import Known

BUNDLE = ScanBundle(snapshot_id=1, schema_json="", columns=(), delete_files=(), data_files=())


@pytest.fixture
def blobs() -> Iterator[MemoryBlobStore]:
    store = MemoryBlobStore()
    yield store
    store.close()


def known(blobs: MemoryBlobStore, version: int) -> Known:
    index = ScanIndex(format_version=version, table_id=TABLE, snapshot_id=1)
    with blobs.writer("captures/acme/j/1/index") as writer:
        writer.write(index.SerializeToString())
    given = GetLeasedPlanSnapshotInputResponse(covered_index=reference(writer.ref))
    return Known.of(blobs, given, BUNDLE, FilePolicy(columns=()))


def test_an_index_that_can_be_read_is_used(blobs: MemoryBlobStore) -> None:
    found = known(blobs, FORMAT_VERSION)
    assert found.index is not None
    assert found.files is not None


@pytest.mark.parametrize("version", [FORMAT_VERSION - 1, FORMAT_VERSION + 1])
def test_what_another_version_laid_out_is_read_anew(blobs: MemoryBlobStore, version: int) -> None:
    found = known(blobs, version)
    assert found.index is None
    assert found.files is None
    assert found.deletes is None
