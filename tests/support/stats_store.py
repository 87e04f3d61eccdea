"""A StatsStore that lives elsewhere: a plain dictionary, as another package might bring along."""

from collections.abc import Iterable, Iterator

from ai.floedb.floecat.catalog.stats_pb2 import TargetStatsRecord
from ai.floedb.floecat.common.common_pb2 import MutationMeta
from ai.floedb.floecat.statistics.statistics_pb2 import StatsTarget
from floecat.artifacts.statistics import without_sketches
from floecat.artifacts.targets import StatsTargetIdentity, TargetKind
from floecat.errors import NotFoundError
from floecat.statistics.checks import check_record
from floecat.statistics.store import SnapshotPlace, StatsQuery


class DictStatsStore:
    """Records by snapshot and storage id."""

    reads_captures = False

    def __init__(self) -> None:
        self.records: dict[SnapshotPlace, dict[str, TargetStatsRecord]] = {}
        self.metas: dict[SnapshotPlace, MutationMeta] = {}

    def put(self, place: SnapshotPlace, records: Iterable[TargetStatsRecord]) -> MutationMeta:
        checked: dict[str, TargetStatsRecord] = {}
        for record in records:
            check_record(place, record)
            kept = TargetStatsRecord()
            kept.CopyFrom(record)
            kept.table_id.CopyFrom(place.table)
            kept.snapshot_id = place.snapshot_id
            checked[StatsTargetIdentity.storage_id(record.target)] = kept
        self.records.setdefault(place, {}).update(checked)
        before = self.metas.get(place, MutationMeta())
        self.metas[place] = MutationMeta(version=before.version + 1)
        return self.metas[place]

    def get(
        self, place: SnapshotPlace, target: StatsTarget, *, sketches: bool = False
    ) -> TargetStatsRecord:
        found = self.records.get(place, {}).get(StatsTargetIdentity.storage_id(target))
        if found is None:
            raise NotFoundError("nothing is known of it")
        return found if sketches else without_sketches(found)

    def list(
        self, place: SnapshotPlace, query: StatsQuery, after: str | None = None
    ) -> Iterator[TargetStatsRecord]:
        known = dict(self.records.get(place, {}))
        for key in sorted(known):
            record = TargetStatsRecord()
            record.CopyFrom(known[key] if query.sketches else without_sketches(known[key]))
            if after is not None and key <= after:
                continue
            if query.kind not in (None, StatsTargetIdentity.kind(record.target)):
                continue
            if query.column_ids and record.target.HasField("column"):
                if record.target.column.column_id not in query.column_ids:
                    continue
            elif query.column_ids and record.HasField("file"):
                kept = [c for c in record.file.columns if c.column_id in query.column_ids]
                record.file.ClearField("columns")
                record.file.columns.extend(kept)
            yield record

    def count(self, place: SnapshotPlace, kind: TargetKind | None = None) -> int:
        return sum(1 for _ in self.list(place, StatsQuery(kind=kind)))

    def delete(self, place: SnapshotPlace) -> bool:
        self.metas.pop(place, None)
        return self.records.pop(place, None) is not None

    def metadata(self, place: SnapshotPlace) -> MutationMeta | None:
        return self.metas.get(place)
