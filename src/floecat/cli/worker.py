"""`floecat worker`: run jobs of a service until told to stop."""

import os
import signal
import sys
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Final

import typer

from floecat.cli.session import current_session

if TYPE_CHECKING:
    from floecat.workshop import Worker

_LOOK_EVERY_SECONDS: Final = 0.1

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: floecat worker --server catalog.example.com:9100")
def worker(
    context: typer.Context,
    server: Annotated[
        str | None,
        typer.Option(
            "--server", metavar="HOST:PORT", help="The service to work for; else client.server."
        ),
    ] = None,
    parent: Annotated[
        int | None,
        typer.Option("--parent", metavar="PID", help="End when this process does.", hidden=True),
    ] = None,
) -> None:
    """Run jobs of a service: plan connectors, tables and snapshots, and capture files.

    Any number of workers may work for one service. Ctrl-C stops one: jobs under way may finish
    first, or are handed back. Settings are those of the service: blobs, outbound, reconciler.
    """
    from floecat.workshop import Worker  # noqa: PLC0415 - clients don't wait for the worker's code

    settings = current_session(context).load_settings().settings
    address = server or settings.client.server
    stopped = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda _number, _frame: stopped.set())
    with Worker(settings, address) as working:
        thread = threading.Thread(target=working.run, name="floecat-poller", daemon=True)
        thread.start()
        executors = ", ".join(working.executors.ids)
        typer.echo(f"floecat worker is working for {address}: {executors}", err=True)
        orphaned = _wait(stopped, parent, working)
        said = ": Spark is gone, and needs a new process" if working.is_lost else ""
        typer.echo(f"floecat worker is stopping{said}", err=True)
        # Without its service there is nobody to hand jobs back to: their leases run out.
        working.stop(timedelta(0) if orphaned else None)
        thread.join()
        code = 1 if working.is_lost else 0
        _leave_threads_behind(code)
    raise typer.Exit(code)


def _wait(stopped: threading.Event, parent: int | None, working: "Worker") -> bool:
    """Until a signal comes, it can't work any more, or the parent is gone; whether it is."""
    while not stopped.wait(_LOOK_EVERY_SECONDS):
        if working.is_lost:
            return False
        if parent is not None and os.getppid() != parent:
            return True
    return False


def _leave_threads_behind(code: int) -> None:
    """End now, even if a job outlasted the grace: its thread would be waited for without end."""
    if any(thread.name.startswith("floecat-job") for thread in threading.enumerate()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
