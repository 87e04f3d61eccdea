"""`floecat snapshot`: states of a table, under the ids that its upstream gave them."""

import sys
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from ai.floedb.floecat.catalog.snapshot_pb2 import (
    CreateSnapshotRequest,
    DeleteSnapshotRequest,
    GetSnapshotRequest,
    GetSnapshotResponse,
    ListSnapshotsRequest,
    ReadSnapshotAttachmentRequest,
    ReadSnapshotAttachmentResponse,
    Snapshot,
    SnapshotSpec,
    WriteSnapshotAttachmentRequest,
)
from ai.floedb.floecat.common.common_pb2 import PageRequest, PageResponse, ResourceId, SnapshotRef
from floecat.cli import options, writes
from floecat.cli.connection import Connection, connected
from floecat.cli.descriptions import column_lines, in_full, lately, pair_lines
from floecat.cli.inputs import pairs, read_bytes, read_pieces, read_schema
from floecat.cli.output import note, print_fields, print_items, print_message
from floecat.cli.pages import fetch_all
from floecat.cli.times import parse_time
from floecat.cli.writes import Guard
from floecat.errors import InvalidArgumentError

app = typer.Typer(
    name="snapshot",
    help="Snapshots of a table, under their upstream's ids.",
    epilog="Example: floecat snapshot list sales.eu.orders",
    no_args_is_help=True,
    add_completion=False,
)

GivenId = Annotated[
    int, typer.Option("--snapshot", metavar="ID", help="The upstream's id.", show_default=False)
]
ParentId = Annotated[
    int | None, typer.Option("--parent", metavar="ID", help="The snapshot before it.")
]
Sequence = Annotated[
    int | None, typer.Option("--sequence", metavar="N", help="Its sequence number.")
]
CreatedAt = Annotated[
    str | None, typer.Option("--created-at", metavar="TIME", help="When the upstream made it.")
]
ManifestList = Annotated[
    str, typer.Option("--manifest-list", metavar="URI", help="Its manifest list.")
]
SchemaId = Annotated[
    int | None, typer.Option("--schema-id", metavar="N", help="The id of its schema.")
]
Summary = Annotated[
    list[str] | None,
    typer.Option("--summary", metavar="KEY=VALUE", help="What the change was. Repeatable."),
]
Attach = Annotated[
    list[str] | None,
    typer.Option("--attach", metavar="NAME=FILE", help="A payload to keep. Repeatable."),
]


