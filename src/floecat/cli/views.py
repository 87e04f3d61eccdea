"""`floecat view`: views with their SQL, one text per dialect."""

from collections.abc import Sequence
from typing import Annotated

import typer

from ai.floedb.floecat.catalog.view_pb2 import ViewSqlDefinition
from ai.floedb.floecat.common.common_pb2 import NameRef
from floecat.cli import options, writes
from floecat.cli.connection import connected
from floecat.cli.descriptions import (
    identity_fields,
    lately,
    meta_fields,
    pair_lines,
    upstream_fields,
)
from floecat.cli.inputs import pairs, text_or_file
from floecat.cli.nouns import VIEW
from floecat.cli.output import print_fields, print_items, print_message
from floecat.cli.writes import Guard
from floecat.client.names import format_name, parse_name, parse_relation, parts_of
from floecat.errors import InvalidArgumentError

app = typer.Typer(
    name="view",
    help="Views: SQL under a name, one text per dialect.",
    epilog="Example: floecat view list sales.eu",
    no_args_is_help=True,
    add_completion=False,
)

Sql = Annotated[
    list[str] | None,
    typer.Option("--sql", metavar="TEXT|@FILE", help="Its SQL, or a file with it. Repeatable."),
]
Dialect = Annotated[
    list[str] | None,
    typer.Option("--dialect", metavar="NAME", help="The dialect of each --sql, in their order."),
]
Reads = Annotated[
    list[str] | None,
    typer.Option("--reads", metavar="NAME", help="A relation that the SQL reads. Repeatable."),
]


@app.command(
    epilog="Example: floecat view create sales.eu.recent --sql @recent.sql --dialect trino"
)
def create(
    context: typer.Context,
    name: options.NewRelation,
    sql: Sql = None,
    dialect: Dialect = None,
    reads: Reads = None,
    description: options.Description = None,
    assigned: options.SetProperties = None,
    if_not_exists: options.IfNotExists = False,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Create a view."""
    where = parse_relation(name)
    fields = {
        "display_name": where.name,
        "sql_definitions": _definitions(sql, dialect),
        "base_relations": _relations(reads),
        "description": description,
        "properties": pairs(assigned, "--set"),
    }
    if not fields["sql_definitions"]:
        raise InvalidArgumentError("a view needs its SQL: give --sql and --dialect")
    with connected(context) as connection:
        namespace_id = connection.addresses.namespace(format_name([where.catalog, *where.path]))
        writes.create(
            f"view {name}",
            lambda: VIEW.create(
                connection.clients, idempotency_key, namespace_id=namespace_id, **fields
            ),
            lambda: VIEW.get(connection.clients, connection.addresses.view(name)),
            if_not_exists=if_not_exists,
            as_json=as_json,
        )


@app.command("list", epilog="Example: floecat view list sales.eu")
def list_(
    context: typer.Context,
    name: options.NamespaceName,
    prefix: options.Prefix = "",
    limit: options.Limit = None,
    as_json: options.JsonFlag = False,
) -> None:
    """List the views of a namespace."""
    with connected(context) as connection:
        found = connection.addresses.namespace(name)
        listed = VIEW.list(connection.clients, limit, namespace_id=found, name_prefix=prefix)
        above = parse_name(connection.addresses.full_name(name, found))
    print_items(
        listed,
        {
            "NAME": lambda view: format_name([*above, view.display_name]),
            "DIALECTS": lambda view: ", ".join(d.dialect for d in view.sql_definitions),
            "CREATED": lambda view: lately(view.created_at),
            "DESCRIPTION": lambda view: view.description,
        },
        as_json=as_json,
    )


@app.command(epilog="Example: floecat view get sales.eu.recent")
def get(context: typer.Context, name: options.ViewName, as_json: options.JsonFlag = False) -> None:
    """Show one view."""
    with connected(context) as connection:
        resource_id = connection.addresses.view(name)
        found = VIEW.get(connection.clients, resource_id)
        if as_json:
            print_message(found)
            return
        full_name = connection.addresses.full_name(name, resource_id)
        connector = connection.addresses.connector_name(found.view.upstream.connector_id)
    view = found.view
    print_fields(
        {
            **identity_fields(full_name, view.resource_id),
            "description": view.description,
            **{f"sql ({d.dialect})": d.sql.strip().splitlines() for d in view.sql_definitions},
            "reads": [format_name(parts_of(relation)) for relation in view.base_relations],
            "columns": [column.name for column in view.output_columns],
            **upstream_fields(view.upstream, connector),
            **meta_fields(found.meta),
            "properties": pair_lines(view.properties),
        }
    )


@app.command(epilog="Example: floecat view update sales.eu.recent --sql 'select 1' --dialect trino")
def update(
    context: typer.Context,
    name: options.ViewName,
    rename: options.Rename = None,
    move_to: options.MoveTo = None,
    sql: Sql = None,
    dialect: Dialect = None,
    reads: Reads = None,
    description: options.Description = None,
    assigned: options.SetProperties = None,
    removed: options.UnsetProperties = None,
    etag: options.Etag = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Rename or move a view, or replace its SQL (all dialects at once). Its id stays."""
    guard = Guard(etag, version, idempotency_key)
    with connected(context) as connection:
        found = connection.addresses.view(name)
        edit = writes.edit(
            guard,
            assigned,
            removed,
            display_name=rename,
            namespace_id=connection.addresses.namespace(move_to) if move_to else None,
            sql_definitions=_definitions(sql, dialect),
            base_relations=_relations(reads),
            description=description,
        )
        answer = VIEW.update(connection.clients, found, edit)
        full_name = connection.addresses.name(found)
    writes.print_updated(f"view {full_name}", answer, as_json=as_json)


@app.command(epilog="Example: floecat view delete sales.eu.recent")
def delete(
    context: typer.Context,
    name: options.ViewName,
    if_exists: options.IfExists = False,
    etag: options.Etag = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Delete a view."""
    guard = Guard(etag, version, idempotency_key)
    with connected(context) as connection:
        writes.delete(
            f"view {name}",
            lambda: connection.addresses.view(name),
            lambda found: VIEW.delete(connection.clients, found, guard),
            if_exists=if_exists,
            as_json=as_json,
        )


def _definitions(
    texts: Sequence[str] | None, dialects: Sequence[str] | None
) -> list[ViewSqlDefinition] | None:
    texts, dialects = texts or (), dialects or ()
    if len(texts) != len(dialects):
        raise InvalidArgumentError(
            f"{len(texts)} --sql and {len(dialects)} --dialect: give one dialect for each text"
        )
    definitions = [
        ViewSqlDefinition(dialect=dialect.lower(), sql=text_or_file(text))
        for text, dialect in zip(texts, dialects, strict=True)
    ]
    return definitions or None


def _relations(names: Sequence[str] | None) -> list[NameRef] | None:
    return [parse_relation(name) for name in names] if names else None
