"""What each executor submits, for a real connector on real files."""

from pathlib import Path
from typing import Any

import pytest
from examples.parquet_folder_connector import ParquetFolderConnector
from tests.support.control_plane import Received, Script
from tests.support.working import CountingFactory as Factory
from tests.support.working import Working, folder_opener, leased, working

from ai.floedb.floecat.catalog.table_pb2 import TF_UNSPECIFIED, US_PRESENT, ColumnId
from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.execution.capture_pb2 import (
    DCS_EXPLICIT,
    DCS_FIRST_N,
    FES_FAILED,
    FES_FAILED_ALLOWED,
    FES_SUCCEEDED,
    CapturePolicy,
    ColumnCapturePolicy,
    FileGroup,
)
from ai.floedb.floecat.reconciler import executor_control_pb2 as messages
from ai.floedb.floecat.reconciler import reconciler_pb2 as jobs
from ai.floedb.floecat.reconciler.executor_control_pb2 import PlannedRelation
from ai.floedb.floecat.reconciler.reconciler_pb2 import (
    CaptureScope,
    NamespacePath,
    SnapshotSelection,
)
from floecat.artifacts.coverage import CoverageHash
from floecat.artifacts.identifiers import encode_ids
from floecat.connectors.spi.errors import (
    PermanentUpstreamError,
    TransientUpstreamError,
    UpstreamProblem,
)
from floecat.connectors.spi.records import Namespace
from floecat.worker.control import ControlPlane
from floecat.worker.scopes import relation_of
from floecat.worker.work import LeasedWork

ORDERS = relation_of(("sales",), "orders")


def run(worker: Working, script: Script) -> Received:
    worker.runner.run(LeasedWork(script.jobs.popleft()))
    assert not script.completed, script.completed
    return script.results[-1]


def failed(worker: Working, script: Script) -> messages.LeasedJobFailure:
    worker.runner.run(LeasedWork(script.jobs.popleft()))
    assert not script.results
    return script.completed[-1].failure


def connector_input(lake: Path, **more: Any) -> messages.GetLeasedPlanConnectorInputResponse:
    return messages.GetLeasedPlanConnectorInputResponse(connector=leased(lake), **more)


def table_input(lake: Path, **more: Any) -> messages.GetLeasedPlanTableInputResponse:
    return messages.GetLeasedPlanTableInputResponse(
        connector=leased(lake), relation=PlannedRelation(source=ORDERS), **more
    )


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("sales.ordrs", "there is no table sales.ordrs upstream; did you mean sales.orders?"),
        ("ops.xyz", "there is no table ops.xyz upstream"),
        ("oops.jobs", "there is no namespace oops upstream, for oops.jobs; did you mean ops?"),
    ],
)
def test_a_table_that_was_named_has_to_be_there(
    worker: Working, script: Script, lake: Path, source: str, told: str
) -> None:
    namespace, name = source.split(".")
    for named in (True, False):
        given = table_input(lake)
        given.relation.source.CopyFrom(relation_of((namespace,), name))
        given.relation.named = named
        script.add(jobs.PLAN_TABLE, given)
        failure = failed(worker, script)
        wanted = messages.FCL_TERMINAL if named else messages.FCL_OBSOLETE
        assert failure.failure_class == wanted
        assert (failure.message == told) == named


def found(received: Received) -> list[str]:
    sources = [relation.source for chunk in received.chunks for relation in chunk.tables]
    return [".".join((*source.namespace.segments, source.name)) for source in sources]


