"""`floecat connector`: the catalogs that are watched, and how to sign in to them."""

from typing import Annotated, Any

import typer

from ai.floedb.floecat.connector import connector_pb2
from ai.floedb.floecat.connector.connector_pb2 import (
    AuthConfig,
    Connector,
    ReconcilePolicy,
    ValidateConnectorRequest,
    ValidateConnectorResponse,
)
from floecat.cli import connector_options as parts
from floecat.cli import options, writes
from floecat.cli.connection import connected
from floecat.cli.connector_texts import connector_fields, destination_text, schedule_text
from floecat.cli.descriptions import enum_word, meta_fields, pair_lines
from floecat.cli.inputs import pairs, single_name
from floecat.cli.nouns import CONNECTOR
from floecat.cli.output import note, print_done, print_fields, print_items, print_message
from floecat.cli.reconciler_settings import add_settings
from floecat.cli.runs import add_runs
from floecat.cli.writes import Guard
from floecat.client.names import format_name

app = typer.Typer(
    name="connector",
    help="Connectors: the catalogs that are watched, and how to sign in to them.",
    epilog="Example: floecat connector create lake --kind iceberg-rest --uri https://catalog/api",
    no_args_is_help=True,
    add_completion=False,
)

Name = Annotated[
    str, typer.Argument(metavar="CONNECTOR", help="Its name or id.", show_default=False)
]
Pause = Annotated[
    bool | None,
    typer.Option("--pause/--resume", help="Whether it runs at all.", show_default=False),
]


