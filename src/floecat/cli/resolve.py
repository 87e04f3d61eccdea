"""`floecat resolve`: what a name means, and what an id is called."""

from typing import Annotated

import typer

from ai.floedb.floecat.common.common_pb2 import ResourceId, ResourceKind
from floecat.cli import options
from floecat.cli.addresses import KIND_NAMES
from floecat.cli.completion import complete_relation
from floecat.cli.connection import Connection, connected
from floecat.cli.output import print_json, print_table
from floecat.client.names import is_id, parse_name
from floecat.errors import NotFoundError

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: floecat resolve sales.eu.orders")
def resolve(
    context: typer.Context,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME|ID...",
            help="Names like sales.eu.orders, or ids.",
            autocompletion=complete_relation,
            show_default=False,
        ),
    ],
    as_json: options.JsonFlag = False,
) -> None:
    """Print id, kind and full name of what has a name or an id."""
    with connected(context) as connection:
        found = [
            (resource_id, connection.addresses.full_name(name, resource_id))
            for name in names
            for resource_id in _meanings(connection, name)
        ]
    if as_json:
        print_json(
            [
                {
                    "name": name,
                    "resource_id": {
                        "account_id": resource_id.account_id,
                        "id": resource_id.id,
                        "kind": ResourceKind.Name(resource_id.kind),
                    },
                }
                for resource_id, name in found
            ]
        )
        return
    print_table(
        ["NAME", "KIND", "ID"],
        [[name, KIND_NAMES[resource_id.kind], resource_id.id] for resource_id, name in found],
    )


def _meanings(connection: Connection, name: str) -> list[ResourceId]:
    """A namespace may have the same name as a table beside it: then both."""
    addresses = connection.addresses
    if is_id(name):
        return [addresses.resource(name)]
    parts = parse_name(name)
    if len(parts) == 1:
        return [addresses.catalog(name)]
    if len(parts) == 2:
        return [addresses.namespace(name)]
    found = []
    failure: NotFoundError | None = None
    for find in (addresses.namespace, addresses.relation):
        try:
            found.append(find(name))
        except NotFoundError as error:
            failure = error
    if not found and failure is not None:
        raise failure
    return found
