"""`floecat serve`: run the service until it is told to stop."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

import typer

from floecat.cli.session import Session, current_session
from floecat.settings.load import FILE_VARIABLE
from floecat.settings.model import ReconcilerSettings, WorkerMode

_LOOK_EVERY_SECONDS: Final = 0.1
_EVERYWHERE: Final = frozenset({"", "0.0.0.0", "[::]", "::"})  # noqa: S104 - to recognise, not to bind

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

    session = current_session(context)
    settings = session.load_settings().settings
    stopped: list[int] = []
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda number, _frame: stopped.append(number))
    with Floecat(settings, insecure_on_network=insecure_dev_on_network) as floecat:
        host = settings.server.address.rpartition(":")[0]
        typer.echo(f"floecat is ready on {host}:{floecat.port}", err=True)
        with _worker(session, settings.reconciler, f"{_reachable(host)}:{floecat.port}"):
            # Looking now and then: a signal just before a wait without end would be missed.
            while not stopped:
                time.sleep(_LOOK_EVERY_SECONDS)
            typer.echo("floecat is stopping", err=True)
            # First of all: the worker takes its time to end, and calls should go elsewhere by now.
            floecat.announce_stop()
    _leave_threads_behind()


@contextmanager
def _worker(session: Session, settings: ReconcilerSettings, address: str) -> Iterator[None]:
    """A worker beside the service, unless jobs run elsewhere."""
    if settings.worker_mode is not WorkerMode.LOCAL or settings.max_parallelism == 0:
        yield
        return
    from floecat.worker.supervisor import WorkerSupervisor  # noqa: PLC0415 - as above

    environment = dict(session.environment)
    if session.settings_file is not None:
        environment[FILE_VARIABLE] = str(session.settings_file)
    supervisor = WorkerSupervisor(address, environment)
    supervisor.start()
    try:
        yield
    finally:
        supervisor.stop()


def _reachable(host: str) -> str:
    """Where a service that listens everywhere is found from here."""
    return "localhost" if host in _EVERYWHERE else host


def _leave_threads_behind() -> None:
    """End now, even if a call outlasted the grace: its thread would be waited for without end."""
    if any(thread.name.startswith("floecat-") for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
