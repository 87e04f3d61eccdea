"""Accepting a view's plan: created, or updated in place. There is no history of views."""

from ai.floedb.floecat.catalog.view_pb2 import ViewSpec
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.executor_control_pb2 import PlanViewChunk
from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileCounters
from floecat.catalog.destinations import Destinations
from floecat.catalog.mirroring import Mirroring
from floecat.errors import InvalidArgumentError
from floecat.reconciler.assignments import Assignments
from floecat.reconciler.jobs import Outcome, Report, Succeeded
from floecat.reconciler.results.receiving import Received


class ViewPlans:
    """Accepts plans of views."""

    def __init__(self, assignments: Assignments) -> None:
        self._assignments = assignments

    def accept(self, received: Received) -> tuple[Outcome, Report]:
        """Bring the destination up to date."""
        assignment = self._assignments.get(received.lease, messages.PLAN_VIEW)
        self._assignments.require_connector(assignment)
        stores = self._assignments.fenced(received.lease)
        relation = assignment.task.relation
        spec = _view_of(received)
        path = list(relation.destination_namespace_path)
        catalog_id = relation.destination_catalog_id
        destinations = Destinations(stores, assignment.caller)
        spec.catalog_id.CopyFrom(catalog_id)
        spec.namespace_id.CopyFrom(destinations.namespace(catalog_id.id, path))
        spec.display_name = relation.destination_name
        spec.upstream.connector_id.CopyFrom(assignment.task.target.connector_id)
        mirroring = Mirroring(stores, assignment.caller, assignment.job.connector_id)
        done = mirroring.put_view(relation.source, spec)
        counters = ReconcileCounters(views_scanned=1, views_changed=int(done.changed))
        return Succeeded(received.closing.message), Report(counters=counters)


def _view_of(received: Received) -> ViewSpec:
    chunks = [PlanViewChunk.FromString(frame.content) for frame in received.pieces.frames()]
    if len(chunks) != 1 or not chunks[0].HasField("view"):
        raise InvalidArgumentError("a view's result is one chunk, with the view in it")
    return chunks[0].view
