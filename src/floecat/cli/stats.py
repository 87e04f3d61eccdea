"""`floecat stats`: what is known about a table, its columns and its files."""

from collections.abc import Callable
from typing import Annotated, Any, Final

import typer

from floecat.cli import options, stats_texts
from floecat.cli.connection import connected
from floecat.cli.output import message_json, note, print_fields, print_items, print_json
from floecat.cli.pages import Fetched
from floecat.cli.snapshots import snapshot_ref
from floecat.cli.stats_asked import AskedTable, chosen_columns, named_columns
from floecat.cli.stats_index import index
from floecat.cli.stats_missing import say_none, table_record
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
        asked = AskedTable(connection, table, connection.addresses.table(table), ref)
        record = table_record(asked)
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
        asked = AskedTable(connection, table, connection.addresses.table(table), ref)
        found = asked.columns(None if column else limit, sketches=not as_json)
        if not found.items:
            say_none(asked, "statistics of columns", "column-stats")
        table_known = asked.find_record() if found.items and not as_json else None
    if column and found.items:
        found = Fetched(chosen_columns(found.items, column, table)[:limit])
    if as_json:
        print_json([message_json(record) for record in found.items])
    elif column and len(found.items) == 1:
        print_fields(column_fields(found.items[0]))
    elif found.items:
        print_columns(found)
    if table_known is not None and (deletes := stats_texts.deletes_text(table_known.table)):
        note(deletes)


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
        asked = AskedTable(connection, table, connection.addresses.table(table), ref)
        names: dict[int, str] = {}
        if column:
            known = asked.columns(None).items
            names = named_columns(known, asked.declared(), column, table)
        wanted = sorted(names) if column else ([] if as_json else [_NO_COLUMN])
        found = asked.files(limit, wanted)
        if not found.items:
            say_none(asked, "statistics of files", "file-stats")
    if not found.items and not as_json:
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


app.command(
    epilog="Example: floecat stats index sales.eu.orders --file s3://lake/a.parquet "
    "-o a.index.parquet"
)(index)


_NO_COLUMN: Final = 2**31 - 1
"""An id that no column has: files without the statistics of any are much quicker to list."""
