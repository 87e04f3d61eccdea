"""`floecat serve`: run the service until it is told to stop."""

import os
import signal
import sys
import threading
import time
from typing import Annotated, Final

import typer

from floecat.cli.session import current_session

_LOOK_EVERY_SECONDS: Final = 0.1

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: FLOECAT_SERVER_ADDRESS=localhost:9200 floecat serve")
def serve(
    context: typer.Context,
    insecure_dev_on_network: Annotated[
        bool,
        typer.Option(
            "--insecure-dev-on-network",
            help="Listen beyond this machine although nobody has to sign in.",
        ),
    ] = False,
) -> None:
    """Run the service. Ctrl-C stops it: calls under way may finish first."""
    from floecat.bootstrap import Floecat  # noqa: PLC0415 - clients don't wait for the server's code

    settings = current_session(context).load_settings().settings
    stopped: list[int] = []
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda number, _frame: stopped.append(number))
    with Floecat(settings, insecure_on_network=insecure_dev_on_network) as floecat:
        host = settings.server.address.rpartition(":")[0]
        typer.echo(f"floecat is ready on {host}:{floecat.port}", err=True)
        # Looking now and then: a signal that comes just before a wait without end would be missed.
        while not stopped:
            time.sleep(_LOOK_EVERY_SECONDS)
        typer.echo("floecat is stopping", err=True)
    _leave_threads_behind()


def _leave_threads_behind() -> None:
    """End now, even if a call outlasted the grace: its thread would be waited for without end."""
    if any(thread.name.startswith("floecat-") for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
