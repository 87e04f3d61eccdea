"""StatsStore: where statistics are kept and read from, whatever it is.

A store is chosen with `statistics.store`; packages offer others under the entry points
`floecat.stats_stores`. Records are told apart by table, snapshot and `StatsTargetIdentity`.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ai.floedb.floecat.catalog.stats_pb2 import TargetStatsRecord
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import MutationMeta, ResourceId
from ai.floedb.floecat.statistics.statistics_pb2 import StatsTarget
from floecat.artifacts.targets import TargetKind
from floecat.storage.kv.port import Operation


@dataclass(frozen=True, slots=True)
class SnapshotPlace:
    """A snapshot of a table that was found to be the caller's. It may not be recorded yet."""

    account_id: str
    table_id: str
    snapshot_id: int

    @property
    def table(self) -> ResourceId:
        """The table's full id."""
        return ResourceId(account_id=self.account_id, id=self.table_id, kind=common_pb2.RK_TABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsQuery:
    """What is wanted of a listing."""

    kind: TargetKind | None = None
    """None means every kind."""
    column_ids: frozenset[int] = frozenset()
    """Only these columns, and of files only theirs; empty means all."""
    sketches: bool = False
    """With the bytes of sketches."""


class StatsStore(Protocol):
    """Statistics by snapshot and target. Every method may be called from any thread."""

    reads_captures: bool
    """Whether it shows what finalization leaves in the blob store by itself. Into a store that
    doesn't, finalization puts every record before it publishes the snapshot."""

    def put(self, place: SnapshotPlace, records: Iterable[TargetStatsRecord]) -> MutationMeta:
        """Write records, replacing those of the same targets: all become visible, or none.

        The same records again change nothing that can be read. Target and value must match
        (`InvalidArgumentError`), metadata is kept as it is given, and the snapshot may be unknown.
        """

    def get(
        self, place: SnapshotPlace, target: StatsTarget, *, sketches: bool = False
    ) -> TargetStatsRecord:
        """A target's record; NotFoundError if nothing is known of it in that snapshot."""

    def list(
        self, place: SnapshotPlace, query: StatsQuery, after: str | None = None
    ) -> Iterator[TargetStatsRecord]:
        """Records behind a storage id, in the order of storage ids, each made when it is asked for.

        Whoever has read some and comes back with the last one's id misses none that was there
        throughout, and sees none twice.
        """

    def count(self, place: SnapshotPlace, kind: TargetKind | None = None) -> int:
        """How many targets something is known of."""

    def delete(self, place: SnapshotPlace) -> bool:
        """Forget everything about a snapshot; whether anything was known."""

    def metadata(self, place: SnapshotPlace) -> MutationMeta | None:
        """When records of the snapshot were last put, and how often; None if none ever were."""


@dataclass(frozen=True, slots=True)
class PreparedPut:
    """Records that are written, and become visible when the operations are committed."""

    meta: MutationMeta
    operations: tuple[Operation, ...]


@runtime_checkable
class PreparesPuts(Protocol):
    """A store whose records become visible with a commit to our own key-value store."""

    def prepared(
        self, place: SnapshotPlace, records: Iterable[TargetStatsRecord]
    ) -> Callable[[], PreparedPut]:
        """Write records where nobody sees them; what comes back lays them over what is there then.

        The operations conflict if somebody put others meanwhile: lay them again.
        """
