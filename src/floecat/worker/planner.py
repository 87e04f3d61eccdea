"""RemotePlannerReconcileExecutor: finds out which tables and views an upstream has."""

from collections.abc import Iterable, Iterator
from typing import Final

from ai.floedb.floecat.reconciler import executor_control_pb2 as messages
from ai.floedb.floecat.reconciler.executor_control_pb2 import PlanConnectorChunk, PlanResultSummary
from ai.floedb.floecat.reconciler.reconciler_pb2 import (
    CAPTURE_ONLY,
    PLAN_CONNECTOR,
    ReconcileCounters,
)
from floecat.worker.chunks import bounded
from floecat.worker.connections import OpenConnectors
from floecat.worker.control import ControlPlane
from floecat.worker.scopes import Scope
from floecat.worker.submissions import Submission, spooled
from floecat.worker.walking import Walk
from floecat.worker.work import Kind, LeasedWork

_Request = messages.SubmitLeasedPlanConnectorResultRequest


class RemotePlannerReconcileExecutor:
    """Runs PLAN_CONNECTOR. It says what there is; the control plane says where that goes."""

    executor_id: Final = "remote-planner"
    kinds: Final[frozenset[Kind]] = frozenset({PLAN_CONNECTOR})

    def __init__(self, control: ControlPlane, connectors: OpenConnectors) -> None:
        self._control = control
        self._connectors = connectors

    def execute(self, work: LeasedWork) -> Submission[_Request]:
        """Walk through the upstream."""
        given = self._control.fetch(
            work,
            self._control.stub.GetLeasedPlanConnectorInput,
            messages.GetLeasedPlanConnectorInputRequest(lease=work.lease),
        )
        work.step("input")
        found = _Tally(work)
        with self._connectors.lent(given.connector) as connector:
            work.step("opened")
            walk = Walk(
                connector=connector,
                scope=Scope.of(given.scope, given.exclude),
                work=work,
                with_views=work.job.mode != CAPTURE_ONLY,
                with_revisions=work.job.mode != CAPTURE_ONLY,
            )
            chunks = bounded(found.counted(walk.parts()))
            spool = spooled(_Request, (_Request(lease=work.lease, chunk=chunk) for chunk in chunks))
        success = PlanResultSummary(
            result_id=work.result_id("success"),
            items_total=found.relations,
            counters=ReconcileCounters(errors=found.failures),
            message=found.message,
        )
        closing = _Request(lease=work.lease, success=success)
        method = self._control.stub.SubmitLeasedPlanConnectorResult
        return Submission(method, spool, closing, (spool,))


class _Tally:
    """Counts what goes by, and says so now and then."""

    def __init__(self, work: LeasedWork) -> None:
        self._work = work
        self.tables = 0
        self.views = 0
        self.failures = 0

    @property
    def relations(self) -> int:
        return self.tables + self.views

    @property
    def message(self) -> str:
        tables = "1 table" if self.tables == 1 else f"{self.tables} tables"
        views = "1 view" if self.views == 1 else f"{self.views} views"
        return f"{tables} and {views} found"

    def counted(self, parts: Iterable[PlanConnectorChunk]) -> Iterator[PlanConnectorChunk]:
        for part in parts:
            self.tables += len(part.tables)
            self.views += len(part.views)
            self.failures += len(part.failures)
            self._work.tell(self.message)
            self._work.require_live()
            yield part