class TestPlanner:
    def test_a_namespace_that_isnt_there_is_told(
        self, worker: Working, script: Script, lake: Path
    ) -> None:
        names = [NamespacePath(segments=["ops"]), NamespacePath(segments=["sale"])]
        scope = CaptureScope(namespaces=names)
        script.add(jobs.PLAN_CONNECTOR, connector_input(lake, scope=scope))
        received = run(worker, script)
        assert found(received) == ["ops.jobs"]
        [told] = [failure for chunk in received.chunks for failure in chunk.failures]
        assert told.message == "there is no namespace sale upstream; did you mean sales?"

    def test_everything_is_found(self, worker: Working, script: Script, lake: Path) -> None:
        script.add(jobs.PLAN_CONNECTOR, connector_input(lake, exclude=["*.jobs"]))
        received = run(worker, script)
        assert found(received) == ["sales.items", "sales.orders"]
        assert received.closing.success.items_total == 2
        assert received.closing.success.result_id == "job0:::7:success"
        revisions = {r.revision for chunk in received.chunks for r in chunk.tables}
        assert len(revisions) == 2
        assert "" not in revisions

    def test_a_full_run_tells_revisions_too_for_the_next_one(
        self, worker: Working, script: Script, lake: Path
    ) -> None:
        script.add(jobs.PLAN_CONNECTOR, connector_input(lake), full_rescan=True)
        received = run(worker, script)
        assert "" not in {r.revision for chunk in received.chunks for r in chunk.tables}

    def test_a_scope_is_kept_to(self, worker: Working, script: Script, lake: Path) -> None:
        scope = CaptureScope(namespaces=[NamespacePath(segments=["ops"])], tables=[ORDERS])
        script.add(jobs.PLAN_CONNECTOR, connector_input(lake, scope=scope))
        assert found(run(worker, script)) == ["sales.orders", "ops.jobs"]

    def test_capture_only_takes_the_tables_as_named(
        self, worker: Working, script: Script, lake: Path
    ) -> None:
        scope = CaptureScope(tables=[relation_of(("no", "where"), "t")])
        script.add(jobs.PLAN_CONNECTOR, connector_input(lake, scope=scope), mode=jobs.CAPTURE_ONLY)
        assert found(run(worker, script)) == ["no.where.t"]


class OneNamespaceFails(ParquetFolderConnector):
    """Can't list one of its namespaces."""

    error: Exception = PermanentUpstreamError("not for you", UpstreamProblem.PERMISSION_DENIED)

    def list_tables(self, namespace: Namespace) -> Any:
        if namespace == ("ops",):
            raise self.error
        return super().list_tables(namespace)


class OneNamespaceIsSlow(OneNamespaceFails):
    error = TransientUpstreamError("too busy")


class NothingIsAllowed(OneNamespaceFails):
    error = PermanentUpstreamError("who are you?", UpstreamProblem.UNAUTHENTICATED)


class RevisionsFail(ParquetFolderConnector):
    """Can't tell what has changed."""

    def table_revisions(self, namespace: Namespace, names: Any) -> Any:
        raise TransientUpstreamError("too busy")


class TestPlannerFailures:
    def test_without_revisions_everything_is_looked_at(
        self, control: ControlPlane, script: Script, lake: Path
    ) -> None:
        with working(control, folder_opener(Factory(RevisionsFail), lake)) as worker:
            script.add(jobs.PLAN_CONNECTOR, connector_input(lake))
            received = run(worker, script)
        assert len(found(received)) == 3
        assert {r.revision for chunk in received.chunks for r in chunk.tables} == {""}

    def test_one_namespace_doesnt_stop_the_others(
        self, control: ControlPlane, script: Script, lake: Path
    ) -> None:
        with working(control, folder_opener(Factory(OneNamespaceFails), lake)) as worker:
            script.add(jobs.PLAN_CONNECTOR, connector_input(lake))
            received = run(worker, script)
        assert found(received) == ["sales.items", "sales.orders"]
        (failure,) = [failure for chunk in received.chunks for failure in chunk.failures]
        assert list(failure.target.source.namespace.segments) == ["ops"]
        assert "not for you" in failure.message
        assert received.closing.success.items_total == 2

    def test_a_busy_upstream_is_tried_again_but_not_for_ever(
        self, control: ControlPlane, script: Script, lake: Path
    ) -> None:
        with working(control, folder_opener(Factory(OneNamespaceIsSlow), lake)) as worker:
            script.add(jobs.PLAN_CONNECTOR, connector_input(lake))
            assert failed(worker, script).failure_class == messages.FCL_RETRYABLE
            script.completed.clear()
            script.add(jobs.PLAN_CONNECTOR, connector_input(lake))
            script.jobs[0].attempt = 4
            assert found(run(worker, script)) == ["sales.items", "sales.orders"]

    def test_refused_credentials_fail_the_whole(
        self, control: ControlPlane, script: Script, lake: Path
    ) -> None:
        with working(control, folder_opener(Factory(NothingIsAllowed), lake)) as worker:
            script.add(jobs.PLAN_CONNECTOR, connector_input(lake))
            assert failed(worker, script).failure_class == messages.FCL_TERMINAL


