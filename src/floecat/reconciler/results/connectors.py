"""Accepting a connector's plan: where relations go, which are as they were, and which are gone."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

from ai.floedb.floecat.catalog.table_pb2 import Table
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.connector.connector_pb2 import Connector
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.executor_control_pb2 import PlanConnectorChunk, PlannedRelation
from ai.floedb.floecat.reconciler.reconciler_pb2 import (
    JobFailure,
    ReconcileCounters,
    ReconcileJobTarget,
    SourceRelation,
)
from ai.floedb.floecat.reconciler.stored_pb2 import JobTask, PlannedJob, Sighting
from floecat.catalog.binding import Bound, ConnectorBinding
from floecat.catalog.history import SnapshotHistory
from floecat.catalog.mirrors import Mirrors
from floecat.catalog.records import CatalogStores, Records
from floecat.errors import InvalidArgumentError
from floecat.reconciler.assignments import Assignment, Assignments
from floecat.reconciler.departures import Departures
from floecat.reconciler.jobs import (
    Kind,
    Outcome,
    Planned,
    Report,
    Succeeded,
    TerminalFailure,
)
from floecat.reconciler.results.receiving import Received
from floecat.reconciler.selection import is_mirrored
from floecat.reconciler.sightings import merge, of_columns
from floecat.reconciler.store.plans import Plans
from floecat.reconciler.store.sums import add

_SHOWN: Final = 5


class ConnectorPlans:
    """Accepts plans of connectors."""

    def __init__(self, assignments: Assignments, plans: Plans) -> None:
        self._assignments = assignments
        self._plans = plans

    def accept(self, received: Received) -> tuple[Outcome, Report]:
        """One commit makes the children, however many there are."""
        assignment = self._assignments.get(received.lease, messages.PLAN_CONNECTOR)
        stores = self._assignments.fenced(received.lease)
        accepted = _Accepted(assignment, stores)
        name = f"plans/{received.lease.account_id}/{received.lease.job_id}/{uuid4().hex}"
        plan, total = self._plans.write(name, accepted.children(received))
        if accepted.submitted != received.closing.items_total:
            raise InvalidArgumentError(
                f"items_total says {received.closing.items_total}, but "
                f"{accepted.submitted} relations were sent"
            )
        accepted.mark_departures()
        report = accepted.report()
        if accepted.failures and not total and not accepted.left_alone:
            return TerminalFailure(accepted.failures[0].message), report
        message = accepted.message(received.closing.message)
        if not total:
            return Succeeded(message or "nothing has changed"), report
        return Planned(plan, total, message=message, left_alone=accepted.left_alone), report


@dataclass
class _Accepted:
    """A plan while it is accepted."""

    assignment: Assignment
    stores: CatalogStores
    counters: ReconcileCounters = field(default_factory=ReconcileCounters)
    failures: list[JobFailure] = field(default_factory=list)
    submitted: int = 0
    sightings: dict[str, Sighting] = field(default_factory=dict)
    unmirrored: list[str] = field(default_factory=list)
    """Tables that were named, and that capture doesn't make."""

    def __post_init__(self) -> None:
        caller = self.assignment.caller
        self._connector_id = self.assignment.job.connector_id
        connectors = Records(self.stores, common_pb2.RK_CONNECTOR, Connector)
        connector = connectors.get(caller.account_id, self._connector_id).message
        self._only_name = connector.destination.table_display_name
        self._bound: Bound = ConnectorBinding(self.stores, caller).bind(self._connector_id)
        self._mirrors = Mirrors(self.stores, caller, self._connector_id)
        self._departures = Departures(self.stores, caller, self._connector_id)
        scope = self.assignment.run.scope
        self._named = {_key(source) for source in (*scope.tables, *scope.views)}

    @property
    def left_alone(self) -> int:
        """Tables that are as they should be."""
        return self.counters.tables_scanned

    def report(self) -> Report:
        """What comes with the plan."""
        return Report(
            counters=self.counters,
            failures=self.failures,
            sightings=list(self.sightings.values()),
        )

    def message(self, told: str) -> str:
        """What the planner says, and what capture leaves out though it was named."""
        if not self.unmirrored:
            return told
        names = ", ".join(self.unmirrored[:_SHOWN])
        more = " …" if len(self.unmirrored) > _SHOWN else ""
        return f"not mirrored, so there is nothing to capture for: {names}{more}"

    def children(self, received: Received) -> Iterator[PlannedJob]:
        """A job for everything that has to be looked at."""
        for frame in received.pieces.frames():
            chunk = PlanConnectorChunk.FromString(frame.content)
            self.failures.extend(chunk.failures)
            self.counters.errors += len(chunk.failures)
            self.submitted += len(chunk.tables) + len(chunk.views)
            yield from self._tables(chunk.tables)
            yield from self._views(chunk.views)

    def mark_departures(self) -> None:
        """Whoever lists everything has seen all there is: the rest is gone, full run or not."""
        scope = self.assignment.run.scope
        by_name = scope.namespaces or scope.tables or scope.views
        narrowed = by_name or scope.table_ids or scope.view_ids or scope.stats_requests
        complete = not narrowed and not self.failures
        if complete and self.assignment.run.mode != messages.CAPTURE_ONLY:
            self._departures.mark()

    def _tables(self, relations: Sequence[PlannedRelation]) -> Iterator[PlannedJob]:
        found = self._mirrors.find_tables([relation.source for relation in relations])
        for relation, table in zip(relations, found, strict=True):
            self._departures.seen(common_pb2.RK_TABLE, relation.source)
            if table is None and self.assignment.run.mode == messages.CAPTURE_ONLY:
                self._leave_out(relation.source)
            elif table is not None and self._is_done(table, relation):
                self.counters.tables_scanned += 1
                merge(self.sightings, of_columns(self.assignment.run, table.column_ids))
            else:
                yield self._child(messages.PLAN_TABLE, relation, table)

    def _leave_out(self, source: SourceRelation) -> None:
        """Capture never makes a table. That is worth a word if it was asked for."""
        if _key(source) in self._named:
            self.unmirrored.append(".".join([*source.namespace.segments, source.name]))
            add(self.counters, ReconcileCounters(jobs_total=1, jobs_skipped=1))

    def _views(self, relations: Sequence[PlannedRelation]) -> Iterator[PlannedJob]:
        for relation in relations:
            self._departures.seen(common_pb2.RK_VIEW, relation.source)
            yield self._child(messages.PLAN_VIEW, relation, None)

    def _is_done(self, table: Table, relation: PlannedRelation) -> bool:
        run = self.assignment.run
        if run.full_rescan:
            return False
        if run.mode == messages.CAPTURE_ONLY:
            # Only what is recorded can be captured, so nobody has to ask the upstream.
            one_by_one = run.scope.stats_requests or run.scope.snapshots.HasField("ids")
            return not one_by_one and self._is_captured(table)
        if not is_mirrored(table, relation.revision, run.scope.snapshots):
            return False
        return run.mode == messages.METADATA_ONLY or self._is_captured(table)

    def _is_captured(self, table: Table) -> bool:
        """Whether every wanted snapshot is final; all are recorded, or it wasn't mirrored."""
        history = SnapshotHistory(self.stores, self.assignment.caller, table.resource_id.id)
        recorded = [snapshot_id for _, snapshot_id in history.moments()]
        selection = self.assignment.run.scope.snapshots
        match selection.WhichOneof("which"):
            case "all" if selection.all:
                wanted = recorded
            case "latest_n":
                wanted = recorded[-selection.latest_n :]
            case _:
                current = table.HasField("current_snapshot_id")
                wanted = [table.current_snapshot_id] if current else []
        return set(wanted) <= set(history.finalized_ids())

    def _child(self, kind: Kind, found: PlannedRelation, table: Table | None) -> PlannedJob:
        relation = PlannedRelation(
            source=found.source,
            revision=found.revision,
            destination_catalog_id=self._bound.catalog_id,
            destination_namespace_path=[
                *self._bound.namespace_path,
                *found.source.namespace.segments,
            ],
            destination_name=self._only_name or found.source.name,
            named=self.assignment.run.mode != messages.CAPTURE_ONLY
            and _key(found.source) in self._named,
        )
        target = ReconcileJobTarget(
            connector_id=self.assignment.task.target.connector_id, source=found.source
        )
        if table is not None:
            relation.destination_id.CopyFrom(table.resource_id)
            target.table_id.CopyFrom(table.resource_id)
        task = JobTask(target=target, relation=relation)
        return PlannedJob(kind=kind, lane=_lane(relation), task=task.SerializeToString())


def _key(source: SourceRelation) -> tuple[str, ...]:
    return (*source.namespace.segments, source.name)


def _lane(relation: PlannedRelation) -> str:
    """One job at a time works on a destination, whoever sent it."""
    parts = [
        relation.destination_catalog_id.id,
        *relation.destination_namespace_path,
        relation.destination_name,
    ]
    return f"relation-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:32]}"
