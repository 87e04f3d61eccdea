"""Accepting a table's plan: its metadata, its history, and the snapshots to capture."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

from ai.floedb.floecat.catalog.snapshot_pb2 import SnapshotSpec
from ai.floedb.floecat.catalog.table_pb2 import ColumnId, Table, TableSpec
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileCounters, ReconcileJobTarget
from ai.floedb.floecat.reconciler.stored_pb2 import JobTask, PlannedJob, Sighting
from floecat.catalog.destinations import Destinations
from floecat.catalog.history import SnapshotHistory
from floecat.catalog.mirroring import REVISION, Mirroring
from floecat.catalog.records import CatalogStores
from floecat.reconciler.assignments import Assignment, Assignments
from floecat.reconciler.jobs import Obsolete, Outcome, Planned, Report, Succeeded
from floecat.reconciler.results.columns import moment_of_spec, numbered_columns
from floecat.reconciler.results.receiving import Received
from floecat.reconciler.results.recorded import RecordedSnapshots
from floecat.reconciler.results.table_contents import TableContents
from floecat.reconciler.retention import kept
from floecat.reconciler.selection import mirrored
from floecat.reconciler.sightings import of_columns, of_snapshots
from floecat.reconciler.store.plans import Plans


class TablePlans:
    """Accepts plans of tables."""

    def __init__(self, assignments: Assignments, plans: Plans) -> None:
        self._assignments = assignments
        self._plans = plans

    def accept(self, received: Received) -> tuple[Outcome, Report]:
        """Bring the destination up to date; its snapshots to capture are the children."""
        assignment = self._assignments.get(received.lease, messages.PLAN_TABLE)
        self._assignments.require_connector(assignment)
        contents = TableContents(received.pieces)
        update = _Update(assignment, self._assignments.fenced(received.lease), contents)
        if assignment.run.mode == messages.CAPTURE_ONLY:
            table, counters = update.existing(), ReconcileCounters(tables_scanned=1)
        else:
            table, counters = update.bring_up_to_date()
        if table is None:
            return Obsolete("there is no destination table to capture for"), Report()
        report = Report(counters=counters, sightings=update.sightings(table))
        if assignment.run.mode == messages.METADATA_ONLY or not contents.captures:
            return Succeeded(received.closing.message), report
        name = f"plans/{received.lease.account_id}/{received.lease.job_id}/{uuid4().hex}"
        plan, total = self._plans.write(name, _children(assignment, table.resource_id, contents))
        return Planned(plan, total, message=received.closing.message), report


@dataclass
class _Update:
    """A destination while it is brought up to date."""

    assignment: Assignment
    stores: CatalogStores
    contents: TableContents

    def __post_init__(self) -> None:
        connector_id = self.assignment.job.connector_id
        self._mirroring = Mirroring(self.stores, self.assignment.caller, connector_id)
        self._source = self.assignment.task.relation.source
        self._recorded = RecordedSnapshots(self.stores, self.assignment.job)

    def existing(self) -> Table | None:
        """The destination as it is, if it exists."""
        stored = self._mirroring.mirrors.find_table(self._source)
        return stored.message if stored else None

    def sightings(self, table: Table) -> list[Sighting]:
        """Whether the table has what the run names."""
        run = self.assignment.run
        history = SnapshotHistory(self.stores, self.assignment.caller, table.resource_id.id)
        sent = {snapshot.snapshot_id for snapshot in self.contents.snapshots()}
        return [
            *of_columns(run, table.column_ids),
            *of_snapshots(
                run,
                lambda wanted: wanted in sent or history.has(wanted),
                lambda: [*self.contents.upstream_ids, *(found for _, found in history.moments())],
            ),
        ]

    def bring_up_to_date(self) -> tuple[Table, ReconcileCounters]:
        """Metadata and history; what points into the history is written behind it."""
        spec = self._wanted()
        stored = self._mirroring.mirrors.find_table(self._source)
        before = stored.message if stored else self._create(spec)
        history = SnapshotHistory(self.stores, self.assignment.caller, before.resource_id.id)
        numbering = numbered_columns(self.stores, before, self.contents)
        if numbering.known != list(before.column_ids):
            self._mirroring.put_columns(self._source, numbering.known)
        dropped = self._update_history(history, before, numbering.by_snapshot)
        recorded = self._recorded.count()
        _keep_current(spec, before, history)
        final = self._mirroring.put_table(self._source, spec, self.contents.columns)
        changed = stored is None or final.changed or recorded or dropped
        counters = ReconcileCounters(
            tables_scanned=1, tables_changed=int(bool(changed)), snapshots_processed=recorded
        )
        return final.relation, counters

    def _create(self, spec: TableSpec) -> Table:
        """A history needs a table to belong to."""
        first = TableSpec()
        first.CopyFrom(spec)
        first.ClearField("current_snapshot_id")
        first.upstream.properties.pop(REVISION, None)
        return self._mirroring.put_table(self._source, first, self.contents.columns).relation

    def _update_history(
        self,
        history: SnapshotHistory,
        before: Table,
        columns: Mapping[int, Sequence[ColumnId]],
    ) -> int:
        """Record what is new; how many snapshots had to go."""
        run, contents = self.assignment.run, self.contents
        limit = run.keep_snapshots if run.HasField("keep_snapshots") else None
        constraints = contents.constraints()
        if limit is None and not contents.is_complete:
            snapshots = self._snapshots(before.resource_id)
            history.record(snapshots, constraints, self._recorded.more, columns)
            return 0
        known = dict(history.moments())
        sent = {moment_of_spec(snapshot): snapshot.snapshot_id for snapshot in contents.snapshots()}
        ordered = [snapshot_id for _, snapshot_id in sorted((known | sent).items())]
        upstream = contents.upstream_ids if contents.is_complete else None
        current = contents.spec.current_snapshot_id
        wanted = kept(ordered, upstream, limit, [current] if current in ordered else [])
        new = (s for s in self._snapshots(before.resource_id) if s.snapshot_id in wanted)
        history.record(new, constraints, self._recorded.more, columns)
        return history.drop(one for one in known.values() if one not in wanted)

    def _wanted(self) -> TableSpec:
        relation = self.assignment.task.relation
        spec = self.contents.spec
        catalog_id = relation.destination_catalog_id
        destinations = Destinations(self.stores, self.assignment.caller)
        path = list(relation.destination_namespace_path)
        spec.catalog_id.CopyFrom(catalog_id)
        spec.namespace_id.CopyFrom(destinations.namespace(catalog_id.id, path))
        spec.display_name = relation.destination_name
        spec.upstream.connector_id.CopyFrom(self.assignment.task.target.connector_id)
        spec.upstream.properties.update(self._mirrored(relation.revision))
        return spec

    def _mirrored(self, revision: str) -> Mapping[str, str]:
        """What is known to be mirrored once this is done: never less than before."""
        stored = self._mirroring.mirrors.find_table(self._source)
        before = stored.message.upstream.properties if stored else {}
        return mirrored(before, revision, self.assignment.run.scope.snapshots)

    def _snapshots(self, table_id: ResourceId) -> Iterator[SnapshotSpec]:
        for snapshot in self.contents.snapshots():
            snapshot.table_id.CopyFrom(table_id)
            yield snapshot


def _keep_current(spec: TableSpec, before: Table, history: SnapshotHistory) -> None:
    """What wasn't selected isn't here, and what isn't here can't be current here."""
    if not spec.HasField("current_snapshot_id") or history.has(spec.current_snapshot_id):
        return
    spec.ClearField("current_snapshot_id")
    if before.HasField("current_snapshot_id") and history.has(before.current_snapshot_id):
        spec.current_snapshot_id = before.current_snapshot_id


def _children(
    assignment: Assignment, table_id: ResourceId, contents: TableContents
) -> Iterator[PlannedJob]:
    """A job for every snapshot that is to be captured, newest first, one after another."""
    for snapshot_id in dict.fromkeys(contents.captures):
        target = ReconcileJobTarget(
            connector_id=assignment.task.target.connector_id,
            source=assignment.task.relation.source,
            table_id=table_id,
            snapshot_id=snapshot_id,
        )
        yield PlannedJob(
            kind=messages.PLAN_SNAPSHOT,
            lane=f"table-{table_id.id}",
            task=JobTask(target=target).SerializeToString(),
        )
