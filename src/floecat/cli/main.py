"""The `floecat` command: its subcommands, and where an error becomes a line and an exit code."""

import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from floecat.cli import config
from floecat.cli.exits import exit_code
from floecat.cli.serve import serve
from floecat.cli.session import Session
from floecat.errors import FloecatError

app = typer.Typer(
    name="floecat",
    help="A catalog of catalogs for lakehouses.",
    epilog="Example: floecat config show --changed",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(epilog="Example: FLOECAT_SERVER_ADDRESS=localhost:9200 floecat serve")(serve)
app.add_typer(config.app)


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
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """A catalog of catalogs for lakehouses."""
    context.obj = Session(environment=os.environ, settings_file=settings_file)


def main() -> None:
    """Run the command line; failures become one readable message and a documented exit code."""
    try:
        app()
    except FloecatError as error:
        typer.echo(f"floecat: {error.message}", err=True)
        sys.exit(exit_code(error))


if __name__ == "__main__":
    main()