@app.command(
    epilog="Example: floecat snapshot create sales.eu.orders --snapshot 42 --parent 41 "
    "--summary operation=append"
)
def create(
    context: typer.Context,
    table: options.TableName,
    snapshot: GivenId,
    parent: ParentId = None,
    sequence: Sequence = None,
    created_at: CreatedAt = None,
    manifest_list: ManifestList = "",
    schema: options.Schema = None,
    schema_id: SchemaId = None,
    summary: Summary = None,
    attach: Attach = None,
    assigned: options.SetProperties = None,
    if_not_exists: options.IfNotExists = False,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Record a snapshot of a table."""
    spec = SnapshotSpec(
        snapshot_id=snapshot,
        parent_snapshot_id=parent,
        sequence_number=sequence,
        upstream_created_at=parse_time(created_at) if created_at else None,
        manifest_list=manifest_list,
        summary=pairs(summary, "--summary"),
        schema_id=schema_id,
        schema_json=read_schema(schema) if schema else "",
        attachments={k: read_bytes(file) for k, file in pairs(attach, "--attach").items()},
        properties=pairs(assigned, "--set"),
    )
    idempotency = Guard(key=idempotency_key).idempotency
    with connected(context) as connection:
        spec.table_id.CopyFrom(connection.addresses.table(table))
        request = CreateSnapshotRequest(spec=spec, idempotency=idempotency)
        writes.create(
            f"snapshot {snapshot} of {table}",
            lambda: connection.clients.snapshots.CreateSnapshot(request),
            lambda: _read(connection, spec.table_id, SnapshotRef(snapshot_id=snapshot)),
            if_not_exists=if_not_exists,
            as_json=as_json,
        )


@app.command("list", epilog="Example: floecat snapshot list sales.eu.orders --limit 10")
def list_(
    context: typer.Context,
    table: options.TableName,
    limit: options.Limit = None,
    as_json: options.JsonFlag = False,
) -> None:
    """List a table's snapshots, newest first."""
    with connected(context) as connection:
        table_id = connection.addresses.table(table)

        def page(request: PageRequest) -> tuple[list[Snapshot], PageResponse]:
            listing = ListSnapshotsRequest(table_id=table_id, page=request)
            response = connection.clients.snapshots.ListSnapshots(listing)
            return list(response.snapshots), response.page

        found = fetch_all(page, limit)
    print_items(
        found,
        {
            "SNAPSHOT": lambda s: str(s.snapshot_id),
            "CREATED": lambda s: lately(s.upstream_created_at),
            "PARENT": lambda s: _number(s, "parent_snapshot_id"),
            "OPERATION": lambda s: s.summary.get("operation", ""),
            "ATTACHMENTS": lambda s: str(len(s.attachment_infos) or ""),
        },
        as_json=as_json,
    )


@app.command(epilog="Example: floecat snapshot get sales.eu.orders --as-of 2026-01-31")
def get(
    context: typer.Context,
    table: options.TableName,
    snapshot: options.SnapshotId = None,
    as_of: options.AsOf = None,
    current: options.Current = False,
    as_json: options.JsonFlag = False,
) -> None:
    """Show one snapshot: the current one, unless another is asked for."""
    ref = snapshot_ref(snapshot, as_of, current=current)
    with connected(context) as connection:
        table_id = connection.addresses.table(table)
        found = _read(connection, table_id, ref)
        full_name = connection.addresses.full_name(table, table_id)
    if as_json:
        print_message(found)
    else:
        print_fields(_fields(full_name, found))


@app.command(epilog="Example: floecat snapshot delete sales.eu.orders --snapshot 42")
def delete(
    context: typer.Context,
    table: options.TableName,
    snapshot: GivenId,
    if_exists: options.IfExists = False,
    etag: options.Etag = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Delete a snapshot with its constraints and statistics."""
    guard = Guard(etag, version, idempotency_key)
    with connected(context) as connection:
        writes.delete(
            f"snapshot {snapshot} of {table}",
            lambda: connection.addresses.table(table),
            lambda table_id: connection.clients.snapshots.DeleteSnapshot(
                DeleteSnapshotRequest(
                    table_id=table_id,
                    snapshot_id=snapshot,
                    precondition=guard.precondition,
                    idempotency=guard.idempotency,
                )
            ),
            if_exists=if_exists,
            as_json=as_json,
        )


@app.command(
    epilog="Example: floecat snapshot attach sales.eu.orders checkpoint checkpoint.parquet "
    "--snapshot 42"
)
def attach(
    context: typer.Context,
    table: options.TableName,
    name: Annotated[str, typer.Argument(metavar="ATTACHMENT", show_default=False)],
    file: Annotated[str, typer.Argument(metavar="FILE", help="- reads standard input.")],
    snapshot: GivenId,
    etag: options.Etag = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Add an attachment of any size to a snapshot."""
    guard = Guard(etag, version, idempotency_key)
    pieces = read_pieces(file)
    beginning = next(pieces, b"")  # before the call: a missing file is told as such
    with connected(context) as connection:
        first = WriteSnapshotAttachmentRequest(
            table_id=connection.addresses.table(table),
            snapshot_id=snapshot,
            name=name,
            precondition=guard.precondition,
            idempotency=guard.idempotency,
            data=beginning,
            says_last=True,
        )
        rest = (WriteSnapshotAttachmentRequest(data=piece) for piece in pieces)
        end = WriteSnapshotAttachmentRequest(last=True)
        stream = chain([first], rest, [end])
        answer = connection.clients.snapshots.WriteSnapshotAttachment(stream)
    writes.print_updated(f"snapshot {snapshot} of {table}", answer, as_json=as_json)


@app.command(
    epilog="Example: floecat snapshot attachment sales.eu.orders metadata.json -o metadata.json"
)
def attachment(
    context: typer.Context,
    table: options.TableName,
    name: Annotated[str, typer.Argument(metavar="ATTACHMENT", show_default=False)],
    snapshot: options.SnapshotId = None,
    as_of: options.AsOf = None,
    current: options.Current = False,
    output: options.OutputFile = None,
) -> None:
    """Write an attachment's bytes to a file, or to standard output."""
    ref = snapshot_ref(snapshot, as_of, current=current)
    with connected(context) as connection:
        found = _read(connection, connection.addresses.table(table), ref).snapshot
        request = ReadSnapshotAttachmentRequest(
            table_id=found.table_id, snapshot_id=found.snapshot_id, name=name
        )
        chunks = connection.clients.snapshots.ReadSnapshotAttachment(request)
        if output is None or output == Path("-"):
            _copy(chunks, sys.stdout.buffer)
            return
        unfinished = output.with_name(f"{output.name}.part")
        with unfinished.open("wb") as file:
            written = _copy(chunks, file)
    unfinished.replace(output)
    note(f"wrote {written} bytes to {output}")


def snapshot_ref(snapshot: int | None, as_of: str | None, *, current: bool) -> SnapshotRef:
    """Which snapshot the options mean; at most one of them may be given."""
    if (snapshot is not None) + (as_of is not None) + current > 1:
        raise InvalidArgumentError("--snapshot, --as-of and --current exclude each other")
    if snapshot is not None:
        return SnapshotRef(snapshot_id=snapshot)
    return SnapshotRef(as_of=parse_time(as_of) if as_of else None)


def _copy(chunks: Iterable[ReadSnapshotAttachmentResponse], target: BinaryIO) -> int:
    return sum(target.write(chunk.data) for chunk in chunks)


def _read(connection: Connection, table_id: ResourceId, ref: SnapshotRef) -> GetSnapshotResponse:
    request = GetSnapshotRequest(table_id=table_id, snapshot=ref)
    return connection.clients.snapshots.GetSnapshot(request)


def _fields(table: str, found: GetSnapshotResponse) -> dict[str, str | list[str]]:
    snapshot = found.snapshot
    return {
        "snapshot": str(snapshot.snapshot_id),
        "table": table,
        "parent": _number(snapshot, "parent_snapshot_id"),
        "sequence": _number(snapshot, "sequence_number"),
        "upstream time": in_full(snapshot.upstream_created_at),
        "ingested": in_full(snapshot.ingested_at),
        "manifest list": snapshot.manifest_list,
        "schema id": _number(snapshot, "schema_id"),
        "columns": column_lines(snapshot.schema_json),
        "partition spec": _number(snapshot, "partition_spec_id"),
        "summary": pair_lines(snapshot.summary),
        "attachments": [f"{a.name} ({a.size_bytes} bytes)" for a in snapshot.attachment_infos],
        "version": str(found.meta.version),
        "etag": found.meta.etag,
        "properties": pair_lines(snapshot.properties),
    }


def _number(snapshot: Snapshot, field: str) -> str:
    return str(getattr(snapshot, field)) if snapshot.HasField(field) else ""  # type: ignore[arg-type]
