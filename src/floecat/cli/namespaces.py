"""`floecat namespace`: folders of tables, views and further namespaces."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import ResourceId
from floecat.cli import options, writes
from floecat.cli.connection import Connection, connected
from floecat.cli.descriptions import identity_fields, lately, meta_fields, pair_lines
from floecat.cli.inputs import pairs
from floecat.cli.nouns import NAMESPACE
from floecat.cli.output import print_fields, print_items, print_message
from floecat.cli.writes import Guard
from floecat.client.names import format_name, parse_name, parse_namespace
from floecat.errors import AlreadyExistsError, InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

app = typer.Typer(
    name="namespace",
    help="Namespaces: folders of tables, views and further namespaces.",
    epilog="Example: floecat namespace list sales",
    no_args_is_help=True,
    add_completion=False,
)


@app.command(epilog="Example: floecat namespace create sales.eu.west --parents")
def create(
    context: typer.Context,
    name: options.NewNamespace,
    description: options.Description = None,
    assigned: options.SetProperties = None,
    parents: Annotated[
        bool, typer.Option("--parents", help="Create the namespaces above it too.")
    ] = False,
    if_not_exists: options.IfNotExists = False,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Create a namespace."""
    where = parse_namespace(name)
    properties = pairs(assigned, "--set")
    with connected(context) as connection:
        catalog_id = connection.addresses.catalog(format_name([where.catalog]))
        above = where.path[:-1]
        if parents:
            _create_path(connection, catalog_id, above)
        elif above:
            connection.addresses.namespace(format_name([where.catalog, *above]))
        writes.create(
            f"namespace {name}",
            lambda: NAMESPACE.create(
                connection.clients,
                idempotency_key,
                catalog_id=catalog_id,
                path=above,
                display_name=where.path[-1],
                description=description,
                properties=properties,
            ),
            lambda: NAMESPACE.get(connection.clients, connection.addresses.namespace(name)),
            if_not_exists=if_not_exists,
            as_json=as_json,
        )


@app.command("list", epilog="Example: floecat namespace list sales --recursive")
def list_(
    context: typer.Context,
    name: options.ContainerName,
    recursive: Annotated[
        bool, typer.Option("--recursive", "-r", help="Everything below, depth first.")
    ] = False,
    prefix: options.Prefix = "",
    limit: options.Limit = None,
    as_json: options.JsonFlag = False,
) -> None:
    """List the namespaces in a catalog or namespace."""
    with connected(context) as connection:
        found = connection.addresses.container(name)
        below = {"catalog_id" if found.kind == common_pb2.RK_CATALOG else "namespace_id": found}
        listed = NAMESPACE.list(
            connection.clients, limit, recursive=recursive, name_prefix=prefix, **below
        )
        catalog = parse_name(connection.addresses.full_name(name, found))[0]
    print_items(
        listed,
        {
            "NAME": lambda namespace: _full_name(catalog, namespace),
            "CREATED": lambda namespace: lately(namespace.created_at),
            "DESCRIPTION": lambda namespace: namespace.description,
        },
        as_json=as_json,
    )


@app.command(epilog="Example: floecat namespace get sales.eu")
def get(
    context: typer.Context, name: options.NamespaceName, as_json: options.JsonFlag = False
) -> None:
    """Show one namespace."""
    with connected(context) as connection:
        resource_id = connection.addresses.namespace(name)
        found = NAMESPACE.get(connection.clients, resource_id)
        full_name = connection.addresses.full_name(name, resource_id)
    if as_json:
        print_message(found)
        return
    namespace = found.namespace
    print_fields(
        {
            **identity_fields(full_name, namespace.resource_id),
            "description": namespace.description,
            **meta_fields(found.meta),
            "properties": pair_lines(namespace.properties),
        }
    )


@app.command(epilog="Example: floecat namespace update sales.eu.west --move-to sales.emea")
def update(
    context: typer.Context,
    name: options.NamespaceName,
    rename: options.Rename = None,
    move_to: options.MoveTo = None,
    description: options.Description = None,
    assigned: options.SetProperties = None,
    removed: options.UnsetProperties = None,
    etag: options.Etag = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Rename or move a namespace with everything in it, or change what it says of itself."""
    guard = Guard(etag, version, idempotency_key)
    with connected(context) as connection:
        found = connection.addresses.namespace(name)
        edit = writes.edit(
            guard,
            assigned,
            removed,
            display_name=rename,
            description=description,
            path=_path_to(connection, found, move_to) if move_to else None,
        )
        answer = NAMESPACE.update(connection.clients, found, edit)
        full_name = connection.addresses.name(found)
    writes.print_updated(f"namespace {full_name}", answer, as_json=as_json)


@app.command(epilog="Example: floecat namespace delete sales.eu --cascade")
def delete(
    context: typer.Context,
    name: options.NamespaceName,
    cascade: options.Cascade = False,
    yes: options.Yes = False,
    if_exists: options.IfExists = False,
    etag: options.Etag = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Delete a namespace. Unless --cascade is given, it must be empty."""
    guard = Guard(etag, version, idempotency_key)
    with connected(context) as connection:
        writes.delete(
            f"namespace {name}",
            lambda: connection.addresses.namespace(name),
            lambda found: NAMESPACE.delete(connection.clients, found, guard, cascade=cascade),
            confirm=cascade and not yes,
            if_exists=if_exists,
            as_json=as_json,
        )


def _create_path(connection: Connection, catalog_id: ResourceId, path: "Sequence[str]") -> None:
    for depth in range(len(path)):
        try:
            NAMESPACE.create(
                connection.clients,
                "",
                catalog_id=catalog_id,
                path=path[:depth],
                display_name=path[depth],
            )
        except AlreadyExistsError:
            continue  # that is what was wanted


def _path_to(connection: Connection, moved: ResourceId, target: str) -> list[str]:
    """The path of where a namespace is to go, which names no catalog: so it must be the same."""
    where = connection.addresses.container(target)
    catalog, *path = parse_name(connection.addresses.full_name(target, where))
    if parse_name(connection.addresses.name(moved))[0] != catalog:
        raise InvalidArgumentError("a namespace can't be moved to another catalog")
    return path


def _full_name(catalog: str, namespace: Any) -> str:
    return format_name([catalog, *namespace.parents, namespace.display_name])
