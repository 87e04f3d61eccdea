"""What `floecat stats` asks of a service, and which columns somebody means by a name."""

from collections.abc import Sequence
from dataclasses import dataclass

from ai.floedb.floecat.catalog.index_pb2 import IndexArtifactRecord, ListIndexArtifactsRequest
from ai.floedb.floecat.catalog.stats_pb2 import (
    GetTargetStatsRequest,
    ListTargetStatsRequest,
    TargetStatsRecord,
)
from ai.floedb.floecat.catalog.table_pb2 import GetTableRequest, Table
from ai.floedb.floecat.common.common_pb2 import PageRequest, PageResponse, ResourceId, SnapshotRef
from ai.floedb.floecat.statistics.statistics_pb2 import (
    STK_COLUMN,
    STK_FILE,
    StatsTarget,
    TableStatsTarget,
)
from floecat.cli.connection import Connection
from floecat.cli.pages import Fetched, fetch_all
from floecat.errors import NotFoundError


@dataclass(frozen=True, slots=True)
class AskedTable:
    """A table that somebody asks about, at one of its snapshots."""

    connection: Connection
    name: str
    """As it was called on the command line."""
    table_id: ResourceId
    ref: SnapshotRef

    def find_record(self) -> TargetStatsRecord | None:
        """What is known of the table as a whole; None if that is nothing."""
        target = StatsTarget(table=TableStatsTarget())
        request = GetTargetStatsRequest(table_id=self.table_id, snapshot=self.ref, target=target)
        try:
            return self.connection.clients.statistics.GetTargetStats(request).record
        except NotFoundError as error:
            if error.reason != "STATISTICS_NOT_FOUND":
                raise
            return None

    def declared(self) -> Table:
        """The table itself."""
        request = GetTableRequest(table_id=self.table_id)
        return self.connection.clients.tables.GetTable(request).table

    def columns(self, limit: int | None, *, sketches: bool = False) -> Fetched[TargetStatsRecord]:
        """What is known of its columns, with the bytes of sketches if they are wanted."""
        request = ListTargetStatsRequest(target_kinds=[STK_COLUMN], include_sketches=sketches)
        return self._listed(request, limit)

    def files(self, limit: int | None, column_ids: Sequence[int]) -> Fetched[TargetStatsRecord]:
        """What is known of its files, and of these columns in them; no ids mean every column."""
        request = ListTargetStatsRequest(target_kinds=[STK_FILE], column_ids=column_ids)
        return self._listed(request, limit)

    def indexes(self, limit: int | None) -> Fetched[IndexArtifactRecord]:
        """The page indexes of its files."""

        def page(request: PageRequest) -> tuple[list[IndexArtifactRecord], PageResponse]:
            response = self.connection.clients.indexes.ListIndexArtifacts(
                ListIndexArtifactsRequest(table_id=self.table_id, snapshot=self.ref, page=request)
            )
            return list(response.records), response.page

        return fetch_all(page, limit)

    def _listed(
        self, request: ListTargetStatsRequest, limit: int | None
    ) -> Fetched[TargetStatsRecord]:
        request.table_id.CopyFrom(self.table_id)
        request.snapshot.CopyFrom(self.ref)

        def page(asked: PageRequest) -> tuple[list[TargetStatsRecord], PageResponse]:
            request.page.CopyFrom(asked)
            response = self.connection.clients.statistics.ListTargetStats(request)
            return list(response.records), response.page

        return fetch_all(page, limit)


def chosen_columns(
    records: Sequence[TargetStatsRecord], names: Sequence[str], table: str
) -> list[TargetStatsRecord]:
    """The columns that are named, in the order of the names, each once."""
    by_name = {record.scalar.display_name: record for record in records}
    by_id = {f"#{record.target.column.column_id}": record for record in records}
    missing = [name for name in names if name not in by_name and name not in by_id]
    if missing:
        known = ", ".join(sorted(by_name)) or "none"
        raise NotFoundError(
            f"nothing is known of the column {missing[0]} of {table}; known are {known}"
        )
    chosen = [by_id.get(name) or by_name[name] for name in names]
    return list({record.target.column.column_id: record for record in chosen}.values())


def named_columns(
    records: Sequence[TargetStatsRecord], declared: Table, names: Sequence[str], table: str
) -> dict[int, str]:
    """The ids of the columns that are named, in the order of the names, and what they are called.

    Files may know more than is known of the whole column, so those count that the table has, too.
    The snapshot's own names come first, then today's, then those of columns that were dropped.
    """
    ranked = [
        *((c.column_id, ".".join(c.path)) for c in declared.column_ids if c.dropped),
        *((c.column_id, ".".join(c.path)) for c in declared.column_ids if not c.dropped),
        *((r.target.column.column_id, r.scalar.display_name) for r in records),
    ]
    called = dict(ranked)
    by_name = {name: column_id for column_id, name in ranked}
    by_name |= {f"#{column_id}": column_id for column_id in called}
    missing = [name for name in names if name not in by_name]
    if missing:
        there = ", ".join(sorted(set(called.values()))) or "none"
        raise NotFoundError(f"{table} has no column {missing[0]}; its columns are {there}")
    return {by_name[name]: called[by_name[name]] for name in names}
