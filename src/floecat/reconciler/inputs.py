"""What a worker needs for a leased job: the connector, what is known, and what is wanted."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from ai.floedb.floecat.catalog.snapshot_pb2 import Snapshot
from ai.floedb.floecat.catalog.table_pb2 import Table, UpstreamRef
from ai.floedb.floecat.catalog.view_pb2 import View
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.connector.connector_pb2 import Connector
from ai.floedb.floecat.reconciler import executor_control_pb2 as wire
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.reconciler_pb2 import CaptureScope, NamespacePath, SourceRelation
from floecat.artifacts.identifiers import encode_ids
from floecat.artifacts.payloads import reference
from floecat.catalog.codec import Stored
from floecat.catalog.connections import Connections
from floecat.catalog.history import SnapshotHistory
from floecat.catalog.mirrors import Mirrors
from floecat.catalog.numbering import columns_as_of
from floecat.catalog.records import CatalogStores, Records
from floecat.catalog.timeline import SnapshotIndex
from floecat.connectors.spi.mapper import ConnectorConfigMapper
from floecat.errors import NotFoundError
from floecat.reconciler.assignments import Assignment, Assignments
from floecat.reconciler.finals import FinalSnapshots
from floecat.reconciler.group_results import capture_prefix
from floecat.reconciler.jobs import JobLease
from floecat.reconciler.snapshot_plans import SnapshotPlans
from floecat.reconciler.store.port import ReconcileJobStore

_INLINE_IDS: Final = 10_000


@dataclass(frozen=True, slots=True)
class PlanLimits:
    """How large a file group may be, and the sketches of a table's files."""

    max_files: int
    max_bytes: int
    sketch_budget: int