class TestTables:
    def test_a_new_table_is_described(self, worker: Working, script: Script, lake: Path) -> None:
        script.add(jobs.PLAN_TABLE, table_input(lake), mode=jobs.METADATA_AND_CAPTURE)
        received = run(worker, script)
        (chunk,) = received.chunks
        assert chunk.table.upstream.table_display_name == "orders"
        assert chunk.table.upstream.connector_id.id == "c1"
        assert chunk.table.upstream.state == US_PRESENT
        assert chunk.table.format == TF_UNSPECIFIED
        assert chunk.table.location.endswith("/sales/orders")
        assert list(chunk.columns) == [ColumnId(path=["id"]), ColumnId(path=["name"])]
        (snapshot,) = chunk.snapshots
        assert snapshot.snapshot_id == chunk.table.current_snapshot_id
        assert list(chunk.capture_snapshot_ids) == [snapshot.snapshot_id]
        assert not chunk.upstream_complete
        assert received.closing.success.counters.snapshots_processed == 1

    def test_what_is_known_isnt_sent_again(
        self, worker: Working, script: Script, lake: Path
    ) -> None:
        with worker.blobs.writer("ids") as writer:
            writer.write(encode_ids([self.current(worker, lake)]))
        known = BlobReference(
            uri=writer.ref.uri, sha256=writer.ref.sha256, size_bytes=writer.ref.size
        )
        script.add(
            jobs.PLAN_TABLE,
            table_input(lake, known_snapshot_ids_blob=known),
            mode=jobs.METADATA_AND_CAPTURE,
        )
        (chunk,) = run(worker, script).chunks
        assert not chunk.snapshots
        assert list(chunk.capture_snapshot_ids) == [self.current(worker, lake)]

    def test_a_full_run_tells_everything(self, worker: Working, script: Script, lake: Path) -> None:
        current = self.current(worker, lake)
        given = table_input(lake, known_snapshot_ids=[current], finalized_snapshot_ids=[current])
        script.add(jobs.PLAN_TABLE, given, mode=jobs.METADATA_AND_CAPTURE, full_rescan=True)
        (chunk,) = run(worker, script).chunks
        assert len(chunk.snapshots) == 1
        assert list(chunk.upstream_snapshot_ids) == [current]
        assert list(chunk.capture_snapshot_ids) == [current]
        assert chunk.upstream_complete

    def test_metadata_only_captures_nothing(
        self, worker: Working, script: Script, lake: Path
    ) -> None:
        script.add(jobs.PLAN_TABLE, table_input(lake), mode=jobs.METADATA_ONLY)
        (chunk,) = run(worker, script).chunks
        assert len(chunk.snapshots) == 1
        assert not chunk.capture_snapshot_ids

    @pytest.mark.parametrize(
        "selection",
        [
            SnapshotSelection(),
            SnapshotSelection(all=True),
            SnapshotSelection(latest_n=2),
        ],
    )
    def test_capture_only_sends_no_metadata(
        self, worker: Working, script: Script, lake: Path, selection: SnapshotSelection
    ) -> None:
        current = self.current(worker, lake)
        given = table_input(lake, known_snapshot_ids=[current, 5], snapshots=selection)
        given.table.current_snapshot_id = current
        script.add(jobs.PLAN_TABLE, given, mode=jobs.CAPTURE_ONLY)
        (chunk,) = run(worker, script).chunks
        assert chunk == messages.PlanTableChunk(capture_snapshot_ids=[current])

    def test_a_table_that_is_gone_is_obsolete(
        self, worker: Working, script: Script, lake: Path
    ) -> None:
        given = table_input(lake)
        given.relation.source.name = "nowhere"
        script.add(jobs.PLAN_TABLE, given)
        assert failed(worker, script).failure_class == messages.FCL_OBSOLETE

    def test_a_broken_table_says_why(self, worker: Working, script: Script, lake: Path) -> None:
        (lake / "sales/orders/0.parquet").write_bytes(b"torn")
        script.add(jobs.PLAN_TABLE, table_input(lake))
        failure = failed(worker, script)
        assert failure.failure_class == messages.FCL_TERMINAL
        assert "isn't a parquet file" in failure.message

    def current(self, worker: Working, lake: Path) -> int:
        with worker.connectors.lent(leased(lake)) as connector:
            current = connector.describe(("sales",), "orders").current_snapshot_id
        assert current is not None
        return current


