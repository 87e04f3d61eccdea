"""The `floecat` command: its subcommands, and where an error becomes a line and an exit code."""

import os
import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from floecat.characters import made_visible
from floecat.cli.commands import Commands
from floecat.cli.exits import OTHER_FAILURE, exit_code
from floecat.cli.session import new_session
from floecat.errors import FloecatError

INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141
"""What a shell reports for a process that its reader left, as `head` does."""
_LINES: Final = "\n\t"
"""What a message for people may hold besides text: settings have a line for every problem."""

app = typer.Typer(
    name="floecat",
    cls=Commands,
    help="A catalog of catalogs for lakehouses.",
    epilog="Example: floecat tree",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version  # noqa: PLC0415 - slow, and rarely asked for

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
    except SystemExit as ended:
        # Typer's own answer to a broken pipe; it has seen to it that nobody complains.
        return BROKEN_PIPE if ended.code == 1 else int(ended.code or 0)
    except BrokenPipeError:
        # The interpreter flushes once more at its end, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:
        return _failed(f"{error.filename or 'the output'}: {error.strerror}", OTHER_FAILURE)
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
        typer.echo(
            f"{typer.style('floecat:', fg='red')} {made_visible(message, keeping=_LINES)}", err=True
        )
    return code


if __name__ == "__main__":
    main()
