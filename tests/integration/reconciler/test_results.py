"""Results of workers: whole or not at all, once, and only under a live lease."""

from collections.abc import Mapping
from typing import BinaryIO

import pytest
from tests.support.clock import FakeClock
from tests.support.reconciling import (
    Reconciling,
    file_group,
    identity,
    plan_header,
    summary,
    table_chunk,
)

from ai.floedb.floecat.catalog.stats_pb2 import TargetStatsRecord
from ai.floedb.floecat.connector import connector_pb2
from ai.floedb.floecat.execution import capture_pb2
from ai.floedb.floecat.reconciler import executor_control_pb2 as wire
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.statistics.statistics_pb2 import StatsTarget
from floecat.errors import AbortedError, InvalidArgumentError, NotFoundError
from floecat.reconciler.jobs import LeaseLostError
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.blobs.port import BlobRef
from floecat.storage.kv.port import Key

RESULT = wire.SubmitLeasedPlanTableResultRequest


def contents(plane: Reconciling) -> Mapping[Key, bytes]:
    return {record.key: record.value for record in plane.world.stores.kv.dump()}


@pytest.fixture
def table_job(plane: Reconciling) -> wire.LeasedReconcileJob:
    plane.start(mode=messages.METADATA_ONLY)
    plane.plan_connector(plane.lease().lease, ["sales.orders"])
    return plane.lease()


def test_a_worker_that_was_paused_past_its_lease_changes_nothing(
    plane: Reconciling, table_job: wire.LeasedReconcileJob, clock: FakeClock
) -> None:
    clock.advance(seconds=31)
    before = contents(plane)
    with pytest.raises(LeaseLostError):
        plane.plan_table(table_job.lease, table_chunk("orders", [1, 2]))
    assert contents(plane) == before
    plane.store.reclaim(10)
    clock.advance(seconds=60)
    again = plane.lease()
    assert again.lease.job_id == table_job.lease.job_id
    before = contents(plane)
    with pytest.raises(LeaseLostError):
        plane.plan_table(table_job.lease, table_chunk("orders", [1, 2]))
    assert contents(plane) == before
    plane.plan_table(again.lease, table_chunk("orders", [1, 2]))
    assert not plane.problems()


def test_the_same_result_again_is_answered_as_the_first_time(
    plane: Reconciling, table_job: wire.LeasedReconcileJob
) -> None:
    chunk = table_chunk("orders", [1])
    first = plane.plan_table(table_job.lease, chunk, result_id="one")
    after = contents(plane)
    assert plane.plan_table(table_job.lease, chunk, result_id="one") == first
    with pytest.raises(AbortedError, match="result_id"):
        plane.plan_table(table_job.lease, table_chunk("orders", [2]), result_id="one")
    assert contents(plane) == after


def test_half_a_result_is_none(plane: Reconciling, table_job: wire.LeasedReconcileJob) -> None:
    before = contents(plane)
    lease = table_job.lease
    chunk = RESULT(lease=lease, chunk=table_chunk("orders", [1]))
    for stream in (
        [],
        [chunk],
        [chunk, RESULT(lease=lease)],
        [chunk, RESULT(lease=lease, success=wire.PlanResultSummary())],
        [RESULT(lease=lease, success=summary(lease, 0)), chunk],
        [chunk, RESULT(lease=wire.JobLease(job_id=lease.job_id), success=summary(lease, 0))],
    ):
        with pytest.raises(InvalidArgumentError):
            plane.submit("PlanTable", stream)
    assert contents(plane) == before


def test_a_result_for_another_kind_of_job_is_refused(
    plane: Reconciling, table_job: wire.LeasedReconcileJob
) -> None:
    plane.plan_connector(table_job.lease, ["sales.items"])
    assert plane.job(table_job.lease.job_id).state == messages.RJS_FAILED


def test_failures_are_tried_again_or_not(plane: Reconciling, clock: FakeClock) -> None:
    job_id = plane.start(mode=messages.METADATA_ONLY)
    request = wire.SubmitLeasedPlanConnectorResultRequest
    for attempt in range(1, 9):
        leased = plane.lease()
        assert leased.attempt == attempt
        failure = wire.LeasedJobFailure(failure_class=wire.FCL_RETRYABLE, message="busy")
        failure.retry_after.FromSeconds(100)
        closing = wire.PlanResultFailure(result_id=f"try {attempt}", failure=failure)
        plane.submit("PlanConnector", [request(lease=leased.lease, failure=closing)])
        clock.advance(seconds=99)
        assert not plane.has_work(), "an upstream's Retry-After wins"
        clock.advance(seconds=2)
    ended = plane.job(job_id)
    assert ended.state == messages.RJS_FAILED
    assert ended.outcome_reason == messages.JOR_ATTEMPTS_EXHAUSTED
    assert "busy" in ended.message