class LeasedInputs:
    """Answers what to do, for live leases only."""

    def __init__(
        self,
        assignments: Assignments,
        store: ReconcileJobStore,
        stores: CatalogStores,
        connections: Connections,
        limits: PlanLimits,
    ) -> None:
        self._assignments = assignments
        self._store = store
        self._stores = stores
        self._connections = connections
        self._limits = limits
        self._connectors = Records(stores, common_pb2.RK_CONNECTOR, Connector)
        self._tables = Records(stores, common_pb2.RK_TABLE, Table)
        self._views = Records(stores, common_pb2.RK_VIEW, View)
        self._plans = SnapshotPlans(stores.blobs)
        self._covered = FinalSnapshots(stores.kv)

    def for_connector(self, lease: JobLease) -> wire.GetLeasedPlanConnectorInputResponse:
        """What to look for upstream."""
        assignment = self._assignments.get(lease, messages.PLAN_CONNECTOR)
        connector = self._connector(assignment)
        return wire.GetLeasedPlanConnectorInputResponse(
            connector=self._leased(assignment, connector),
            scope=self._scope(assignment, connector),
            destination_catalog_id=connector.destination.catalog_id,
            destination_namespace_path=connector.destination.namespace_path,
            capture_policy=assignment.run.capture_policy,
            exclude=connector.source.exclude,
        )

    def for_table(self, lease: JobLease) -> wire.GetLeasedPlanTableInputResponse:
        """What to look at of a table."""
        assignment = self._assignments.get(lease, messages.PLAN_TABLE)
        relation = assignment.task.relation
        response = wire.GetLeasedPlanTableInputResponse(
            connector=self._leased(assignment, self._connector(assignment)),
            relation=relation,
            snapshots=assignment.run.scope.snapshots,
            capture_policy=assignment.run.capture_policy,
        )
        mirrors = Mirrors(self._stores, assignment.caller, assignment.job.connector_id)
        stored = mirrors.find_table(relation.source)
        if stored is not None:
            asked = _asked_snapshots(assignment, stored.message.resource_id.id)
            if asked:
                response.snapshots.ids.snapshot_ids[:] = asked
            response.table.CopyFrom(stored.message)
            self._add_history(assignment, stored.message, response)
        return response

    def for_view(self, lease: JobLease) -> wire.GetLeasedPlanViewInputResponse:
        """What to look at of a view."""
        assignment = self._assignments.get(lease, messages.PLAN_VIEW)
        response = wire.GetLeasedPlanViewInputResponse(
            connector=self._leased(assignment, self._connector(assignment)),
            relation=assignment.task.relation,
        )
        mirrors = Mirrors(self._stores, assignment.caller, assignment.job.connector_id)
        stored = mirrors.find_view(assignment.task.relation.source)
        if stored is not None:
            response.view.CopyFrom(stored.message)
        return response

    def for_snapshot(self, lease: JobLease) -> wire.GetLeasedPlanSnapshotInputResponse:
        """Which snapshot to plan."""
        assignment = self._assignments.get(lease, messages.PLAN_SNAPSHOT)
        target = assignment.task.target
        table = self._table(assignment)
        snapshot = self._snapshot(assignment).message
        covered = self._covered.find(lease.account_id, snapshot)
        return wire.GetLeasedPlanSnapshotInputResponse(
            connector=self._leased(assignment, self._connector(assignment)),
            source=target.source,
            table_id=target.table_id,
            snapshot=snapshot,
            column_ids=columns_as_of(snapshot, table.column_ids),
            capture_policy=assignment.run.capture_policy,
            covered_index=covered.index if covered else None,
            covered_segments=covered.segments if covered else None,
            max_files_per_group=self._limits.max_files,
            max_bytes_per_group=self._limits.max_bytes,
            sketch_budget_bytes=self._limits.sketch_budget,
        )

    def for_file_group(self, lease: JobLease) -> wire.GetLeasedFileGroupExecutionResponse:
        """Which files to read."""
        assignment = self._assignments.get(lease, messages.EXEC_FILE_GROUP)
        target = assignment.task.target
        parent = self._store.get(lease.account_id, assignment.job.ancestors[0])
        planned = self._plans.group(parent.payload, assignment.task)
        return wire.GetLeasedFileGroupExecutionResponse(
            connector=self._leased(assignment, self._connector(assignment)),
            source=target.source,
            table_id=target.table_id,
            snapshot_id=target.snapshot_id,
            plan_id=planned.plan.plan_id,
            group=planned.group,
            plan=parent.payload,
            capture_policy=planned.plan.policy,
            schema_json=planned.plan.schema_json,
            column_ids=planned.plan.column_ids,
            blob_prefix=capture_prefix(lease.account_id, lease.job_id, lease.epoch),
        )

    def _connector(self, assignment: Assignment) -> Connector:
        return self._connectors.get(assignment.job.account_id, assignment.job.connector_id).message

    def _leased(self, assignment: Assignment, connector: Connector) -> wire.LeasedConnector:
        config = self._connections.config_of(assignment.job.account_id, connector)
        return ConnectorConfigMapper().to_leased(config)

    def _scope(self, assignment: Assignment, connector: Connector) -> CaptureScope:
        """What was asked for; without anything named, what the connector is limited to."""
        scope = CaptureScope()
        scope.CopyFrom(assignment.run.scope)
        scope.tables.extend(self._named_tables(assignment, scope))
        scope.views.extend(self._named_views(assignment, scope))
        by_id = scope.table_ids or scope.view_ids or scope.stats_requests
        if by_id and not (scope.namespaces or scope.tables or scope.views):
            # Nothing named would mean everything.
            raise NotFoundError("none of the relations that were named is mirrored from there")
        if not (by_id or scope.namespaces or scope.tables or scope.views):
            scope.namespaces.extend(connector.source.namespaces)
            scope.tables.extend(connector.source.tables)
            scope.views.extend(connector.source.views)
        return scope

    def _named_tables(self, assignment: Assignment, scope: CaptureScope) -> list[SourceRelation]:
        """Tables named by id, as the upstream names them. One that is gone needs no work."""
        ids = [*scope.table_ids, *(request.table_id for request in scope.stats_requests)]
        wanted = list(dict.fromkeys(one.id for one in ids))
        found = self._tables.find_live(assignment.job.account_id, wanted)
        return _sources(assignment, [table.upstream for table in found if table is not None])

    def _named_views(self, assignment: Assignment, scope: CaptureScope) -> list[SourceRelation]:
        wanted = [one.id for one in scope.view_ids]
        found = self._views.find_live(assignment.job.account_id, wanted)
        return _sources(assignment, [view.upstream for view in found if view is not None])

    def _table(self, assignment: Assignment) -> Table:
        table_id = assignment.task.target.table_id.id
        return self._tables.get(assignment.job.account_id, table_id).message

    def _snapshot(self, assignment: Assignment) -> Stored[Snapshot]:
        target = assignment.task.target
        account, table_id = assignment.job.account_id, target.table_id.id
        found = SnapshotIndex(self._stores).find(account, table_id, target.snapshot_id)
        if found is None:
            raise NotFoundError(
                f"snapshot {target.snapshot_id} isn't there any more", reason="SNAPSHOT_NOT_FOUND"
            )
        return found

    def _add_history(
        self,
        assignment: Assignment,
        table: Table,
        response: wire.GetLeasedPlanTableInputResponse,
    ) -> None:
        account, table_id = assignment.job.account_id, table.resource_id.id
        history = SnapshotHistory(self._stores, assignment.caller, table_id)
        known = [snapshot_id for _, snapshot_id in history.moments()]
        if len(known) <= _INLINE_IDS:
            response.known_snapshot_ids.extend(known)
        else:
            name = f"results/{account}/{assignment.job.job_id}/{uuid4().hex}"
            with self._stores.blobs.writer(name) as writer:
                writer.write(encode_ids(known))
            response.known_snapshot_ids_blob.CopyFrom(reference(writer.ref))
        if assignment.run.mode != messages.METADATA_ONLY:
            response.finalized_snapshot_ids.extend(history.finalized_ids())


def _asked_snapshots(assignment: Assignment, table_id: str) -> list[int]:
    """Snapshots of a table that statistics were asked of, one by one."""
    asked = (
        request.snapshot_id
        for request in assignment.run.scope.stats_requests
        if request.table_id.id == table_id
    )
    return list(dict.fromkeys(asked))


def _sources(assignment: Assignment, upstreams: Iterable[UpstreamRef]) -> list[SourceRelation]:
    """Relations of this connector, as their upstream names them."""
    return [
        SourceRelation(
            namespace=NamespacePath(segments=upstream.namespace_path),
            name=upstream.table_display_name,
        )
        for upstream in upstreams
        if upstream.connector_id.id == assignment.job.connector_id
    ]
