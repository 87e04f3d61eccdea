"""What every command of one invocation shares: where settings come from."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import typer

from floecat.settings.load import LoadedSettings, load_settings


@dataclass(frozen=True, slots=True)
class Session:
    """One invocation of `floecat`."""

    environment: Mapping[str, str]
    settings_file: Path | None

    def load_settings(self) -> LoadedSettings:
        """Read the settings; only commands that need them pay for it or can fail by it."""
        return load_settings(self.environment, self.settings_file)


def new_session(
    environment: Mapping[str, str],
    settings_file: Path | None = None,
    server: str | None = None,
    account: str | None = None,
) -> Session:
    """A session; what is given on the command line wins over the environment's word for it."""
    given = {"FLOECAT_CLIENT_SERVER": server, "FLOECAT_CLIENT_ACCOUNT": account}
    chosen = {name: value for name, value in given.items() if value}
    return Session({**environment, **chosen}, settings_file)


def current_session(context: typer.Context) -> Session:
    """The invocation a command belongs to."""
    session = context.find_object(Session)
    if session is None:
        raise RuntimeError("commands run below the floecat command")
    return session
