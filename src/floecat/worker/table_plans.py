"""The plan of one table: its metadata, the snapshots to record, and those to capture."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from ai.floedb.floecat.catalog.table_pb2 import ColumnId
from ai.floedb.floecat.reconciler.executor_control_pb2 import (
    GetLeasedPlanTableInputResponse,
    PlanTableChunk,
    SnapshotColumns,
)
from ai.floedb.floecat.reconciler.reconciler_pb2 import CAPTURE_ONLY, METADATA_ONLY
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.records import SnapshotBundle, SnapshotEnumerationOptions
from floecat.worker.scopes import namespace_of
from floecat.worker.selection import Selecting, SnapshotChoice
from floecat.worker.specs import column_of, constraints_of, snapshot_spec, table_spec
from floecat.worker.work import LeasedWork

_IDS_PER_PART: Final = 1000


@dataclass(slots=True)
class TablePlan:
    """One pass over one table."""

    work: LeasedWork
    given: GetLeasedPlanTableInputResponse
    known: frozenset[int]
    connector: FloecatConnector
    snapshots: int = 0
    """Sent so far."""
    captures: int = field(default=0)
    told: list[ColumnId] = field(default_factory=list)
    """The columns of the snapshots that were sent last."""

    def parts(self) -> Iterator[PlanTableChunk]:
        """The plan, a piece at a time."""
        if self.work.job.mode == CAPTURE_ONLY:
            yield from self._capture_only()
        else:
            yield from self._metadata()

    def _metadata(self) -> Iterator[PlanTableChunk]:
        source = self.given.relation.source
        described = self.connector.describe(namespace_of(source), source.name)
        self.work.step("described", current=described.current_snapshot_id)
        yield PlanTableChunk(table=table_spec(self.given.connector, self.connector, described))
        for column in described.columns:
            yield PlanTableChunk(columns=[column_of(column)])
        selecting = Selecting(
            SnapshotChoice(
                selection=self.given.snapshots,
                current=described.current_snapshot_id,
                full_rescan=self.work.job.full_rescan,
                known=self.known,
                finalized=frozenset(self.given.finalized_snapshot_ids),
                captures=self.work.job.mode != METADATA_ONLY,
            )
        )
        yield from self._recorded(selecting)
        yield from self._captured(selecting.captured)
        if selecting.choice.sees_everything:
            for ids in _some(selecting.seen):
                yield PlanTableChunk(upstream_snapshot_ids=ids)
            yield PlanTableChunk(upstream_complete=True)

    def _recorded(self, selecting: Selecting) -> Iterator[PlanTableChunk]:
        for bundle in selecting.recorded(self._bundles(selecting.choice.options())):
            self.snapshots += 1
            self.work.tell(f"{self.snapshots} snapshots read")
            self.work.require_live()
            yield PlanTableChunk(
                snapshots=[snapshot_spec(bundle)],
                constraints=constraints_of(bundle),
                snapshot_columns=self._told_columns(bundle),
            )
        self.work.step("enumerated", snapshots=self.snapshots)

    def _told_columns(self, bundle: SnapshotBundle) -> list[SnapshotColumns]:
        """A schema, unless the last one was the same; none of formats that number all columns."""
        columns = [column_of(column) for column in bundle.columns]
        numbers_all = not self.told and all(column.column_id for column in columns)
        if numbers_all or columns == self.told:
            return []
        self.told = columns
        return [SnapshotColumns(snapshot_id=bundle.snapshot_id, columns=columns)]

    def _captured(self, ids: Sequence[int]) -> Iterator[PlanTableChunk]:
        self.captures = len(ids)
        for some in _some(ids):
            yield PlanTableChunk(capture_snapshot_ids=some)

    def _capture_only(self) -> Iterator[PlanTableChunk]:
        """Only what is recorded can be captured: the rest waits for a run that records it."""
        table = self.given.table
        choice = SnapshotChoice(
            selection=self.given.snapshots,
            current=table.current_snapshot_id if table.HasField("current_snapshot_id") else None,
            full_rescan=self.work.job.full_rescan,
            finalized=frozenset(self.given.finalized_snapshot_ids),
            captures=True,
        )
        wanted = frozenset(filter(choice.is_selected, self.known))
        selecting = Selecting(choice)
        options = SnapshotEnumerationOptions(target_snapshot_ids=wanted)
        for _ in selecting.recorded(self._bundles(options) if wanted else ()):
            self.work.require_live()
        self.work.step("enumerated", snapshots=len(selecting.seen))
        yield from self._captured(selecting.captured)

    def _bundles(self, options: SnapshotEnumerationOptions) -> Iterable[SnapshotBundle]:
        if options.target_snapshot_ids == frozenset():
            return ()
        source = self.given.relation.source
        return self.connector.enumerate_snapshots(namespace_of(source), source.name, options)


def _some(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(ids), _IDS_PER_PART):
        yield ids[start : start + _IDS_PER_PART]
