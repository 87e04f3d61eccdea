"""Which ids the columns of new snapshots have, where the format has names only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from google.protobuf.timestamp_pb2 import Timestamp

from ai.floedb.floecat.catalog.snapshot_pb2 import Snapshot, SnapshotSpec
from ai.floedb.floecat.catalog.table_pb2 import ColumnId, Table
from floecat.catalog import keys
from floecat.catalog.numbering import ColumnHistory
from floecat.catalog.records import CatalogStores
from floecat.catalog.timeline import SnapshotIndex, timestamp_moment
from floecat.reconciler.results.table_contents import TableContents


@dataclass(frozen=True, slots=True)
class NumberedColumns:
    """The columns of a table, and of each of its new snapshots."""

    known: Sequence[ColumnId]
    """Of the table as it is recorded, with what older snapshots had."""
    by_snapshot: Mapping[int, Sequence[ColumnId]]


@dataclass(frozen=True, slots=True)
class _Run:
    """Snapshots one after another that have the same columns."""

    moment: str
    """Of the first."""
    leaves: Sequence[ColumnId]
    """With ids, if the first is recorded already: then these are what they are."""
    snapshot_ids: list[int] = field(default_factory=list)


def numbered_columns(
    stores: CatalogStores, table: Table, contents: TableContents
) -> NumberedColumns:
    """Number the columns of the snapshots that were sent.

    Snapshots later than the one that is current here continue what is known, in order; earlier ones
    are numbered from what is known backwards. Whoever tries again after a crash comes to the same:
    the table may be ahead then, so what the snapshots say that are recorded counts.
    """
    recorded = _Recorded(stores, table)
    current = recorded.current()
    columns = ColumnHistory(table.column_ids, (current and list(current.column_ids)) or None)
    by_snapshot: dict[int, Sequence[ColumnId]] = {}
    runs = _runs(contents, recorded)
    until = None if current is None else _moment(current.upstream_created_at, current.snapshot_id)
    earlier = [run for run in reversed(runs) if until is None or run.moment <= until]
    for run, found in zip(earlier, columns.before([r.leaves for r in earlier]), strict=True):
        by_snapshot.update(dict.fromkeys(run.snapshot_ids, found))
    for run in runs:
        if until is not None and run.moment > until:
            by_snapshot.update(dict.fromkeys(run.snapshot_ids, columns.after(run.leaves)))
    return NumberedColumns(columns.known, by_snapshot)


def moment_of_spec(snapshot: SnapshotSpec) -> str:
    """What a snapshot is ordered by."""
    return _moment(snapshot.upstream_created_at, snapshot.snapshot_id)


@dataclass(frozen=True, slots=True)
class _Recorded:
    """The snapshots of a table that are here already."""

    stores: CatalogStores
    table: Table

    def find(self, snapshot_id: int) -> Snapshot | None:
        table_id = self.table.resource_id
        found = SnapshotIndex(self.stores).find(table_id.account_id, table_id.id, snapshot_id)
        return None if found is None else found.message

    def current(self) -> Snapshot | None:
        """The one that is current here."""
        has_one = self.table.HasField("current_snapshot_id")
        return self.find(self.table.current_snapshot_id) if has_one else None


def _runs(contents: TableContents, recorded: _Recorded) -> list[_Run]:
    """Few, however many snapshots there are: schemas hardly change."""
    runs: list[_Run] = []
    for snapshot in contents.snapshots() if contents.schemas else ():
        told = contents.schemas.get(snapshot.snapshot_id)
        if told is not None:
            known = recorded.find(snapshot.snapshot_id)
            leaves = list(known.column_ids) if known is not None else []
            runs.append(_Run(moment_of_spec(snapshot), leaves or told))
        if runs:
            runs[-1].snapshot_ids.append(snapshot.snapshot_id)
    return runs


def _moment(time: Timestamp, snapshot_id: int) -> str:
    return keys.at_moment(timestamp_moment(time), snapshot_id)
