"""`floecat stats`: what is known about a table, its columns and its files."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ai.floedb.floecat.catalog.index_pb2 import (
    IndexArtifactRecord,
    IndexArtifactState,
    ListIndexArtifactsRequest,
    ReadIndexArtifactRequest,
)
from ai.floedb.floecat.catalog.stats_pb2 import (
    FileTargetStats,
    GetTargetStatsRequest,
    ListTargetStatsRequest,
    ScalarStats,
    TargetStatsRecord,
)
from ai.floedb.floecat.catalog.table_pb2 import GetTableRequest, Table
from ai.floedb.floecat.common.common_pb2 import PageRequest, PageResponse, ResourceId, SnapshotRef
from ai.floedb.floecat.statistics.statistics_pb2 import (
    STK_COLUMN,
    STK_FILE,
    StatsTarget,
    StatsTargetKind,
    TableStatsTarget,
)
from floecat.cli import options, stats_texts
from floecat.cli.connection import Connection, connected
from floecat.cli.descriptions import enum_word, pair_lines
from floecat.cli.output import (
    message_json,
    note,
    print_fields,
    print_items,
    print_json,
    print_table,
    terminal_width,
)
from floecat.cli.pages import Fetched, fetch_all
from floecat.cli.snapshots import snapshot_ref
from floecat.errors import NotFoundError

app = typer.Typer(
    name="stats",
    help="Statistics of a table, its columns and its files.",
    epilog="Example: floecat stats columns sales.eu.orders",
    no_args_is_help=True,
    add_completion=False,
)

ColumnNames = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="NAME|#ID", help="Only this column. Repeatable.", show_default=False
    ),
]
FilePath = Annotated[
    str | None, typer.Option("--file", metavar="PATH", help="Only this file's index artifact.")
]

_WITH_SHAPE: Final = 110
_WITH_TOP: Final = 140
"""How wide a terminal is that has room for these columns."""
_CAPTURE: Final = (
    "capture it with 'floecat connector trigger CONNECTOR --mode metadata-and-capture --wait'"
)


@app.command(epilog="Example: floecat stats table sales.eu.orders --as-of 2026-01-31")
def table(
    context: typer.Context,
    table: options.TableName,
    snapshot: options.SnapshotId = None,
    as_of: options.AsOf = None,
    current: options.Current = False,
    as_json: options.JsonFlag = False,
) -> None:
    """Show how large a table is, and how fresh that is."""
    ref = snapshot_ref(snapshot, as_of, current=current)
    with connected(context) as connection:
        table_id = connection.addresses.table(table)
        record = _table_record(connection, table, table_id, ref)
    if as_json:
        print_json(message_json(record))
    else:
        print_fields(_table_fields(record))


@app.command(epilog="Example: floecat stats columns sales.eu.orders --column price")
def columns(
    context: typer.Context,
    table: options.TableName,
    column: ColumnNames = None,
    snapshot: options.SnapshotId = None,
    as_of: options.AsOf = None,
    current: options.Current = False,
    limit: options.Limit = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Show what is in a table's columns: distinct values, NULLs, bounds, distribution."""
    ref = snapshot_ref(snapshot, as_of, current=current)
    with connected(context) as connection:
        listing = _Listing(connection, connection.addresses.table(table), ref, STK_COLUMN)
        found = listing.fetch(None if column else limit)
    if column:
        found = Fetched(_chosen(found.items, column, table)[:limit])
    if as_json:
        print_json([message_json(record) for record in found.items])
    elif not found.items:
        _say_nothing_known(table, "no column")
    elif column and len(found.items) == 1:
        print_fields(_column_fields(found.items[0]))
    else:
        _print_columns(found, terminal_width())


