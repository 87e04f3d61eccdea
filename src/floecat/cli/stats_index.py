"""`floecat stats index`: the page indexes of a table's files."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ai.floedb.floecat.catalog.index_pb2 import (
    GetIndexArtifactRequest,
    IndexArtifactRecord,
    IndexArtifactState,
    ReadIndexArtifactRequest,
)
from floecat.cli import options
from floecat.cli.connection import connected
from floecat.cli.descriptions import enum_word, failure_text, in_full, pair_lines
from floecat.cli.output import note, print_fields, print_items, print_message
from floecat.cli.snapshots import snapshot_ref
from floecat.cli.stats_asked import AskedTable
from floecat.cli.stats_missing import say_none
from floecat.cli.stats_texts import count_text, size_text
from floecat.errors import InvalidArgumentError

FilePath = Annotated[
    str | None,
    typer.Option("--file", metavar="PATH", help="Only the index of this file, all of its record."),
]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE|-",
        help="Write the index itself, a parquet file, of the file that --file names; - is stdout.",
    ),
]


def index(
    context: typer.Context,
    table: options.TableName,
    file: FilePath = None,
    output: OutputFile = None,
    snapshot: options.SnapshotId = None,
    as_of: options.AsOf = None,
    current: options.Current = False,
    limit: options.Limit = None,
    as_json: options.JsonFlag = False,
) -> None:
    """List the page indexes of a table's files; show one of them, or write it to a file."""
    ref = snapshot_ref(snapshot, as_of, current=current)
    _check(file, output, as_json=as_json)
    with connected(context) as connection:
        asked = AskedTable(connection, table, connection.addresses.table(table), ref)
        if file is None:
            _list(asked, limit, as_json=as_json)
        elif output is None:
            _show(asked, file, as_json=as_json)
        else:
            _write(asked, file, output)


def _check(file: str | None, output: Path | None, *, as_json: bool) -> None:
    if output is None:
        return
    if file is None:
        raise InvalidArgumentError(
            "-o writes the index of one file: say which with --file PATH "
            "('floecat stats index TABLE' lists them)"
        )
    if as_json:
        raise InvalidArgumentError("-o writes an index as it is: leave out --json")


def _list(asked: AskedTable, limit: int | None, *, as_json: bool) -> None:
    found = asked.indexes(limit)
    if not found.items:
        say_none(asked, "page indexes", "index")
        if not as_json:
            return
    print_items(
        found,
        {
            "FILE": lambda r: r.target_file.file_path,
            "STATE": _state,
            "PAGES": lambda r: count_text(r.coverage.page_count),
            "ROW GROUPS": lambda r: str(r.coverage.row_group_count),
            "COLUMNS": lambda r: str(len(r.coverage.column_ids)),
            "SIZE": lambda r: size_text(r.artifact.size_bytes),
        },
        as_json=as_json,
    )


def _show(asked: AskedTable, file: str, *, as_json: bool) -> None:
    request = GetIndexArtifactRequest(table_id=asked.table_id, snapshot=asked.ref, file_path=file)
    record = asked.connection.clients.indexes.GetIndexArtifact(request).record
    if as_json:
        print_message(record)
    else:
        print_fields(index_fields(record))


def index_fields(record: IndexArtifactRecord) -> dict[str, str | list[str]]:
    """An index, a line for each thing that is known."""
    coverage, path = record.coverage, record.target_file.file_path
    unpaged = coverage.row_groups_without_pages
    return {
        "file": path,
        "file size": size_text(record.target_file.size_bytes),
        "state": _state(record),
        "failure": failure_text(record.failure, path),
        "rows": count_text(coverage.row_count),
        "row groups": count_text(coverage.row_group_count),
        "without pages": f"{count_text(unpaged)} of these row groups" if unpaged else "",
        "pages": count_text(coverage.page_count),
        "columns": ", ".join(f"#{number}" for number in coverage.column_ids),
        "format": f"{record.artifact_format} {record.artifact_format_version}",
        "size": size_text(record.artifact.size_bytes),
        "created": in_full(record.created_at),
        "snapshot": str(record.snapshot_id),
        "properties": pair_lines(record.properties),
    }


def _state(record: IndexArtifactRecord) -> str:
    return enum_word(IndexArtifactState.Name(record.state))


def _write(asked: AskedTable, file: str, output: Path) -> None:
    request = ReadIndexArtifactRequest(table_id=asked.table_id, snapshot=asked.ref, file_path=file)
    answers = asked.connection.clients.indexes.ReadIndexArtifact(request)
    if output == Path("-"):
        for answer in answers:
            sys.stdout.buffer.write(answer.data)
        return
    unfinished = output.with_name(f"{output.name}.part")
    with unfinished.open("wb") as opened:
        written = sum(opened.write(answer.data) for answer in answers)
    unfinished.replace(output)
    note(f"wrote {written} bytes to {output}")
