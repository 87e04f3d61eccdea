"""`floecat constraints`: what is stated about a table's rows, one bundle per snapshot."""

from typing import Annotated, Any

import typer

from ai.floedb.floecat.catalog.constraints_pb2 import (
    AddTableConstraintRequest,
    AppendTableConstraintsRequest,
    ConstraintDefinition,
    DeleteTableConstraintRequest,
    DeleteTableConstraintsRequest,
    GetTableConstraintsRequest,
    ListTableConstraintsRequest,
    MergeTableConstraintsRequest,
    PutTableConstraintsRequest,
    TableConstraints,
)
from ai.floedb.floecat.catalog.directory_pb2 import ResolveSnapshotRequest
from ai.floedb.floecat.common.common_pb2 import PageRequest, PageResponse, ResourceId
from floecat.cli import options, writes
from floecat.cli.bundles import constraint_rows, count_text, read_bundle
from floecat.cli.connection import Connection, connected
from floecat.cli.inputs import parsed, read_json
from floecat.cli.output import note, print_items, print_message, print_table
from floecat.cli.pages import fetch_all
from floecat.cli.snapshots import snapshot_ref
from floecat.cli.writes import Guard

app = typer.Typer(
    name="constraints",
    help="Constraints of a table, one bundle per snapshot.",
    epilog="Example: floecat constraints get sales.eu.orders",
    no_args_is_help=True,
    add_completion=False,
)

BundleFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE|-",
        help="JSON: a list of constraints, or a bundle as 'get --json' prints it.",
        show_default=False,
    ),
]


@app.command(epilog="Example: floecat constraints get sales.eu.orders --snapshot 42")
def get(
    context: typer.Context,
    table: options.TableName,
    snapshot: options.SnapshotId = None,
    as_of: options.AsOf = None,
    current: options.Current = False,
    as_json: options.JsonFlag = False,
) -> None:
    """Show the constraints of a snapshot: of the current one, unless another is asked for."""
    ref = snapshot_ref(snapshot, as_of, current=current)
    with connected(context) as connection:
        request = GetTableConstraintsRequest(
            table_id=connection.addresses.table(table), snapshot=ref
        )
        found = connection.clients.constraints.GetTableConstraints(request)
    if as_json:
        print_message(found)
        return
    rows = constraint_rows(found.constraints)
    if rows:
        print_table(["NAME", "TYPE", "COLUMNS", "DETAILS"], rows)
    note(
        f"snapshot {found.constraints.snapshot_id}, {count_text(found.constraints)}, "
        f"version {found.meta.version}, etag {found.meta.etag}"
    )


@app.command("list", epilog="Example: floecat constraints list sales.eu.orders")
def list_(
    context: typer.Context,
    table: options.TableName,
    limit: options.Limit = None,
    as_json: options.JsonFlag = False,
) -> None:
    """List the bundles of all of a table's snapshots, newest first."""
    with connected(context) as connection:
        table_id = connection.addresses.table(table)

        def page(request: PageRequest) -> tuple[list[TableConstraints], PageResponse]:
            listing = ListTableConstraintsRequest(table_id=table_id, page=request)
            response = connection.clients.constraints.ListTableConstraints(listing)
            return list(response.bundles), response.page

        found = fetch_all(page, limit)
    print_items(
        found,
        {
            "SNAPSHOT": lambda bundle: str(bundle.snapshot_id),
            "CONSTRAINTS": lambda bundle: ", ".join(c.name for c in bundle.constraints),
        },
        as_json=as_json,
    )


