"""`floecat table`: tables, mirrored or declared."""

from enum import StrEnum
from typing import Annotated, Final

import typer

from ai.floedb.floecat.catalog import table_pb2
from floecat.cli import options, writes
from floecat.cli.connection import connected
from floecat.cli.descriptions import (
    column_lines,
    enum_word,
    identity_fields,
    lately,
    meta_fields,
    pair_lines,
    partition_text,
    upstream_fields,
)
from floecat.cli.inputs import pairs, read_schema
from floecat.cli.nouns import TABLE
from floecat.cli.output import print_fields, print_items, print_message
from floecat.cli.partitions import partition_spec
from floecat.cli.writes import Guard
from floecat.client.names import format_name, parse_name, parse_relation

app = typer.Typer(
    name="table",
    help="Tables, mirrored or declared.",
    epilog="Example: floecat table list sales.eu",
    no_args_is_help=True,
    add_completion=False,
)


class Format(StrEnum):
    """Open table formats."""

    ICEBERG = "iceberg"
    DELTA = "delta"


_FORMATS: Final = {Format.ICEBERG: table_pb2.TF_ICEBERG, Format.DELTA: table_pb2.TF_DELTA}

FormatOption = Annotated[
    Format | None, typer.Option("--format", help="The table's format.", show_default=False)
]
Location = Annotated[
    str | None, typer.Option("--location", metavar="URI", help="Where its files are.")
]
PartitionBy = Annotated[
    list[str] | None,
    typer.Option(
        "--partition-by",
        metavar="COLUMN",
        help="A column, or a transform of one, like 'day(at)' or 'bucket[16](id)'. Repeatable; "
        "needs an Iceberg schema.",
    ),
]


@app.command(
    epilog="Example: floecat table create sales.eu.orders --schema orders.json --format iceberg "
    "--location s3://lake/orders"
)
def create(
    context: typer.Context,
    name: options.NewRelation,
    schema: options.Schema = None,
    location: Location = None,
    table_format: FormatOption = None,
    partition_by: PartitionBy = None,
    description: options.Description = None,
    assigned: options.SetProperties = None,
    if_not_exists: options.IfNotExists = False,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Create a table. Mirrored tables come from connectors and needn't be created."""
    where = parse_relation(name)
    schema_json = read_schema(schema) if schema else None
    fields = {
        "display_name": where.name,
        "schema_json": schema_json,
        "location": location,
        "format": _FORMATS[table_format] if table_format else None,
        "partition_specs": partition_spec(partition_by, schema_json),
        "description": description,
        "properties": pairs(assigned, "--set"),
    }
    with connected(context) as connection:
        namespace_id = connection.addresses.namespace(format_name([where.catalog, *where.path]))
        writes.create(
            f"table {name}",
            lambda: TABLE.create(
                connection.clients, idempotency_key, namespace_id=namespace_id, **fields
            ),
            lambda: TABLE.get(connection.clients, connection.addresses.table(name)),
            if_not_exists=if_not_exists,
            as_json=as_json,
        )


@app.command("list", epilog="Example: floecat table list sales.eu --prefix ord")
def list_(
    context: typer.Context,
    name: options.NamespaceName,
    prefix: options.Prefix = "",
    limit: options.Limit = None,
    as_json: options.JsonFlag = False,
) -> None:
    """List the tables of a namespace."""
    with connected(context) as connection:
        found = connection.addresses.namespace(name)
        listed = TABLE.list(connection.clients, limit, namespace_id=found, name_prefix=prefix)
        above = parse_name(connection.addresses.full_name(name, found))
    print_items(
        listed,
        {
            "NAME": lambda table: format_name([*above, table.display_name]),
            "FORMAT": lambda table: enum_word(table_pb2.TableFormat.Name(table.format)),
            "CREATED": lambda table: lately(table.created_at),
            "DESCRIPTION": lambda table: table.description,
        },
        as_json=as_json,
    )


@app.command(epilog="Example: floecat table get sales.eu.orders")
def get(context: typer.Context, name: options.TableName, as_json: options.JsonFlag = False) -> None:
    """Show one table."""
    with connected(context) as connection:
        resource_id = connection.addresses.table(name)
        found = TABLE.get(connection.clients, resource_id)
        if as_json:
            print_message(found)
            return
        full_name = connection.addresses.full_name(name, resource_id)
        connector = connection.addresses.connector_name(found.table.upstream.connector_id)
    table = found.table
    snapshot = str(table.current_snapshot_id) if table.HasField("current_snapshot_id") else ""
    print_fields(
        {
            **identity_fields(full_name, table.resource_id),
            "description": table.description,
            "format": enum_word(table_pb2.TableFormat.Name(table.format)),
            "location": table.location,
            "snapshot": snapshot,
            "columns": column_lines(table.schema_json),
            "partitioned by": partition_text(table),
            **upstream_fields(table.upstream, connector),
            **meta_fields(found.meta),
            "properties": pair_lines(table.properties),
        }
    )


@app.command(epilog="Example: floecat table update sales.eu.orders --rename orders_2025")
def update(
    context: typer.Context,
    name: options.TableName,
    rename: options.Rename = None,
    move_to: options.MoveTo = None,
    schema: options.Schema = None,
    location: Location = None,
    table_format: FormatOption = None,
    description: options.Description = None,
    assigned: options.SetProperties = None,
    removed: options.UnsetProperties = None,
    etag: options.Etag = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Rename or move a table, or change what it says of itself. Its id stays."""
    guard = Guard(etag, version, idempotency_key)
    with connected(context) as connection:
        found = connection.addresses.table(name)
        edit = writes.edit(
            guard,
            assigned,
            removed,
            display_name=rename,
            namespace_id=connection.addresses.namespace(move_to) if move_to else None,
            schema_json=read_schema(schema) if schema else None,
            location=location,
            format=_FORMATS[table_format] if table_format else None,
            description=description,
        )
        answer = TABLE.update(connection.clients, found, edit)
        full_name = connection.addresses.name(found)
    writes.print_updated(f"table {full_name}", answer, as_json=as_json)


@app.command(epilog="Example: floecat table delete sales.eu.orders --if-exists")
def delete(
    context: typer.Context,
    name: options.TableName,
    if_exists: options.IfExists = False,
    etag: options.Etag = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Delete a table with its snapshots, constraints and statistics. Its data files stay."""
    guard = Guard(etag, version, idempotency_key)
    with connected(context) as connection:
        writes.delete(
            f"table {name}",
            lambda: connection.addresses.table(name),
            lambda found: TABLE.delete(connection.clients, found, guard),
            if_exists=if_exists,
            as_json=as_json,
        )
