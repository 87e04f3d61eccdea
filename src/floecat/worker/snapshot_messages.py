"""The plan of one snapshot as it is sent: its header, and every file in its group."""

from collections.abc import Iterator, Mapping
from itertools import chain

from ai.floedb.floecat.catalog.table_pb2 import ColumnId
from ai.floedb.floecat.execution.capture_pb2 import SnapshotPlan, UpstreamNdv
from ai.floedb.floecat.reconciler.executor_control_pb2 import (
    GetLeasedPlanSnapshotInputResponse,
    PlanSnapshotChunk,
    SubmitLeasedPlanSnapshotResultRequest,
)
from floecat.connectors.spi.columns import NumberedColumn
from floecat.connectors.spi.ndv import ColumnNdv
from floecat.connectors.spi.records import ScanBundle
from floecat.types.messages import to_message
from floecat.worker.chunks import bounded
from floecat.worker.grouping import GroupLimits, grouped
from floecat.worker.snapshot_columns import columns_of, has_source_ids
from floecat.worker.snapshot_known import Known
from floecat.worker.snapshot_listing import Listed
from floecat.worker.work import LeasedWork

_Request = SubmitLeasedPlanSnapshotResultRequest


class SnapshotPlanMessages:
    """The messages of a plan, made anew each time from the files that were listed once."""

    def __init__(
        self,
        work: LeasedWork,
        given: GetLeasedPlanSnapshotInputResponse,
        bundle: ScanBundle,
        listed: Listed,
        known: Known,
        distinct: Mapping[int, ColumnNdv],
    ) -> None:
        self._work = work
        self._given = given
        self._bundle = bundle
        self._listed = listed
        self._known = known
        self._distinct = distinct
        self._limits = GroupLimits(
            max_files=given.max_files_per_group, max_bytes=given.max_bytes_per_group
        )
        self.plan_id = f"{work.lease.job_id.id}-{work.lease.epoch}"
        # Gone through once before it is sent: inside a call it is too late to find something wrong.
        self.groups = sum(len(request.chunk.groups) for request in self)

    def __iter__(self) -> Iterator[_Request]:
        for chunk in bounded(self._parts()):
            yield _Request(lease=self._work.lease, chunk=chunk)

    def _parts(self) -> Iterator[PlanSnapshotChunk]:
        yield PlanSnapshotChunk(plan=self._header())
        for file in self._bundle.delete_files:
            yield PlanSnapshotChunk(delete_files=[file])
        for known in self._listed.reused:
            yield PlanSnapshotChunk(reused_files=[known])
        to_read = chain(self._listed.files, self._listed.deletes)
        groups = grouped(to_read, self._listed.sums, self._limits)
        for group in self._known.budget.within(groups):
            yield PlanSnapshotChunk(groups=[group])

    def _header(self) -> SnapshotPlan:
        columns = columns_of(self._given, self._bundle)
        return SnapshotPlan(
            plan_id=self.plan_id,
            table_id=self._given.table_id,
            snapshot_id=self._given.snapshot.snapshot_id,
            policy=self._given.capture_policy,
            schema_json=self._bundle.schema_json,
            column_ids=[ColumnId(path=c.column.path, column_id=c.column_id) for c in columns],
            files_total=self._listed.files_total,
            coverage_sha256=self._listed.coverage_sha256,
            base_index=self._known.index,
            upstream_ndv=filter(None, map(self._upstream_ndv, columns)),
            source_ids=has_source_ids(self._bundle),
        )

    def _upstream_ndv(self, column: NumberedColumn) -> UpstreamNdv | None:
        """Without its sketch, which may be as large as a whole plan."""
        found = self._distinct.get(column.column.source_id or 0)
        if found is None:
            return None
        return UpstreamNdv(
            column_id=column.column_id,
            logical_type=to_message(column.column.logical_type),
            ndv=found.ndv,
        )