@app.command(epilog="Example: floecat constraints put sales.eu.orders constraints.json")
def put(
    context: typer.Context,
    table: options.TableName,
    file: BundleFile,
    snapshot: options.SnapshotId = None,
    etag: options.Etag = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Replace all constraints of a snapshot."""
    bundle = read_bundle(file)
    guard = Guard(etag, version, idempotency_key)
    with connected(context) as connection:
        _address(connection, bundle, table, snapshot)
        request = PutTableConstraintsRequest(constraints=bundle, **_guarded(guard))
        answer = connection.clients.constraints.PutTableConstraints(request)
    _print_bundle(table, answer, as_json=as_json)


@app.command(epilog="Example: floecat constraints merge sales.eu.orders - < more.json")
def merge(
    context: typer.Context,
    table: options.TableName,
    file: BundleFile,
    snapshot: options.SnapshotId = None,
    etag: options.Etag = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Replace constraints of the same name, add new ones, keep the others."""
    bundle = read_bundle(file)
    guard = Guard(etag, version, idempotency_key)
    with connected(context) as connection:
        _address(connection, bundle, table, snapshot)
        request = MergeTableConstraintsRequest(constraints=bundle, **_guarded(guard))
        answer = connection.clients.constraints.MergeTableConstraints(request)
    _print_bundle(table, answer, as_json=as_json)


@app.command(epilog="Example: floecat constraints append sales.eu.orders more.json")
def append(
    context: typer.Context,
    table: options.TableName,
    file: BundleFile,
    snapshot: options.SnapshotId = None,
    etag: options.Etag = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Add constraints and change none: if one name is taken, nothing is added."""
    bundle = read_bundle(file)
    guard = Guard(etag, version, idempotency_key)
    with connected(context) as connection:
        _address(connection, bundle, table, snapshot)
        request = AppendTableConstraintsRequest(constraints=bundle, **_guarded(guard))
        answer = connection.clients.constraints.AppendTableConstraints(request)
    _print_bundle(table, answer, as_json=as_json)


@app.command(epilog="Example: floecat constraints add sales.eu.orders primary-key.json")
def add(
    context: typer.Context,
    table: options.TableName,
    file: Annotated[
        str,
        typer.Argument(metavar="FILE|-", help="JSON: one constraint.", show_default=False),
    ],
    snapshot: options.SnapshotId = None,
    etag: options.Etag = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Add one constraint."""
    definition = parsed(read_json(file), ConstraintDefinition, "the constraint")
    guard = Guard(etag, version, idempotency_key)
    with connected(context) as connection:
        request = AddTableConstraintRequest(
            constraint=definition, **_place(connection, table, snapshot), **_guarded(guard)
        )
        answer = connection.clients.constraints.AddTableConstraint(request)
    _print_bundle(table, answer, as_json=as_json)


@app.command(epilog="Example: floecat constraints drop sales.eu.orders orders_pk")
def drop(
    context: typer.Context,
    table: options.TableName,
    name: Annotated[str, typer.Argument(metavar="CONSTRAINT", show_default=False)],
    snapshot: options.SnapshotId = None,
    if_exists: options.IfExists = False,
    etag: options.Etag = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Delete one constraint; the others stay."""
    guard = Guard(etag, version, idempotency_key)
    with connected(context) as connection:
        writes.delete(
            f"constraint {name} of {table}",
            lambda: _place(connection, table, snapshot),
            lambda place: connection.clients.constraints.DeleteTableConstraint(
                DeleteTableConstraintRequest(constraint_name=name, **place, **_guarded(guard))
            ),
            if_exists=if_exists,
            as_json=as_json,
        )


@app.command(epilog="Example: floecat constraints delete sales.eu.orders --snapshot 42")
def delete(
    context: typer.Context,
    table: options.TableName,
    snapshot: options.SnapshotId = None,
    if_exists: options.IfExists = False,
    etag: options.Etag = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Delete all constraints of a snapshot."""
    guard = Guard(etag, version, idempotency_key)
    with connected(context) as connection:
        writes.delete(
            f"constraints of {table}",
            lambda: _place(connection, table, snapshot),
            lambda place: connection.clients.constraints.DeleteTableConstraints(
                DeleteTableConstraintsRequest(**place, **_guarded(guard))
            ),
            if_exists=if_exists,
            as_json=as_json,
        )


def _guarded(guard: Guard) -> dict[str, Any]:
    return {"precondition": guard.precondition, "idempotency": guard.idempotency}


def _place(connection: Connection, table: str, snapshot: int | None) -> dict[str, Any]:
    """The table, and the snapshot that was given or else the current one."""
    table_id = connection.addresses.table(table)
    return {"table_id": table_id, "snapshot_id": _snapshot_id(connection, table_id, snapshot)}


def _address(
    connection: Connection, bundle: TableConstraints, table: str, snapshot: int | None
) -> None:
    """Write into a bundle where it belongs, whatever it said of that before."""
    table_id = connection.addresses.table(table)
    bundle.table_id.CopyFrom(table_id)
    bundle.snapshot_id = _snapshot_id(connection, table_id, snapshot)


def _snapshot_id(connection: Connection, table_id: ResourceId, snapshot: int | None) -> int:
    if snapshot is not None:
        return snapshot
    request = ResolveSnapshotRequest(table_id=table_id)
    return connection.clients.directory.ResolveSnapshot(request).snapshot_id


def _print_bundle(table: str, answer: Any, *, as_json: bool) -> None:
    bundle = answer.constraints
    what = f"snapshot {bundle.snapshot_id} of {table}: {count_text(bundle)}"
    writes.print_updated(what, answer, as_json=as_json)