def snapshot_job(plane: Reconciling) -> wire.LeasedReconcileJob:
    plane.start()
    plane.plan_connector(plane.lease().lease, ["sales.orders"])
    chunk = table_chunk("orders", [1], capture_snapshot_ids=[1])
    plane.plan_table(plane.lease().lease, chunk)
    return plane.lease()


def finalized(plane: Reconciling, leased: wire.LeasedReconcileJob) -> bool:
    request = messages.GetFinalizedSnapshotStatusRequest(
        table_id=leased.target.table_id, snapshot_id=leased.target.snapshot_id
    )
    answer = plane.world.call("ReconcileControl/GetFinalizedSnapshotStatus", request)
    return bool(answer.state == messages.FSS_FINALIZED)


def test_a_snapshot_is_final_when_every_planned_file_is_covered(plane: Reconciling) -> None:
    leased = snapshot_job(plane)
    plane.plan_snapshot(leased, [["a", "b"], ["c"]])
    files = {"g0": ["a", "b"], "g1": ["c"]}
    first, second = plane.lease(), plane.lease()
    plane.execute(first, files[first.target.file_group_id])
    plane.finalize()
    assert not finalized(plane, leased)
    so_far = plane.job(leased.root_job_id).counters
    assert (so_far.files_completed, so_far.files_total) == (
        len(files[first.target.file_group_id]),
        3,
    )
    assert (so_far.jobs_succeeded, so_far.jobs_total) == (1, 5), "however deep it is"
    plane.execute(second, files[second.target.file_group_id])
    plane.finalize()
    assert finalized(plane, leased)
    root = plane.job(leased.root_job_id)
    assert root.state == messages.RJS_SUCCEEDED
    counters = root.counters
    assert (counters.files_total, counters.files_completed, counters.rows_processed) == (3, 3, 30)
    assert (counters.file_groups_total, counters.file_groups_completed) == (2, 2)
    assert counters.stats_processed == 1
    assert counters.jobs_total == counters.jobs_succeeded == 6
    assert not plane.problems()


