"""Which commands there are. Each is imported when it is used, so that none waits for the others."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import typer.main
from typer.core import TyperGroup

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
    "serve": ("serve", _OPERATE),
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
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            module, panel = COMMANDS[cmd_name]
            app: typer.Typer = import_module(f"floecat.cli.{module}").app
            self.commands[cmd_name] = _command(app, panel)
        return super().get_command(ctx, cmd_name)


def _command(app: typer.Typer, panel: str) -> Any:
    """A noun with its verbs, even if there is only one yet; or a verb that needs no noun."""
    is_noun = isinstance(app.info.name, str)
    command: Any = typer.main.get_group(app) if is_noun else typer.main.get_command(app)
    command.rich_help_panel = panel
    return command
