"""Which commands there are. Each is imported when it is used, so that none waits for the others."""

from collections.abc import Mapping
from copy import copy
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Final

import typer.main
from typer.core import TyperGroup

from floecat.errors import InvalidArgumentError

_BROWSE: Final = "Look around"
_RESOURCES: Final = "Catalogs and what is in them"
_OPERATE: Final = "Run and look after a service"

COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "tree": ("tree", _BROWSE),
    "resolve": ("resolve", _BROWSE),
    "catalog": ("catalogs", _RESOURCES),
    "namespace": ("namespaces", _RESOURCES),
    "table": ("tables", _RESOURCES),
    "view": ("views", _RESOURCES),
    "snapshot": ("snapshots", _RESOURCES),
    "constraints": ("constraints", _RESOURCES),
    "stats": ("stats", _RESOURCES),
    "connector": ("connectors", _RESOURCES),
    "serve": ("serve", _OPERATE),
    "worker": ("worker", _OPERATE),
    "account": ("accounts", _OPERATE),
    "config": ("config", _OPERATE),
    "admin": ("admin", _OPERATE),
}
"""The module of each command, and the panel of the help it is listed in, in the help's order."""


class Commands(TyperGroup):
    """The commands below `floecat`."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """One of them; None if there is none of that name."""
        return _command(cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """What the words on the command line name, and the words that are left."""
        noun, *words = args
        if noun in COMMANDS:
            return noun, _command(noun, words[0] if words else None), words
        if ctx.resilient_parsing:  # a shell that completes words
            return None, None, words
        close = get_close_matches(noun, COMMANDS, n=1)
        guess = f"did you mean {close[0]}?" if close else "'floecat --help' lists them"
        raise InvalidArgumentError(f"there is no command {noun}; {guess}")


def _command(name: str, verb: str | None = None) -> Any:
    """A noun with its verbs, even if there is only one yet; or a verb that needs no noun.

    If it is known which verb is wanted, the others aren't made: each takes some 15 ms.
    """
    module, panel = COMMANDS[name]
    app: typer.Typer = import_module(f"floecat.cli.{module}").app
    if not isinstance(app.info.name, str):
        command: Any = typer.main.get_command(app)
    else:
        command = typer.main.get_group(_narrowed(app, verb))
    command.name = name
    command.rich_help_panel = panel
    return command


def _narrowed(app: typer.Typer, verb: str | None) -> typer.Typer:
    """The same application with the one verb, if it has it."""
    found = [
        command
        for command in app.registered_commands
        if verb == (command.name or getattr(command.callback, "__name__", None))
    ]
    narrowed = copy(app)
    narrowed.registered_commands = found or app.registered_commands
    return narrowed