@app.command(epilog="Example: floecat stats files sales.eu.orders --column price --limit 20")
def files(
    context: typer.Context,
    table: options.TableName,
    column: ColumnNames = None,
    snapshot: options.SnapshotId = None,
    as_of: options.AsOf = None,
    current: options.Current = False,
    limit: options.Limit = None,
    as_json: options.JsonFlag = False,
) -> None:
    """List a table's files with their rows, and with the bounds of columns that are named."""
    ref = snapshot_ref(snapshot, as_of, current=current)
    with connected(context) as connection:
        table_id = connection.addresses.table(table)
        names: dict[int, str] = {}
        if column:
            known = _Listing(connection, table_id, ref, STK_COLUMN).fetch(None)
            declared = connection.clients.tables.GetTable(GetTableRequest(table_id=table_id)).table
            names = _named(known.items, declared, column, table)
        wanted = sorted(names) if column else ([] if as_json else [_NO_COLUMN])
        found = _Listing(connection, table_id, ref, STK_FILE, wanted).fetch(limit)
    if not found.items and not as_json:
        _say_nothing_known(table, "no file")
        return
    cells: dict[str, Callable[[Any], str]] = {
        "FILE": lambda r: r.file.identity.file_path,
        "ROWS": lambda r: _optional(r.file, "row_count"),
        "LIVE": lambda r: _optional(r.file, "live_row_count"),
        "SIZE": lambda r: stats_texts.size_text(r.file.identity.size_bytes),
        "PARTITION": lambda r: _partition(r.file),
    }
    for column_id, name in names.items():
        cells[f"{name} MIN … MAX"] = _bounds_of(column_id)
    cells[""] = lambda r: stats_texts.file_state(r.file)
    print_items(found, _filled(cells, found.items), as_json=as_json)


@app.command(
    epilog="Example: floecat stats index sales.eu.orders --file s3://lake/a.parquet "
    "-o a.index.parquet"
)
def index(
    context: typer.Context,
    table: options.TableName,
    file: FilePath = None,
    output: options.OutputFile = None,
    snapshot: options.SnapshotId = None,
    as_of: options.AsOf = None,
    current: options.Current = False,
    limit: options.Limit = None,
    as_json: options.JsonFlag = False,
) -> None:
    """List the page indexes of a table's files, or write one of them to a file."""
    ref = snapshot_ref(snapshot, as_of, current=current)
    with connected(context) as connection:
        table_id = connection.addresses.table(table)
        if file is not None:
            _read_index(
                connection,
                ReadIndexArtifactRequest(table_id=table_id, snapshot=ref, file_path=file),
                output,
                as_json=as_json,
            )
            return

        def page(request: PageRequest) -> tuple[list[IndexArtifactRecord], PageResponse]:
            listing = ListIndexArtifactsRequest(table_id=table_id, snapshot=ref, page=request)
            response = connection.clients.indexes.ListIndexArtifacts(listing)
            return list(response.records), response.page

        found = fetch_all(page, limit)
    if not found.items and not as_json:
        _say_nothing_known(table, "no page index")
        return
    print_items(
        found,
        {
            "FILE": lambda r: r.target_file.file_path,
            "STATE": lambda r: enum_word(IndexArtifactState.Name(r.state)),
            "PAGES": lambda r: stats_texts.count_text(r.coverage.page_count),
            "ROW GROUPS": lambda r: str(r.coverage.row_group_count),
            "COLUMNS": lambda r: str(len(r.coverage.column_ids)),
            "SIZE": lambda r: stats_texts.size_text(r.artifact.size_bytes),
        },
        as_json=as_json,
    )


_NO_COLUMN: Final = 2**31 - 1
"""An id that no column has: files without the statistics of any are much quicker to list."""


class _Listing:
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


def _table_record(
    connection: Connection, table: str, table_id: ResourceId, ref: SnapshotRef
) -> TargetStatsRecord:
    target = StatsTarget(table=TableStatsTarget())
    request = GetTargetStatsRequest(table_id=table_id, snapshot=ref, target=target)
    try:
        return connection.clients.statistics.GetTargetStats(request).record
    except NotFoundError as error:
        if error.reason != "STATISTICS_NOT_FOUND":
            raise
        raise NotFoundError(f"nothing was captured of {table} yet: {_CAPTURE}") from error


def _say_nothing_known(table: str, what: str) -> None:
    note(f"{what} of {table} is known yet: {_CAPTURE}")


