"""`floecat config`: which settings are in effect, and where each comes from."""

from typing import Annotated, Final

import typer

from floecat.cli import options
from floecat.cli.output import print_json, print_table
from floecat.cli.session import current_session
from floecat.settings.load import DEFAULT, LoadedSettings
from floecat.settings.model import Settings
from floecat.settings.options import Declared, declared_options
from floecat.settings.values import render

MASK: Final = "********"

app = typer.Typer(
    name="config",
    help="Look at the settings in effect.",
    epilog="Example: floecat config show",
    no_args_is_help=True,
    add_completion=False,
)


@app.command(epilog="Example: FLOECAT_KV=postgres floecat config show --changed")
def show(
    context: typer.Context,
    changed: Annotated[bool, typer.Option(help="Only what differs from the defaults.")] = False,
    as_json: options.JsonFlag = False,
) -> None:
    """Print each setting with where its value comes from. Secrets are masked."""
    loaded = current_session(context).load_settings()
    shown = [
        o for o in declared_options(Settings) if not changed or loaded.origin(o.key) != DEFAULT
    ]
    if as_json:
        print_json(
            [
                {"key": o.key, "value": _shown(loaded, o), "from": loaded.origin(o.key)}
                for o in shown
            ]
        )
        return
    print_table(
        ["SETTING", "VALUE", "FROM"],
        [[o.key, _shown(loaded, o), _source(loaded, o)] for o in shown],
    )


def _shown(loaded: LoadedSettings, declared: Declared) -> str:
    text = render(declared.key, loaded.value(declared))
    return MASK if declared.option.secret and text else text


def _source(loaded: LoadedSettings, declared: Declared) -> str:
    origin = loaded.origin(declared.key)
    return f"{origin} {declared.environment_name}" if origin == "environment" else origin
