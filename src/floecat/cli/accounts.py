"""`floecat account`: the tenants. Nothing crosses from one to another."""

import typer

from floecat.cli import options, writes
from floecat.cli.connection import connected
from floecat.cli.descriptions import identity_fields, lately, meta_fields, pair_lines
from floecat.cli.inputs import pairs, single_name
from floecat.cli.nouns import ACCOUNT
from floecat.cli.output import print_fields, print_items, print_message
from floecat.cli.writes import Guard
from floecat.client.names import format_name

app = typer.Typer(
    name="account",
    help="Accounts: the tenants of an installation.",
    epilog="Example: floecat account list",
    no_args_is_help=True,
    add_completion=False,
)


@app.command(epilog="Example: floecat account create acme --description 'The whole company'")
def create(
    context: typer.Context,
    name: options.NewName,
    description: options.Description = None,
    assigned: options.SetProperties = None,
    if_not_exists: options.IfNotExists = False,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Create an account."""
    properties = pairs(assigned, "--set")
    with connected(context) as connection:
        writes.create(
            f"account {format_name([single_name(name)])}",
            lambda: ACCOUNT.create(
                connection.clients,
                idempotency_key,
                display_name=single_name(name),
                description=description,
                properties=properties,
            ),
            lambda: ACCOUNT.get(connection.clients, connection.addresses.account(name)),
            if_not_exists=if_not_exists,
            as_json=as_json,
        )


@app.command("list", epilog="Example: floecat account list --json")
def list_(
    context: typer.Context, limit: options.Limit = None, as_json: options.JsonFlag = False
) -> None:
    """List the accounts you may see."""
    with connected(context) as connection:
        found = ACCOUNT.list(connection.clients, limit)
    print_items(
        found,
        {
            "NAME": lambda account: format_name([account.display_name]),
            "CREATED": lambda account: lately(account.created_at),
            "DESCRIPTION": lambda account: account.description,
        },
        as_json=as_json,
    )


@app.command(epilog="Example: floecat account get default")
def get(
    context: typer.Context, name: options.AccountName, as_json: options.JsonFlag = False
) -> None:
    """Show one account."""
    with connected(context) as connection:
        found = ACCOUNT.get(connection.clients, connection.addresses.account(name))
    if as_json:
        print_message(found)
        return
    account = found.account
    print_fields(
        {
            **identity_fields(format_name([account.display_name]), account.resource_id),
            "description": account.description,
            **meta_fields(found.meta),
            "properties": pair_lines(account.properties),
        }
    )


@app.command(epilog="Example: floecat account update acme --rename acme-inc")
def update(
    context: typer.Context,
    name: options.AccountName,
    rename: options.Rename = None,
    description: options.Description = None,
    assigned: options.SetProperties = None,
    removed: options.UnsetProperties = None,
    etag: options.Etag = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Rename an account, or change its description or properties."""
    guard = Guard(etag, version, idempotency_key)
    edit = writes.edit(guard, assigned, removed, display_name=rename, description=description)
    with connected(context) as connection:
        found = connection.addresses.account(name)
        answer = ACCOUNT.update(connection.clients, found, edit)
    what = f"account {format_name([answer.account.display_name])}"
    writes.print_updated(what, answer, as_json=as_json)


@app.command(epilog="Example: floecat account delete acme --cascade --yes")
def delete(
    context: typer.Context,
    name: options.AccountName,
    cascade: options.Cascade = False,
    yes: options.Yes = False,
    if_exists: options.IfExists = False,
    etag: options.Etag = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Delete an account. Unless --cascade is given, it must be empty."""
    guard = Guard(etag, version, idempotency_key)
    with connected(context) as connection:
        writes.delete(
            f"account {name}",
            lambda: connection.addresses.account(name),
            lambda found: ACCOUNT.delete(connection.clients, found, guard, cascade=cascade),
            confirm=cascade and not yes,
            if_exists=if_exists,
            as_json=as_json,
        )
