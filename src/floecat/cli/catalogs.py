"""`floecat catalog`: the roots of the trees of namespaces."""

import typer

from floecat.cli import options, writes
from floecat.cli.connection import connected
from floecat.cli.descriptions import identity_fields, lately, meta_fields, pair_lines
from floecat.cli.inputs import pairs, single_name
from floecat.cli.nouns import CATALOG
from floecat.cli.output import print_fields, print_items, print_message
from floecat.cli.writes import Guard
from floecat.client.names import format_name

app = typer.Typer(
    name="catalog",
    help="Catalogs: the roots of the trees of namespaces.",
    epilog="Example: floecat catalog list",
    no_args_is_help=True,
    add_completion=False,
)


@app.command(epilog="Example: floecat catalog create sales --description 'Everything we sold'")
def create(
    context: typer.Context,
    name: options.NewName,
    description: options.Description = None,
    assigned: options.SetProperties = None,
    if_not_exists: options.IfNotExists = False,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Create a catalog."""
    properties = pairs(assigned, "--set")
    with connected(context) as connection:
        writes.create(
            f"catalog {format_name([single_name(name)])}",
            lambda: CATALOG.create(
                connection.clients,
                idempotency_key,
                display_name=single_name(name),
                description=description,
                properties=properties,
            ),
            lambda: CATALOG.get(connection.clients, connection.addresses.catalog(name)),
            if_not_exists=if_not_exists,
            as_json=as_json,
        )


@app.command("list", epilog="Example: floecat catalog list --json")
def list_(
    context: typer.Context, limit: options.Limit = None, as_json: options.JsonFlag = False
) -> None:
    """List the account's catalogs."""
    with connected(context) as connection:
        found = CATALOG.list(connection.clients, limit)
    print_items(
        found,
        {
            "NAME": lambda catalog: format_name([catalog.display_name]),
            "CREATED": lambda catalog: lately(catalog.created_at),
            "DESCRIPTION": lambda catalog: catalog.description,
        },
        as_json=as_json,
    )


@app.command(epilog="Example: floecat catalog get sales")
def get(
    context: typer.Context, name: options.CatalogName, as_json: options.JsonFlag = False
) -> None:
    """Show one catalog."""
    with connected(context) as connection:
        found = CATALOG.get(connection.clients, connection.addresses.catalog(name))
    if as_json:
        print_message(found)
        return
    catalog = found.catalog
    print_fields(
        {
            **identity_fields(format_name([catalog.display_name]), catalog.resource_id),
            "description": catalog.description,
            "connector": catalog.connector_id.id,
            **meta_fields(found.meta),
            "properties": pair_lines(catalog.properties),
        }
    )


@app.command(epilog="Example: floecat catalog update sales --rename sold --set owner=ada")
def update(
    context: typer.Context,
    name: options.CatalogName,
    rename: options.Rename = None,
    description: options.Description = None,
    assigned: options.SetProperties = None,
    removed: options.UnsetProperties = None,
    etag: options.Etag = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Rename a catalog, or change its description or properties."""
    guard = Guard(etag, version, idempotency_key)
    edit = writes.edit(guard, assigned, removed, display_name=rename, description=description)
    with connected(context) as connection:
        found = connection.addresses.catalog(name)
        answer = CATALOG.update(connection.clients, found, edit)
    what = f"catalog {format_name([answer.catalog.display_name])}"
    writes.print_updated(what, answer, as_json=as_json)


@app.command(epilog="Example: floecat catalog delete sales --cascade --yes")
def delete(
    context: typer.Context,
    name: options.CatalogName,
    cascade: options.Cascade = False,
    yes: options.Yes = False,
    if_exists: options.IfExists = False,
    etag: options.Etag = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Delete a catalog. Unless --cascade is given, it must be empty."""
    guard = Guard(etag, version, idempotency_key)
    with connected(context) as connection:
        writes.delete(
            f"catalog {name}",
            lambda: connection.addresses.catalog(name),
            lambda found: CATALOG.delete(connection.clients, found, guard, cascade=cascade),
            confirm=cascade and not yes,
            if_exists=if_exists,
            as_json=as_json,
        )
