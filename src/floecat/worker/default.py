"""RemoteDefaultReconcileExecutor: brings one table, or one view, up to date."""

from typing import Any, Final

from ai.floedb.floecat.reconciler import executor_control_pb2 as messages
from ai.floedb.floecat.reconciler.executor_control_pb2 import PlanResultSummary, PlanViewChunk
from ai.floedb.floecat.reconciler.reconciler_pb2 import (
    PLAN_TABLE,
    PLAN_VIEW,
    ReconcileCounters,
)
from floecat.artifacts.identifiers import decode_ids
from floecat.storage.blobs.port import BlobRef, BlobStore
from floecat.worker.asked import AskedFor
from floecat.worker.chunks import bounded
from floecat.worker.connections import OpenConnectors
from floecat.worker.control import ControlPlane
from floecat.worker.scopes import namespace_of
from floecat.worker.specs import view_spec
from floecat.worker.submissions import Submission, spooled
from floecat.worker.table_plans import TablePlan
from floecat.worker.work import Kind, LeasedWork

_TableRequest = messages.SubmitLeasedPlanTableResultRequest
_ViewRequest = messages.SubmitLeasedPlanViewResultRequest


class RemoteDefaultReconcileExecutor:
    """Runs PLAN_TABLE and PLAN_VIEW."""

    executor_id: Final = "remote-default"
    kinds: Final[frozenset[Kind]] = frozenset({PLAN_TABLE, PLAN_VIEW})

    def __init__(self, control: ControlPlane, connectors: OpenConnectors, blobs: BlobStore) -> None:
        self._control = control
        self._connectors = connectors
        self._blobs = blobs

    def execute(self, work: LeasedWork) -> Submission[Any]:
        """Describe the table or view, and what of its history is wanted."""
        return self._plan_table(work) if work.job.kind == PLAN_TABLE else self._plan_view(work)

    def _plan_table(self, work: LeasedWork) -> Submission[_TableRequest]:
        given = self._control.fetch(
            work,
            self._control.stub.GetLeasedPlanTableInput,
            messages.GetLeasedPlanTableInputRequest(lease=work.lease),
        )
        known = self._known(given)
        work.step("input", known_snapshots=len(known))
        with self._connectors.lent(given.connector) as connector:
            work.step("opened")
            plan = TablePlan(work, given, known, connector)
            chunks = bounded(plan.parts())
            with AskedFor("table", given.relation, connector, connector.list_tables).found():
                spool = spooled(
                    _TableRequest,
                    (_TableRequest(lease=work.lease, chunk=chunk) for chunk in chunks),
                )
        success = PlanResultSummary(
            result_id=work.result_id("success"),
            items_total=plan.captures,
            counters=ReconcileCounters(tables_scanned=1, snapshots_processed=plan.snapshots),
            message=f"{plan.snapshots} snapshots to record, {plan.captures} to capture",
        )
        closing = _TableRequest(lease=work.lease, success=success)
        return Submission(self._control.stub.SubmitLeasedPlanTableResult, spool, closing, (spool,))

    def _plan_view(self, work: LeasedWork) -> Submission[_ViewRequest]:
        given = self._control.fetch(
            work,
            self._control.stub.GetLeasedPlanViewInput,
            messages.GetLeasedPlanViewInputRequest(lease=work.lease),
        )
        work.step("input")
        source = given.relation.source
        with self._connectors.lent(given.connector) as connector:
            work.step("opened")
            with AskedFor("view", given.relation, connector, connector.list_views).found():
                described = connector.describe_view(namespace_of(source), source.name)
        work.step("described")
        chunk = PlanViewChunk(view=view_spec(given.connector, described))
        success = PlanResultSummary(
            result_id=work.result_id("success"),
            items_total=1,
            counters=ReconcileCounters(views_scanned=1),
        )
        return Submission(
            self._control.stub.SubmitLeasedPlanViewResult,
            (_ViewRequest(lease=work.lease, chunk=chunk),),
            _ViewRequest(lease=work.lease, success=success),
        )

    def _known(self, given: messages.GetLeasedPlanTableInputResponse) -> frozenset[int]:
        known = frozenset(given.known_snapshot_ids)
        if not given.HasField("known_snapshot_ids_blob"):
            return known
        blob = given.known_snapshot_ids_blob
        return known | decode_ids(self._blobs.read(BlobRef(blob.uri, blob.sha256, blob.size_bytes)))
