"""RemoteSnapshotPlanningReconcileExecutor: freezes which files of a snapshot are to be read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Final

from ai.floedb.floecat.catalog.table_pb2 import ColumnId
from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.execution.capture_pb2 import PlannedFile, SnapshotPlan, UpstreamNdv
from ai.floedb.floecat.execution.scan_pb2 import SFC_POSITION_DELETES, ScanFile
from ai.floedb.floecat.reconciler import executor_control_pb2 as messages
from ai.floedb.floecat.reconciler.executor_control_pb2 import (
    GetLeasedPlanSnapshotInputResponse,
    PlanResultSummary,
    PlanSnapshotChunk,
)
from ai.floedb.floecat.reconciler.reconciler_pb2 import PLAN_SNAPSHOT, ReconcileCounters
from floecat.artifacts.coverage import CoverageHash
from floecat.artifacts.index.covered import (
    CoveredDeletes,
    CoveredFiles,
    IdentityKey,
    identity_key,
    identity_of,
)
from floecat.artifacts.index.reading import ScanIndexFile
from floecat.artifacts.opened import OpenedSegments
from floecat.capture.policies import file_policy
from floecat.connectors.spi.columns import ColumnScope, NumberedColumn
from floecat.connectors.spi.ndv import ColumnNdv
from floecat.connectors.spi.records import ScanBundle
from floecat.storage.blobs.port import BlobStore
from floecat.types.messages import to_message
from floecat.worker.captures import PARQUET, column_scope
from floecat.worker.chunks import bounded
from floecat.worker.connections import OpenConnectors
from floecat.worker.control import ControlPlane
from floecat.worker.grouping import GroupLimits, GroupSums, grouped
from floecat.worker.reuse import Reuse
from floecat.worker.scopes import namespace_of
from floecat.worker.spool import Spool
from floecat.worker.submissions import Submission
from floecat.worker.work import Kind, LeasedWork

_Request = messages.SubmitLeasedPlanSnapshotResultRequest
_LOOK_EVERY: Final = 1000


class RemoteSnapshotPlanningReconcileExecutor:
    """Runs PLAN_SNAPSHOT."""

    executor_id: Final = "remote-snapshot-planner"
    kinds: Final[frozenset[Kind]] = frozenset({PLAN_SNAPSHOT})

    def __init__(self, control: ControlPlane, connectors: OpenConnectors, blobs: BlobStore) -> None:
        self._control = control
        self._connectors = connectors
        self._blobs = blobs

    def execute(self, work: LeasedWork) -> Submission[_Request]:
        """List the snapshot's files, and group them."""
        given = self._control.fetch(
            work,
            self._control.stub.GetLeasedPlanSnapshotInput,
            messages.GetLeasedPlanSnapshotInputRequest(lease=work.lease),
        )
        work.step("input")
        namespace, name = namespace_of(given.source), given.source.name
        with self._connectors.lent(given.connector) as connector:
            work.step("opened")
            bundle = connector.plan_snapshot_files(namespace, name, given.snapshot.snapshot_id)
            known = self._known(given, bundle)
            listed = _Listed.of(bundle, work, known)
            distinct = connector.distinct_values(namespace, name, given.snapshot.snapshot_id)
        work.step("planned", files=listed.files_total, reused=listed.reused_total)
        plan = SnapshotPlanMessages(work, given, bundle, listed, known.index, distinct)
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

    def _known(self, given: GetLeasedPlanSnapshotInputResponse, bundle: ScanBundle) -> "_Known":
        """What earlier captures know, if there was one."""
        if not given.covered_index.uri:
            return _Known()
        scope = column_scope(given.capture_policy, given.column_ids, lambda: bundle.columns)
        policy = file_policy(given.capture_policy, scope.selected(bundle.columns))
        index = ScanIndexFile.open(self._blobs, given.covered_index)
        if index.index.source_ids != _has_source_ids(bundle):
            return _Known()  # what it knows it knows under other numbers
        types = {c.column_id: to_message(c.column.logical_type) for c in _columns(given, bundle)}
        reuse = Reuse(CoveredFiles(index), OpenedSegments(self._blobs), policy, types)
        return _Known(given.covered_index, reuse, CoveredDeletes(index))


def _columns(given: GetLeasedPlanSnapshotInputResponse, bundle: ScanBundle) -> list[NumberedColumn]:
    """The columns of the snapshot's own schema: others that files still have are gone."""
    numbers = {tuple(column.path): column.column_id for column in given.column_ids}
    return ColumnScope((), numbers).selected(bundle.columns)


