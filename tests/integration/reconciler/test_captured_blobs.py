"""Blobs of captures: kept while a snapshot or a job needs them, collected afterwards."""

from collections.abc import Iterable
from datetime import timedelta
from random import Random

import pytest
from tests.support.capturing import Captured, Capturing, files_of
from tests.support.clock import FakeClock
from tests.support.reconciling import Reconciling
from tests.support.segments import Deletes

from ai.floedb.floecat.catalog.snapshot_pb2 import DeleteSnapshotRequest
from ai.floedb.floecat.catalog.table_pb2 import DeleteTableRequest
from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.execution.stored_pb2 import SnapshotHoldings
from floecat.artifacts.payloads import read_message
from floecat.artifacts.segments import Segment
from floecat.catalog.garbage import DEFAULT_GRACE, GarbageCollector
from floecat.errors import NotFoundError
from floecat.statistics.index_artifacts import IndexArtifactRepository
from floecat.statistics.repository import StatsRepository
from floecat.statistics.store import SnapshotPlace, StatsQuery


@pytest.fixture
def capturing(plane: Reconciling) -> Capturing:
    return Capturing(plane, sidecars=True)


def collect(plane: Reconciling, clock: FakeClock) -> set[str]:
    """Collect twice, with the time between that it takes; what is left of captures."""
    GarbageCollector(plane.world.stores, batch=7).collect()
    clock.advance(seconds=(DEFAULT_GRACE + timedelta(seconds=1)).total_seconds())
    GarbageCollector(plane.world.stores, batch=7).collect()
    return names(plane)


def names(plane: Reconciling) -> set[str]:
    return {blob.name for blob in plane.world.stores.blobs.list("captures/", limit=10_000)}


def forget_jobs(plane: Reconciling, clock: FakeClock) -> None:
    """Let finished runs be forgotten, as they are after a while."""
    clock.advance(days=2)
    while plane.store.expire(1000):
        pass


def forget(capturing: Capturing, captured: Captured, snapshot_id: int) -> None:
    request = DeleteSnapshotRequest(table_id=captured.table_id, snapshot_id=snapshot_id)
    capturing.plane.world.call("SnapshotService/DeleteSnapshot", request)


def test_what_finalized_snapshots_need_is_kept_and_the_rest_goes(
    capturing: Capturing, clock: FakeClock
) -> None:
    plane = capturing.plane
    capturing.capture(1, files_of(range(6)))
    before = names(plane)
    captured = capturing.capture(2, files_of(range(3, 9)))
    forget_jobs(plane, clock)
    everything = names(plane)
    assert collect(plane, clock) == everything
    forget(capturing, captured, 1)
    left = collect(plane, clock)
    assert left < everything
    assert before & left, "what the second uses of the first"
    assert before - left, "and what it doesn't"
    assert plane.problems() == []
    for file in capturing.index(captured, 2).files():
        assert file.key
    third = capturing.capture(3, files_of(range(3, 9)))
    assert third.read == []
    forget(capturing, third, 2)
    forget(capturing, third, 3)
    forget_jobs(plane, clock)
    assert collect(plane, clock) == set()


def needed(capturing: Capturing, captured: Captured, snapshots: Iterable[int]) -> set[str]:
    """The names of what some snapshots consist of, blob by blob."""
    found: list[BlobReference] = []
    for snapshot_id in snapshots:
        final = capturing.final(captured, snapshot_id)
        assert final is not None
        index = capturing.index(captured, snapshot_id)
        found += [final.stats, final.index, final.segments, *index.blobs()]
        for held in index.segments():
            segment = Segment.open(capturing.plane.world.stores.blobs, held.manifest)
            found += [held.manifest, *segment.blobs()]
    return {reference.uri.removeprefix("memory:") for reference in found}


def known(capturing: Capturing, captured: Captured, snapshot_id: int) -> list[object]:
    """Everything that is known of a snapshot, to the last byte."""
    stores = capturing.plane.world.stores
    place = SnapshotPlace(captured.table_id.account_id, captured.table_id.id, snapshot_id)
    artifacts = IndexArtifactRepository(stores)
    return [
        *StatsRepository(stores).list(place, StatsQuery(sketches=True)),
        *(b"".join(artifacts.pieces(record)) for _, record in artifacts.list(place)),
    ]


