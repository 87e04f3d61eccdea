"""The `floecat` command: its subcommands, and where an error becomes a line and an exit code."""

import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from floecat.cli import (
    accounts,
    admin,
    catalogs,
    config,
    constraints,
    namespaces,
    snapshots,
    tables,
    views,
)
from floecat.cli.exits import exit_code
from floecat.cli.resolve import resolve
from floecat.cli.serve import serve
from floecat.cli.session import new_session
from floecat.cli.tree import tree
from floecat.errors import FloecatError

INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141
"""What a shell reports for a process that its reader left, as `head` does."""

_BROWSE: Final = "Look around"
_RESOURCES: Final = "Catalogs and what is in them"
_OPERATE: Final = "Run and look after a service"

_ORDER: Final = (
    *("tree", "resolve"),
    *("catalog", "namespace", "table", "view", "snapshot", "constraints"),
    *("serve", "account", "config", "admin"),
)


class Ordered(TyperGroup):
    """Lists commands in the order people need them, not groups behind all single commands."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names."""
        return sorted(super().list_commands(ctx), key=_ORDER.index)


app = typer.Typer(
    name="floecat",
    cls=Ordered,
    help="A catalog of catalogs for lakehouses.",
    epilog="Example: floecat tree",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(rich_help_panel=_BROWSE, epilog="Example: floecat tree sales --depth 2")(tree)
app.command(rich_help_panel=_BROWSE, epilog="Example: floecat resolve sales.eu.orders")(resolve)
app.add_typer(catalogs.app, rich_help_panel=_RESOURCES)
app.add_typer(namespaces.app, rich_help_panel=_RESOURCES)
app.add_typer(tables.app, rich_help_panel=_RESOURCES)
app.add_typer(views.app, rich_help_panel=_RESOURCES)
app.add_typer(snapshots.app, rich_help_panel=_RESOURCES)
app.add_typer(constraints.app, rich_help_panel=_RESOURCES)
app.command(
    rich_help_panel=_OPERATE,
    epilog="Example: FLOECAT_SERVER_ADDRESS=localhost:9200 floecat serve",
)(serve)
app.add_typer(accounts.app, rich_help_panel=_OPERATE)
app.add_typer(config.app, rich_help_panel=_OPERATE)
app.add_typer(admin.app, rich_help_panel=_OPERATE)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"floecat {version('floecat')}")
        raise typer.Exit


@app.callback()
def start(
    context: typer.Context,
    settings_file: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="Settings file instead of ./floecat.toml."),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option("--server", metavar="HOST:PORT", help="The service, for client.server."),
    ] = None,
    account: Annotated[
        str | None,
        typer.Option("--account", metavar="NAME|ID", help="The account, for client.account."),
    ] = None,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """A catalog of catalogs for lakehouses."""
    context.obj = new_session(os.environ, settings_file, server, account)


def main() -> None:
    """Run the command line; failures become one readable message and a documented exit code."""
    sys.exit(_run())


def _run() -> int:
    try:
        result = app(standalone_mode=False)
        sys.stdout.flush()
    except FloecatError as error:
        return _failed(error.message, exit_code(error))
    except typer.TyperException as error:
        return _failed(_usage_message(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        # The interpreter flushes once more at its end, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return result if isinstance(result, int) else 0


def _usage_message(error: typer.TyperException) -> str:
    """What is wrong with the command line, and where to read how it should be."""
    context = getattr(error, "ctx", None)
    message = error.format_message().strip()
    if context is None or not message:
        return message
    return f"{message.rstrip('.')} (see '{context.command_path} --help')"


def _failed(message: str, code: int) -> int:
    if message:  # none if help was shown instead
        typer.echo(f"floecat: {message}", err=True)
    return code


if __name__ == "__main__":
    main()