class TestSnapshots:
    def test_the_plan_covers_every_file_once(
        self, worker: Working, script: Script, lake: Path
    ) -> None:
        received = self.planned(worker, script, lake, max_files_per_group=2)
        header = received.chunks[0].plan
        groups = [group for chunk in received.chunks for group in chunk.groups]
        assert [len(group.files) for group in groups] == [2, 1]
        assert received.closing.success.items_total == 2
        covered = CoverageHash()
        for group in groups:
            for file in group.files:
                covered.add(file.identity)
        assert header.files_total == len(covered) == 3
        assert header.coverage_sha256 == covered.hexdigest()
        assert header.plan_id in received.closing.success.result_id

    def test_a_snapshot_that_is_gone_is_obsolete(
        self, worker: Working, script: Script, lake: Path
    ) -> None:
        given = self.given(lake)
        given.snapshot.snapshot_id = 4
        script.add(jobs.PLAN_SNAPSHOT, given)
        assert failed(worker, script).failure_class == messages.FCL_OBSOLETE

    def planned(self, worker: Working, script: Script, lake: Path, **more: Any) -> Received:
        given = self.given(lake, **more)
        given.snapshot.snapshot_id = TestTables().current(worker, lake)
        script.add(jobs.PLAN_SNAPSHOT, given)
        return run(worker, script)

    def given(self, lake: Path, **more: Any) -> messages.GetLeasedPlanSnapshotInputResponse:
        limits = {"max_files_per_group": 128, "max_bytes_per_group": 2**32, **more}
        return messages.GetLeasedPlanSnapshotInputResponse(
            connector=leased(lake), source=ORDERS, **limits
        )