def _has_source_ids(bundle: ScanBundle) -> bool:
    """Whether the format numbers its columns. Some begin to when a table is upgraded."""
    return any(column.source_id is not None for column in bundle.columns)


def _said(listed: "_Listed", groups: int) -> str:
    again = f", {listed.reused_total} known already" if listed.reused_total else ""
    deletes = f", and {len(listed.deletes)} delete files to read" if listed.deletes else ""
    return f"{listed.files_total} files in {groups} groups{again}{deletes}"


@dataclass(frozen=True, slots=True)
class _Known:
    """What earlier captures know, and the index that says so."""

    index: BlobReference | None = None
    files: Reuse | None = None
    deletes: CoveredDeletes | None = None


@dataclass(frozen=True, slots=True)
class _Listed:
    """The files of a snapshot, each kept once, on disk when there are many."""

    files: Spool[PlannedFile]
    """To be read, all of it or some columns."""
    reused: Spool[PlannedFile]
    """Known already."""
    deletes: list[PlannedFile]
    """Position deletes to be read; as many as the bundle has in memory at most."""
    sums: GroupSums
    """Of what is to be read."""
    files_total: int
    reused_total: int
    coverage_sha256: str

    @classmethod
    def of(cls, bundle: ScanBundle, work: LeasedWork, known: _Known) -> "_Listed":
        files, reused = Spool(PlannedFile), Spool(PlannedFile)
        coverage = CoverageHash()
        applied: set[int] = set()
        size = again = 0
        try:
            for file in bundle.data_files:
                planned = _planned(file)
                coverage.add(planned.identity)
                applied.update(file.delete_file_indexes)
                if known.files is not None and known.files.apply(planned):
                    reused.write(planned)
                    again += 1
                else:
                    files.write(planned)
                    size += file.file_size_bytes
                if len(coverage) % _LOOK_EVERY == 0:
                    work.tell(f"{len(coverage)} files listed")
                    work.require_live()
            deletes = _deletes_to_read(bundle, applied, known.deletes)
        except BaseException:
            files.close()
            reused.close()
            raise
        total = len(coverage)
        size += sum(file.identity.size_bytes for file in deletes)
        return cls(
            files=files,
            reused=reused,
            deletes=deletes,
            sums=GroupSums(total - again + len(deletes), size),
            files_total=total,
            reused_total=again,
            coverage_sha256=coverage.hexdigest(),
        )


def _deletes_to_read(
    bundle: ScanBundle, applied: set[int], known: CoveredDeletes | None
) -> list[PlannedFile]:
    """The position deletes that apply to some file, and whose positions nobody knows yet.

    Those that aren't parquet are left out: how many rows they have is all that is known of them.
    """
    found: dict[IdentityKey, PlannedFile] = {}
    for number in sorted(applied.intersection(range(len(bundle.delete_files)))):
        planned = _planned(bundle.delete_files[number])
        file = planned.file
        is_read = file.content == SFC_POSITION_DELETES and file.file_format.lower() in PARQUET
        if is_read and (known is None or known.find(planned.identity) is None):
            found[identity_key(planned.identity)] = planned
    return list(found.values())


class SnapshotPlanMessages:
    """The messages of a plan, made anew each time from the files that were listed once."""

    def __init__(
        self,
        work: LeasedWork,
        given: GetLeasedPlanSnapshotInputResponse,
        bundle: ScanBundle,
        listed: _Listed,
        base_index: BlobReference | None,
        distinct: Mapping[int, ColumnNdv],
    ) -> None:
        self._work = work
        self._given = given
        self._bundle = bundle
        self._listed = listed
        self._base_index = base_index
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
        for group in grouped(to_read, self._listed.sums, self._limits):
            yield PlanSnapshotChunk(groups=[group])

    def _header(self) -> SnapshotPlan:
        columns = _columns(self._given, self._bundle)
        return SnapshotPlan(
            plan_id=self.plan_id,
            table_id=self._given.table_id,
            snapshot_id=self._given.snapshot.snapshot_id,
            policy=self._given.capture_policy,
            schema_json=self._bundle.schema_json,
            column_ids=[ColumnId(path=c.column.path, column_id=c.column_id) for c in columns],
            files_total=self._listed.files_total,
            coverage_sha256=self._listed.coverage_sha256,
            base_index=self._base_index,
            upstream_ndv=filter(None, map(self._upstream_ndv, columns)),
            source_ids=_has_source_ids(self._bundle),
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


def _planned(file: ScanFile) -> PlannedFile:
    return PlannedFile(file=file, identity=identity_of(file))
