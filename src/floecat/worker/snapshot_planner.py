"""RemoteSnapshotPlanningReconcileExecutor: freezes which files of a snapshot are to be read."""

from dataclasses import replace
from typing import Final

from ai.floedb.floecat.reconciler import executor_control_pb2 as messages
from ai.floedb.floecat.reconciler.executor_control_pb2 import PlanResultSummary
from ai.floedb.floecat.reconciler.reconciler_pb2 import PLAN_SNAPSHOT, ReconcileCounters
from floecat.capture.policies import file_policy
from floecat.storage.blobs.port import BlobStore
from floecat.worker.captures import column_scope
from floecat.worker.connections import OpenConnectors
from floecat.worker.control import ControlPlane
from floecat.worker.scopes import namespace_of
from floecat.worker.snapshot_known import Known
from floecat.worker.snapshot_listing import Listed
from floecat.worker.snapshot_messages import SnapshotPlanMessages
from floecat.worker.snapshot_told import Opens, with_told
from floecat.worker.submissions import Submission
from floecat.worker.work import Kind, LeasedWork

_Request = messages.SubmitLeasedPlanSnapshotResultRequest


class RemoteSnapshotPlanningReconcileExecutor:
    """Runs PLAN_SNAPSHOT."""

    executor_id: Final = "remote-snapshot-planner"
    kinds: Final[frozenset[Kind]] = frozenset({PLAN_SNAPSHOT})

    def __init__(
        self, control: ControlPlane, connectors: OpenConnectors, blobs: BlobStore, opens: Opens
    ) -> None:
        self._control = control
        self._connectors = connectors
        self._blobs = blobs
        self._opens = opens

    def execute(self, work: LeasedWork) -> Submission[_Request]:
        """List the snapshot's files, and group them."""
        given = self._control.fetch(
            work,
            self._control.stub.GetLeasedPlanSnapshotInput,
            messages.GetLeasedPlanSnapshotInputRequest(lease=work.lease),
        )
        work.step("input")
        at = (namespace_of(given.source), given.source.name, given.snapshot.snapshot_id)
        with self._connectors.lent(given.connector) as connector:
            work.step("opened")
            bundle = connector.plan_snapshot_files(*at)
            scope = column_scope(given.capture_policy, given.column_ids, lambda: bundle.columns)
            policy = file_policy(given.capture_policy, scope.selected(bundle.columns))
            known = Known.of(self._blobs, given, bundle, policy)
            listed = Listed.of(bundle, work, known, self._opens)
            if listed.unopened:
                records = connector.capture_snapshot_target_stats(*at, scope)
                listed = replace(listed, files=with_told(listed.files, self._opens, records, work))
            distinct = connector.distinct_values(*at)
        work.step("planned", files=listed.files_total, reused=listed.reused_total)
        plan = SnapshotPlanMessages(work, given, bundle, listed, known, distinct)
        success = PlanResultSummary(
            result_id=work.result_id("success", plan=plan.plan_id),
            items_total=plan.groups,
            counters=ReconcileCounters(
                files_total=listed.files_total, file_groups_total=plan.groups
            ),
            message=_said(listed, plan.groups),
        )
        closing = _Request(lease=work.lease, success=success)
        method = self._control.stub.SubmitLeasedPlanSnapshotResult
        return Submission(method, plan, closing, (listed.files, listed.reused))


def _said(listed: Listed, groups: int) -> str:
    again = f", {listed.reused_total} known already" if listed.reused_total else ""
    deletes = f", and {len(listed.deletes)} delete files to read" if listed.deletes else ""
    return f"{listed.files_total} files in {groups} groups{again}{deletes}"