def test_finalizing_may_take_longer_than_a_lease(
    plane: Reconciling, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    leased = snapshot_job(plane)
    files = {f"g{number}": [f"f{number}"] for number in range(10)}
    plane.plan_snapshot(leased, list(files.values()))
    for _ in files:
        group = plane.lease()
        plane.execute(group, files[group.target.file_group_id])
    opened = MemoryBlobStore.open

    def slow(blobs: MemoryBlobStore, ref: BlobRef) -> BinaryIO:
        clock.advance(seconds=6)
        return opened(blobs, ref)

    monkeypatch.setattr(MemoryBlobStore, "open", slow)
    assert plane.finalizer.run_next()
    assert finalized(plane, leased)


def test_an_empty_snapshot_is_final_at_once(plane: Reconciling) -> None:
    leased = snapshot_job(plane)
    plane.plan_snapshot(leased, [])
    plane.finalize()
    assert finalized(plane, leased)
    assert plane.job(leased.root_job_id).state == messages.RJS_SUCCEEDED


@pytest.mark.parametrize("files", [["a"], ["a", "b", "c"], ["a", "x"], ["a", "a"]])
def test_results_of_other_files_than_planned_fail_the_snapshot(
    plane: Reconciling, files: list[str]
) -> None:
    leased = snapshot_job(plane)
    plane.plan_snapshot(leased, [["a", "b"]])
    plane.execute(plane.lease(), files)
    plane.finalize()
    assert not finalized(plane, leased)
    root = plane.job(leased.root_job_id)
    assert root.state == messages.RJS_FAILED
    assert "every planned file" in root.failures[0].message


def test_a_group_that_fails_for_good_takes_its_snapshot_along(plane: Reconciling) -> None:
    leased = snapshot_job(plane)
    plane.plan_snapshot(leased, [["a"], ["b"]])
    request = wire.SubmitLeasedFileGroupExecutionResultRequest
    failed = wire.LeasedJobFailure(failure_class=wire.FCL_TERMINAL, message="a is corrupt")
    lease = plane.lease().lease
    closing = request.Failure(result_id="x", failure=failed)
    plane.submit("FileGroupExecution", [request(lease=lease, failure=closing)])
    assert not plane.has_work(), "its siblings don't run any more"
    plane.finalize()
    assert not finalized(plane, leased)
    root = plane.job(leased.root_job_id)
    assert root.state == messages.RJS_FAILED
    assert [failure.message for failure in root.failures] == ["a is corrupt"]


def test_a_plan_that_isnt_what_it_says_is_refused(plane: Reconciling) -> None:
    leased = snapshot_job(plane)
    request = wire.SubmitLeasedPlanSnapshotResultRequest
    groups = [file_group("g", ["a"])]
    header = plan_header(leased, [file_group("g", ["other"])])
    chunk = wire.PlanSnapshotChunk(plan=header, groups=groups)
    plane.submit(
        "PlanSnapshot",
        [
            request(lease=leased.lease, chunk=chunk),
            request(lease=leased.lease, success=summary(leased.lease, 1)),
        ],
    )
    job = plane.job(leased.lease.job_id)
    assert job.state == messages.RJS_FAILED
    assert "covers 1 files" in job.message


def test_statistics_of_tables_and_columns_arent_taken_from_a_group(plane: Reconciling) -> None:
    leased = snapshot_job(plane)
    plane.plan_snapshot(leased, [["a"]])
    group = plane.lease()
    request = wire.SubmitLeasedFileGroupExecutionResultRequest
    record = TargetStatsRecord(target=StatsTarget(table=StatsTarget().table))
    chunk = capture_pb2.FileGroupResultChunk(stats=[record])
    success = request.Success(result_id="x", files_total=1)
    plane.submit(
        "FileGroupExecution",
        [request(lease=group.lease, chunk=chunk), request(lease=group.lease, success=success)],
    )
    assert "statistics of files only" in plane.job(group.lease.job_id).message


def test_a_worker_that_miscounts_breaks_nothing(plane: Reconciling) -> None:
    leased = snapshot_job(plane)
    plane.plan_snapshot(leased, [["a", "b"], ["c"]])
    most = 2**63 - 1
    request = wire.SubmitLeasedFileGroupExecutionResultRequest
    files = {"g0": ["a", "b"], "g1": ["c"]}
    for _ in files:
        group = plane.lease()
        results = [
            capture_pb2.FileExecutionResult(
                identity=identity(path), state=capture_pb2.FES_SUCCEEDED, row_count=most
            )
            for path in files[group.target.file_group_id]
        ]
        success = request.Success(result_id=group.lease.job_id.id, files_total=len(results))
        chunk = capture_pb2.FileGroupResultChunk(files=results)
        plane.submit(
            "FileGroupExecution",
            [request(lease=group.lease, chunk=chunk), request(lease=group.lease, success=success)],
        )
    plane.finalize()
    root = plane.job(leased.root_job_id)
    assert root.state == messages.RJS_SUCCEEDED
    assert root.counters.rows_processed == most


def delete_connector(plane: Reconciling) -> None:
    request = connector_pb2.DeleteConnectorRequest(connector_id=plane.connector)
    plane.world.call("Connectors/DeleteConnector", request)


def test_a_connector_that_is_deleted_meanwhile_ends_its_snapshots_as_obsolete(
    plane: Reconciling,
) -> None:
    leased = snapshot_job(plane)
    plane.plan_snapshot(leased, [["a"], ["b"], ["c"]])
    group = plane.lease()
    delete_connector(plane)
    with pytest.raises(NotFoundError, match="no connector") as told:
        plane.world.call(
            "ReconcileExecutorControl/GetLeasedFileGroupExecution",
            wire.GetLeasedFileGroupExecutionRequest(lease=group.lease),
        )
    request = wire.SubmitLeasedFileGroupExecutionResultRequest
    gone = wire.LeasedJobFailure(failure_class=wire.FCL_OBSOLETE, message=told.value.message)
    closing = request.Failure(result_id="x", failure=gone)
    plane.submit("FileGroupExecution", [request(lease=group.lease, failure=closing)])
    assert not plane.has_work(), "its siblings don't run any more"
    plane.finalize()
    snapshot = plane.job(leased.lease.job_id)
    assert (snapshot.state, snapshot.outcome_reason) == (
        messages.RJS_SUCCEEDED,
        messages.JOR_OBSOLETE,
    )
    assert "no connector" in snapshot.message
    assert not finalized(plane, leased)
    root = plane.job(leased.root_job_id)
    assert root.state == messages.RJS_SUCCEEDED
    assert not root.failures
    assert root.counters.jobs_failed == 0
    assert root.counters.jobs_skipped == 2, "the group that said so, and the snapshot"
    assert not plane.problems()


def test_a_result_about_what_is_gone_is_obsolete(plane: Reconciling) -> None:
    root = plane.start(mode=messages.METADATA_ONLY)
    leased = plane.lease()
    delete_connector(plane)
    plane.plan_connector(leased.lease, ["sales.orders"])
    job = plane.job(root)
    assert job.state == messages.RJS_SUCCEEDED
    assert job.outcome_reason == messages.JOR_OBSOLETE
    assert "no connector" in job.message
