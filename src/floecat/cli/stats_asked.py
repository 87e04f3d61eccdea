"""What `floecat stats` asks of a service, and which columns somebody means by a name."""

from collections.abc import Sequence
from typing import Final

from ai.floedb.floecat.catalog.stats_pb2 import (
    GetTargetStatsRequest,
    ListTargetStatsRequest,
    TargetStatsRecord,
)
from ai.floedb.floecat.catalog.table_pb2 import Table
from ai.floedb.floecat.common.common_pb2 import PageRequest, PageResponse, ResourceId, SnapshotRef
from ai.floedb.floecat.statistics.statistics_pb2 import (
    StatsTarget,
    StatsTargetKind,
    TableStatsTarget,
)
from floecat.cli.connection import Connection
from floecat.cli.pages import Fetched, fetch_all
from floecat.errors import NotFoundError

HOW_TO_CAPTURE: Final = (
    "capture it with 'floecat connector trigger CONNECTOR --mode metadata-and-capture --wait'"
)


class TargetListing:
    """Records of one kind of target."""

    def __init__(
        self,
        connection: Connection,
        table_id: ResourceId,
        ref: SnapshotRef,
        kind: "StatsTargetKind.ValueType",
        column_ids: Sequence[int] = (),
    ) -> None:
        self._clients = connection.clients
        self._request = ListTargetStatsRequest(
            table_id=table_id, snapshot=ref, target_kinds=[kind], column_ids=column_ids
        )

    def fetch(self, limit: int | None) -> Fetched[TargetStatsRecord]:
        """All of them, or the first `limit`."""

        def page(request: PageRequest) -> tuple[list[TargetStatsRecord], PageResponse]:
            asked = ListTargetStatsRequest()
            asked.CopyFrom(self._request)
            asked.page.CopyFrom(request)
            response = self._clients.statistics.ListTargetStats(asked)
            return list(response.records), response.page

        return fetch_all(page, limit)


def table_record(
    connection: Connection, table: str, table_id: ResourceId, ref: SnapshotRef
) -> TargetStatsRecord:
    """What is known of a table as a whole; NotFoundError with what to do if that is nothing."""
    target = StatsTarget(table=TableStatsTarget())
    request = GetTargetStatsRequest(table_id=table_id, snapshot=ref, target=target)
    try:
        return connection.clients.statistics.GetTargetStats(request).record
    except NotFoundError as error:
        if error.reason != "STATISTICS_NOT_FOUND":
            raise
        raise NotFoundError(f"nothing was captured of {table} yet: {HOW_TO_CAPTURE}") from error


def chosen_columns(
    records: Sequence[TargetStatsRecord], names: Sequence[str], table: str
) -> list[TargetStatsRecord]:
    """The columns that are named, in the order of the names."""
    by_name = {record.scalar.display_name: record for record in records}
    by_id = {f"#{record.target.column.column_id}": record for record in records}
    missing = [name for name in names if name not in by_name and name not in by_id]
    if missing:
        known = ", ".join(sorted(by_name)) or "none"
        raise NotFoundError(
            f"nothing is known of the column {missing[0]} of {table}; known are {known}"
        )
    return [by_id.get(name) or by_name[name] for name in names]


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