@app.command(
    epilog="Example: floecat connector create lake --kind iceberg-rest --uri https://catalog/api "
    "--set warehouse=prod --token-file token.txt --into lake"
)
def create(
    context: typer.Context,
    name: options.NewName,
    kind: parts.Kind,
    uri: parts.Uri = None,
    namespaces: parts.Namespaces = None,
    tables: parts.Tables = None,
    exclude: parts.Exclude = None,
    into: parts.Destination = None,
    token_file: parts.TokenFile = None,
    credentials_file: parts.CredentialsFile = None,
    tool: parts.Tool = None,
    scheme: parts.Scheme = None,
    auth_properties: parts.AuthProperties = None,
    headers: parts.Headers = None,
    every: parts.Every = None,
    mode: parts.Mode = None,
    keep_snapshots: parts.KeepSnapshots = None,
    description: options.Description = None,
    assigned: options.SetProperties = None,
    if_not_exists: options.IfNotExists = False,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Create a connector. It isn't contacted: 'floecat connector validate' does that."""
    fields = {
        "display_name": single_name(name),
        "kind_name": kind,
        "uri": uri,
        "source": parts.source(namespaces, tables, exclude),
        "destination": parts.destination(into),
        "auth": parts.auth(
            AuthConfig(),
            token_file=token_file,
            credentials_file=credentials_file,
            tool=tool,
            scheme=scheme,
            properties=auth_properties,
            headers=headers,
        ),
        "policy": parts.policy(ReconcilePolicy(), every, mode, keep_snapshots),
        "description": description,
        "properties": pairs(assigned, "--set"),
    }
    with connected(context) as connection:
        writes.create(
            f"connector {format_name([single_name(name)])}",
            lambda: CONNECTOR.create(connection.clients, idempotency_key, **fields),
            lambda: CONNECTOR.get(connection.clients, connection.addresses.connector(name)),
            if_not_exists=if_not_exists,
            as_json=as_json,
        )
    if not as_json:
        note(f"try it with: floecat connector validate {name}")


@app.command("list", epilog="Example: floecat connector list")
def list_(
    context: typer.Context, limit: options.Limit = None, as_json: options.JsonFlag = False
) -> None:
    """List the account's connectors."""
    with connected(context) as connection:
        found = CONNECTOR.list(connection.clients, limit)
    print_items(
        found,
        {
            "NAME": lambda connector: format_name([connector.display_name]),
            "KIND": lambda connector: connector.kind_name,
            "STATE": _state,
            "URI": lambda connector: connector.uri,
            "INTO": destination_text,
            "RUNS": schedule_text,
        },
        as_json=as_json,
    )


@app.command(epilog="Example: floecat connector get lake")
def get(context: typer.Context, name: Name, as_json: options.JsonFlag = False) -> None:
    """Show one connector. Secrets aren't shown to anyone."""
    with connected(context) as connection:
        found = CONNECTOR.get(connection.clients, connection.addresses.connector(name))
    if as_json:
        print_message(found)
        return
    connector = found.connector
    print_fields(
        {
            **connector_fields(connector, _state(connector)),
            **meta_fields(found.meta),
            "options": pair_lines(connector.properties),
        }
    )


@app.command(epilog="Example: floecat connector update lake --token-file token.txt --every 15m")
def update(
    context: typer.Context,
    name: Name,
    rename: options.Rename = None,
    uri: parts.Uri = None,
    namespaces: parts.Namespaces = None,
    tables: parts.Tables = None,
    exclude: parts.Exclude = None,
    into: parts.Destination = None,
    token_file: parts.TokenFile = None,
    credentials_file: parts.CredentialsFile = None,
    tool: parts.Tool = None,
    scheme: parts.Scheme = None,
    auth_properties: parts.AuthProperties = None,
    headers: parts.Headers = None,
    every: parts.Every = None,
    mode: parts.Mode = None,
    keep_snapshots: parts.KeepSnapshots = None,
    pause: Pause = None,
    description: options.Description = None,
    assigned: options.SetProperties = None,
    removed: options.UnsetProperties = None,
    etag: options.Etag = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Change a connector. Credentials that aren't given stay as they are."""
    guard = Guard(etag, version, idempotency_key)
    with connected(context) as connection:
        found = connection.addresses.connector(name)
        current: Connector = CONNECTOR.get(connection.clients, found).connector
        edit = writes.edit(
            guard,
            assigned,
            removed,
            display_name=rename,
            uri=uri,
            source=parts.source(namespaces, tables, exclude),
            destination=parts.destination(into),
            auth=parts.auth(
                current.auth,
                token_file=token_file,
                credentials_file=credentials_file,
                tool=tool,
                scheme=scheme,
                properties=auth_properties,
                headers=headers,
            ),
            policy=parts.policy(current.policy, every, mode, keep_snapshots),
            state=_wanted_state(pause),
            description=description,
        )
        answer = CONNECTOR.update(connection.clients, found, edit)
    what = f"connector {format_name([answer.connector.display_name])}"
    writes.print_updated(what, answer, as_json=as_json)


@app.command(epilog="Example: floecat connector delete lake")
def delete(
    context: typer.Context,
    name: Name,
    if_exists: options.IfExists = False,
    etag: options.Etag = None,
    version: options.Version = None,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Delete a connector and its secrets. What it mirrored stays."""
    guard = Guard(etag, version, idempotency_key)
    with connected(context) as connection:
        writes.delete(
            f"connector {name}",
            lambda: connection.addresses.connector(name),
            lambda found: CONNECTOR.delete(connection.clients, found, guard),
            if_exists=if_exists,
            as_json=as_json,
        )


@app.command(epilog="Example: floecat connector validate lake")
def validate(context: typer.Context, name: Name, as_json: options.JsonFlag = False) -> None:
    """Sign in and list namespaces. Exits with 1 if that doesn't work, saying why."""
    with connected(context) as connection:
        request = ValidateConnectorRequest(connector_id=connection.addresses.connector(name))
        tried = connection.clients.connectors.ValidateConnector(request)
    if as_json:
        print_message(tried)
    else:
        _print_trial(name, tried)
    if not tried.valid:
        raise typer.Exit(1)


def _print_trial(name: str, tried: ValidateConnectorResponse) -> None:
    if not tried.valid:
        problem = enum_word(connector_pb2.ValidationProblem.Name(tried.problem))
        note(f"connector {name} doesn't work ({problem}): {tried.message}")
        return
    print_done(f"connector {name} works: {tried.message}")
    able = sorted(word for word, able in tried.capabilities.items() if able == "true")
    print_fields(
        {
            "format": enum_word(connector_pb2.ConnectorFormat.Name(tried.format)),
            "namespaces": [format_name(path.segments) for path in tried.namespaces],
            "can": ", ".join(word.replace("_", " ") for word in able),
            "took": f"{tried.elapsed.ToMilliseconds()} ms",
        }
    )


def _state(connector: Connector) -> str:
    word = enum_word(connector_pb2.ConnectorState.Name(connector.state))
    return f"{word}: {connector.state_message}" if connector.state_message else word


def _wanted_state(pause: bool | None) -> Any:
    if pause is None:
        return None
    return connector_pb2.CS_PAUSED if pause else connector_pb2.CS_ACTIVE


add_runs(app)
add_settings(app)