def _chosen(
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


def _named(
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


def _table_fields(record: TargetStatsRecord) -> dict[str, str | list[str]]:
    value = record.table
    deletes = ""
    if value.delete_file_count:
        size = stats_texts.size_text(value.delete_size_bytes)
        deletes = f"{stats_texts.count_text(value.delete_file_count)} ({size})"
    return {
        "rows": stats_texts.rows_text(value),
        "rows in files": _optional(value, "row_count"),
        "data files": _optional(value, "data_file_count"),
        "size": stats_texts.size_text(value.data_size_bytes),
        "delete files": deletes,
        "seen": stats_texts.coverage_text(record.metadata),
        "captured": stats_texts.freshness(record.metadata, record.snapshot_id),
        "by": record.metadata.producer,
        "job": record.metadata.job_id,
        "properties": pair_lines(record.properties),
    }


def _column_fields(record: TargetStatsRecord) -> dict[str, str | list[str]]:
    stats = record.scalar
    quantiles = [
        f"{stats_texts.share_text(rank)}: {value:g}"
        for rank, value in zip(stats.quantiles.ranks, stats.quantiles.values, strict=False)
        if round(rank * 20) in _RANKS
    ]
    counted = _counted(stats)
    return {
        "column": stats.display_name,
        "id": str(record.target.column.column_id),
        "type": stats_texts.type_text(stats),
        "values": _optional(stats, "value_count"),
        "nulls": stats_texts.null_text(stats, width=20),
        "NaN": _optional(stats, "nan_count") if stats.nan_count else "",
        "distinct": stats_texts.ndv_text(stats.ndv, short=False),
        "found by": stats_texts.ndv_method(stats.ndv),
        "range": stats_texts.range_text(stats, None),
        "distribution": stats_texts.sparkline(stats.quantiles, width=40),
        "quantiles": ", ".join(quantiles),
        "most frequent": stats_texts.top_lines(stats.frequent_items, counted),
        "average width": (
            f"{stats.average_width_bytes:.1f} B" if stats.HasField("average_width_bytes") else ""
        ),
        "seen": stats_texts.coverage_text(record.metadata),
        "captured": stats_texts.freshness(record.metadata, record.snapshot_id),
    }


_RANKS: Final = frozenset({0, 1, 5, 10, 15, 19, 20})
"""Twentieths: the ends, the quarters, and five percent from each end."""


def _print_columns(found: Fetched[TargetStatsRecord], width: int) -> None:
    """As much of each column as the terminal has room for."""
    cells: dict[str, Callable[[TargetStatsRecord], str]] = {
        "COLUMN": lambda r: r.scalar.display_name or f"#{r.target.column.column_id}",
        "TYPE": lambda r: stats_texts.type_text(r.scalar),
        "DISTINCT": lambda r: stats_texts.ndv_text(r.scalar.ndv),
        "NULLS": lambda r: stats_texts.null_text(r.scalar),
        "MIN … MAX": lambda r: stats_texts.range_text(r.scalar),
    }
    if width >= _WITH_SHAPE:
        cells["DISTRIBUTION"] = lambda r: stats_texts.sparkline(r.scalar.quantiles)
    if width >= _WITH_TOP:
        cells["MOST FREQUENT"] = lambda r: stats_texts.top_text(
            r.scalar.frequent_items, _counted(r.scalar)
        )
    shown = _filled(cells, found.items)
    print_table(list(shown), [[cell(r) for cell in shown.values()] for r in found.items])
    if found.more:
        note(f"… and more: --limit showed the first {len(found.items)}")
    first = found.items[0]
    note(f"captured {stats_texts.freshness(first.metadata, first.snapshot_id)}")


def _filled(
    cells: dict[str, Callable[[Any], str]], records: Sequence[TargetStatsRecord]
) -> dict[str, Callable[[Any], str]]:
    """Without columns that nothing would be in."""
    kept = next(iter(cells))
    return {name: cell for name, cell in cells.items() if name == kept or any(map(cell, records))}


def _counted(stats: ScalarStats) -> int:
    return stats.value_count if stats.HasField("value_count") else 0


def _optional(value: Any, name: str) -> str:
    return stats_texts.count_text(getattr(value, name)) if value.HasField(name) else ""


def _partition(file: FileTargetStats) -> str:
    return ", ".join(
        f"{value.name}={value.value if value.HasField('value') else 'NULL'}"
        for value in file.partition_values
    )


def _bounds_of(column_id: int) -> Callable[[TargetStatsRecord], str]:
    def cell(record: TargetStatsRecord) -> str:
        for column in record.file.columns:
            if column.column_id == column_id:
                return stats_texts.range_text(column.scalar)
        return ""

    return cell


def _read_index(
    connection: Connection,
    request: ReadIndexArtifactRequest,
    output: Path | None,
    *,
    as_json: bool,
) -> None:
    answers = connection.clients.indexes.ReadIndexArtifact(request)
    record = next(iter(answers)).record
    if as_json:
        answers.cancel()
        print_json(message_json(record))
        return
    if output is None or output == Path("-"):
        for answer in answers:
            sys.stdout.buffer.write(answer.data)
        return
    unfinished = output.with_name(f"{output.name}.part")
    with unfinished.open("wb") as file:
        written = sum(file.write(answer.data) for answer in answers)
    unfinished.replace(output)
    note(f"wrote {written} bytes to {output}")