@pytest.mark.parametrize("seed", range(5))
def test_whichever_snapshots_go_the_others_lose_nothing_and_nothing_else_stays(
    seed: int, capturing: Capturing, clock: FakeClock
) -> None:
    plane, chooser = capturing.plane, Random(seed)
    left = list(range(1, 8))
    for snapshot_id in left:
        # Files come and go; from the fourth on a column is added, and read of files that are known.
        columns = (1, 2) if snapshot_id < 4 else (1, 2, 3)
        files = files_of(range(2 * snapshot_id, 2 * snapshot_id + 7), columns)
        captured = capturing.capture(snapshot_id, files)
    before = {snapshot_id: known(capturing, captured, snapshot_id) for snapshot_id in left}
    assert all(len(found) == 7 + 1 + 7 + (2 if n < 4 else 3) for n, found in before.items())
    forget_jobs(plane, clock)
    while left:
        for snapshot_id in chooser.sample(left, k=min(len(left), chooser.choice([1, 2, 3]))):
            forget(capturing, captured, snapshot_id)
            left.remove(snapshot_id)
        assert collect(plane, clock) == needed(capturing, captured, left)
        assert plane.problems() == []
        for snapshot_id in left:
            assert known(capturing, captured, snapshot_id) == before[snapshot_id]


def test_a_deleted_table_leaves_nothing(capturing: Capturing, clock: FakeClock) -> None:
    plane = capturing.plane
    captured = capturing.capture(1, files_of(range(4)))
    plane.world.call("TableService/DeleteTable", DeleteTableRequest(table_id=captured.table_id))
    plane.world.sweep()
    forget_jobs(plane, clock)
    assert collect(plane, clock) == set()


def test_what_a_job_wrote_is_kept_until_it_is_forgotten(
    capturing: Capturing, clock: FakeClock
) -> None:
    plane = capturing.plane
    leased = capturing.begin(1)
    files = files_of(range(4))
    captured = capturing.plan(leased, files)
    group = plane.lease()
    capturing.execute(group, {file.path: file for file in files})
    written = names(plane)
    assert written
    assert collect(plane, clock) == written, "the snapshot isn't finalized yet"
    plane.store.cancel(plane.world.account_id, captured.root_job_id.id, "enough")
    plane.spread()
    forget_jobs(plane, clock)
    assert collect(plane, clock) == set()


def test_positions_are_kept_for_as_long_as_a_snapshot_has_the_deletes(
    capturing: Capturing, clock: FakeClock
) -> None:
    plane = capturing.plane
    files = files_of(range(2))
    capturing.capture(1, files)
    with_deletes(capturing, Deletes("d0", [(files[0].path, 1)]))
    capturing.capture(2, files)
    positions = {name for name in names(plane) if "/positions/" in name}
    assert len(positions) == 1
    deletes = Deletes("d0", [(files[0].path, 1)]), Deletes("d1", [(files[0].path, 2)])
    with_deletes(capturing, *deletes)
    captured = capturing.capture(3, files)
    assert captured.read == ["d1"]
    for snapshot_id in (1, 2):
        forget(capturing, captured, snapshot_id)
    forget_jobs(plane, clock)
    left = {name for name in collect(plane, clock) if "/positions/" in name}
    assert positions < left, "what the second read is all that the third knows of its delete file"
    assert plane.problems() == []
    with_deletes(capturing)
    last = capturing.capture(4, files)
    forget(capturing, last, 3)
    forget_jobs(plane, clock)
    assert not {name for name in collect(plane, clock) if "/positions/" in name}
    assert plane.problems() == []


def with_deletes(capturing: Capturing, *deletes: Deletes) -> None:
    """Delete files that apply to the first file."""
    capturing.delete_files = [file.scan_file for file in deletes]
    capturing.positions = {file.path: file for file in deletes}
    capturing.deletes = {files_of([0])[0].path: range(len(deletes))}


def test_a_check_misses_what_a_finalized_snapshot_needs(capturing: Capturing) -> None:
    plane = capturing.plane
    with_deletes(capturing, Deletes("d0", [("a", 1)]))
    captured = capturing.capture(1, files_of(range(4)))
    assert any("/positions/" in name for name in names(plane))
    assert plane.problems() == []
    for name in sorted(names(plane)):
        blobs = plane.world.stores.blobs
        info = next(blob for blob in blobs.list(name, limit=2) if blob.name == name)
        content = _content(capturing, info.uri)
        blobs.delete(name)
        found = [problem for problem in plane.problems() if "blob" in problem]
        assert found, name
        with blobs.writer(name) as writer:
            writer.write(content)
    assert plane.problems() == []
    assert capturing.final(captured, 1) is not None


def _content(capturing: Capturing, uri: str) -> bytes:
    blobs = capturing.plane.world.stores.blobs
    assert hasattr(blobs, "_blobs")
    return bytes(blobs._blobs[uri.removeprefix("memory:")].content)


def test_without_knowing_what_is_needed_nothing_is_collected(
    capturing: Capturing, clock: FakeClock
) -> None:
    plane = capturing.plane
    captured = capturing.capture(1, files_of(range(4)))
    final = capturing.final(captured, 1)
    assert final is not None
    assert read_message(plane.world.stores.blobs, final.segments, SnapshotHoldings).segments
    forget_jobs(plane, clock)
    plane.world.stores.blobs.delete(final.segments.uri.removeprefix("memory:"))
    with pytest.raises(NotFoundError):
        collect(plane, clock)
