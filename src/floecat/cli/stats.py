"""`floecat stats`: what is known about a table, its columns and its files."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ai.floedb.floecat.catalog.index_pb2 import (
    IndexArtifactRecord,
    IndexArtifactState,
    ListIndexArtifactsRequest,
    ReadIndexArtifactRequest,
)
from ai.floedb.floecat.catalog.table_pb2 import GetTableRequest
from ai.floedb.floecat.common.common_pb2 import PageRequest, PageResponse
from ai.floedb.floecat.statistics.statistics_pb2 import (
    STK_COLUMN,
    STK_FILE,
)
from floecat.cli import options, stats_texts
from floecat.cli.connection import Connection, connected
from floecat.cli.descriptions import enum_word
from floecat.cli.output import (
    message_json,
    note,
    print_fields,
    print_items,
    print_json,
    terminal_width,
)
from floecat.cli.pages import Fetched, fetch_all
from floecat.cli.snapshots import snapshot_ref
from floecat.cli.stats_asked import (
    HOW_TO_CAPTURE,
    TargetListing,
    chosen_columns,
    named_columns,
    table_record,
)
from floecat.cli.stats_shown import (
    bounds_of,
    column_fields,
    filled,
    optional_count,
    partition_text,
    print_columns,
    table_fields,
)

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
        record = table_record(connection, table, table_id, ref)
    if as_json:
        print_json(message_json(record))
    else:
        print_fields(table_fields(record))


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
        listing = TargetListing(connection, connection.addresses.table(table), ref, STK_COLUMN)
        found = listing.fetch(None if column else limit)
    if column:
        found = Fetched(chosen_columns(found.items, column, table)[:limit])
    if as_json:
        print_json([message_json(record) for record in found.items])
    elif not found.items:
        _say_nothing_known(table, "no column")
    elif column and len(found.items) == 1:
        print_fields(column_fields(found.items[0]))
    else:
        print_columns(found, terminal_width())


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
            known = TargetListing(connection, table_id, ref, STK_COLUMN).fetch(None)
            declared = connection.clients.tables.GetTable(GetTableRequest(table_id=table_id)).table
            names = named_columns(known.items, declared, column, table)
        wanted = sorted(names) if column else ([] if as_json else [_NO_COLUMN])
        found = TargetListing(connection, table_id, ref, STK_FILE, wanted).fetch(limit)
    if not found.items and not as_json:
        _say_nothing_known(table, "no file")
        return
    cells: dict[str, Callable[[Any], str]] = {
        "FILE": lambda r: r.file.identity.file_path,
        "ROWS": lambda r: optional_count(r.file, "row_count"),
        "LIVE": lambda r: optional_count(r.file, "live_row_count"),
        "SIZE": lambda r: stats_texts.size_text(r.file.identity.size_bytes),
        "PARTITION": lambda r: partition_text(r.file),
    }
    for column_id, name in names.items():
        cells[f"{name} MIN … MAX"] = bounds_of(column_id)
    cells[""] = lambda r: stats_texts.file_state(r.file)
    print_items(found, filled(cells, found.items), as_json=as_json)


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


def _say_nothing_known(table: str, what: str) -> None:
    note(f"{what} of {table} is known yet: {HOW_TO_CAPTURE}")


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