class TestFileGroups:
    COLUMNS = (ColumnId(column_id=11, path=["id"]), ColumnId(column_id=12, path=["name"]))

    def given(
        self, worker: Working, script: Script, lake: Path, policy: CapturePolicy
    ) -> messages.GetLeasedFileGroupExecutionResponse:
        received = TestSnapshots().planned(
            worker, script, lake, capture_policy=policy, column_ids=self.COLUMNS
        )
        given = messages.GetLeasedFileGroupExecutionResponse(
            connector=leased(lake),
            source=ORDERS,
            snapshot_id=received.chunks[0].plan.snapshot_id,
            plan_id=received.chunks[0].plan.plan_id,
            group=received.chunks[0].groups[0],
            capture_policy=policy,
            column_ids=self.COLUMNS,
        )
        given.table_id.id = "t1"
        script.results.clear()
        return given

    @pytest.mark.parametrize("told", [True, False])
    @pytest.mark.parametrize(
        ("policy", "columns"),
        [
            (CapturePolicy(), {11, 12}),
            (CapturePolicy(columns=[ColumnCapturePolicy(selector="name")]), {12}),
            (CapturePolicy(default_scope=DCS_FIRST_N, first_n=1), {11}),
            (CapturePolicy(default_scope=DCS_EXPLICIT), set()),
        ],
    )
    def test_every_planned_file_has_a_result(
        self,
        worker: Working,
        script: Script,
        lake: Path,
        policy: CapturePolicy,
        columns: set[int],
        told: bool,
    ) -> None:
        """Whether the plan tells of them, or the upstream has to be asked."""
        given = self.given(worker, script, lake, policy)
        for file in given.group.files:
            assert file.HasField("told")
            if not told:
                file.ClearField("told")
        script.add(jobs.EXEC_FILE_GROUP, given)
        received = run(worker, script)
        results = [result for chunk in received.chunks for result in chunk.files]
        records = [record for chunk in received.chunks for record in chunk.stats]
        assert [result.state for result in results] == [FES_SUCCEEDED] * 3
        assert [result.row_count for result in results] == [2, 2, 2]
        assert {record.table_id.id for record in records} == {"t1"}
        assert all(record.target.HasField("file") for record in records)
        found = {column.column_id for record in records for column in record.file.columns}
        assert found == columns
        success = received.closing.success
        assert success.files_total == 3
        assert success.counters.rows_processed == 6
        assert ":000000:7:success" in success.result_id

    @pytest.mark.parametrize("allowed", [False, True])
    def test_a_file_nobody_tells_of_fails(
        self, worker: Working, script: Script, lake: Path, allowed: bool
    ) -> None:
        policy = CapturePolicy(allow_failed_files=allowed)
        given = self.given(worker, script, lake, policy)
        extra = given.group.files.add()
        extra.identity.file_path = "file:///nowhere"
        given.group.files[0].identity.format_mark = "another"
        given.group.files[0].ClearField("told")
        script.add(jobs.EXEC_FILE_GROUP, given)
        received = run(worker, script)
        if allowed:
            results = [result for chunk in received.chunks for result in chunk.files]
            states = sorted(result.state for result in results)
            assert states == [FES_SUCCEEDED] * 2 + [FES_FAILED_ALLOWED] * 2
            assert received.closing.success.counters.files_failed == 2
            return
        assert not received.chunks
        failure = received.closing.failure
        assert "2 of 4 files failed" in failure.failure.message
        assert "a run with --allow-failed-files goes on without them" in failure.failure.message
        assert {result.state for result in failure.files} == {FES_FAILED}
        assert any("nowhere" in result.failure for result in failure.files)

    def test_an_empty_group_is_done_at_once(
        self, worker: Working, script: Script, lake: Path
    ) -> None:
        given = self.given(worker, script, lake, CapturePolicy())
        given.group.CopyFrom(FileGroup(group_id="000000"))
        script.add(jobs.EXEC_FILE_GROUP, given)
        assert run(worker, script).closing.success.files_total == 0


def test_a_connector_is_kept_for_the_next_job_and_closed_after_a_failure(
    worker: Working, script: Script, lake: Path, factory: Factory
) -> None:
    for _ in range(3):
        script.add(jobs.PLAN_TABLE, table_input(lake))
        run(worker, script)
    assert len(factory.opened) == 1
    gone = table_input(lake)
    gone.relation.source.name = "nowhere"
    script.add(jobs.PLAN_TABLE, gone)
    worker.runner.run(LeasedWork(script.jobs.popleft()))
    assert factory.closed == 1
    other = table_input(lake)
    other.connector.auth.secrets["token"] = "another"
    script.add(jobs.PLAN_TABLE, table_input(lake))
    script.add(jobs.PLAN_TABLE, other)
    for _ in range(2):
        worker.runner.run(LeasedWork(script.jobs.popleft()))
    assert len(factory.opened) == 3
    worker.connectors.close()
    assert factory.closed == 3
