"""A run while it goes on: a tree with bars on a terminal, a line now and then elsewhere."""

import sys
import time
from typing import TYPE_CHECKING, Final

from ai.floedb.floecat.reconciler import reconciler_pb2
from floecat.cli.counter_texts import files_done
from floecat.cli.output import note, visible_text
from floecat.cli.run_texts import (
    ENDED,
    STYLES,
    failure_lines,
    job_text,
    message_text,
    span_text,
    state_text,
)
from floecat.cli.watching import Progress, View

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text
    from rich.tree import Tree

    from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileJob

_BAR: Final = 24
_LINE_SECONDS: Final = 2.0


def run_view(name: str) -> View:
    """The view that fits where the output goes."""
    return LiveTree(name) if sys.stderr.isatty() else Lines(name)


class LiveTree:
    """Drawn again and again in one place."""

    def __init__(self, name: str) -> None:
        from rich.console import Console  # noqa: PLC0415 - slow to import, and pipes don't need it
        from rich.live import Live  # noqa: PLC0415 - as above

        self._name = name
        self._live = Live(
            console=Console(stderr=True, highlight=False), refresh_per_second=8, transient=True
        )
        self._live.start()

    def show(self, progress: Progress) -> None:
        """Draw it as it is now."""
        self._live.update(run_tree(self._name, progress))

    def close(self) -> None:
        """Take it off the screen."""
        self._live.stop()


class Lines:
    """A line when something has changed, not too often."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._last = ""
        self._written = 0.0

    def show(self, progress: Progress) -> None:
        """Write what is new. How it ended, and why, is written by whoever watches it."""
        if progress.job.state in ENDED:
            return
        line = f"{self._name}: {summary(progress)}"
        if line != self._last and time.monotonic() - self._written >= _LINE_SECONDS:
            note(line)
            self._last, self._written = line, time.monotonic()

    def close(self) -> None:
        """Nothing is left on the way."""


def summary(progress: Progress) -> str:
    """How far a run is, in one line."""
    parts = [f"{state_text(progress.job)}, {progress.done} of {progress.total} jobs"]
    if progress.job.counters.jobs_failed:
        parts.append(f"{progress.job.counters.jobs_failed} failed")
    if progress.files_total:
        parts.append(f"{progress.files_done} of {progress.files_total} files")
    parts.extend(_pace(progress))
    told = _trouble(progress.job) or _doing(progress.job)
    return f"{', '.join(parts)}: {told}" if told else ", ".join(parts)


def _trouble(job: "ReconcileJob") -> str:
    """Why it is tried again, while it is."""
    return message_text(job) if job.attempt > 1 and job.state not in ENDED else ""


def _doing(job: "ReconcileJob") -> str:
    """What one of its parts does."""
    return message_text(job) if job.state == reconciler_pb2.RJS_WAITING else ""


def _pace(progress: Progress) -> list[str]:
    parts = [f"{progress.per_second:.1f} jobs/s"] if progress.per_second else []
    if progress.seconds_left is not None:
        parts.append(f"about {span_text(progress.seconds_left)} left")
    return parts


def run_tree(name: str, progress: Progress) -> "Tree":
    """A run with its bars, what is worked on, and what has failed."""
    from rich.tree import Tree  # noqa: PLC0415 - as above

    tree = Tree(_head(name, progress), guide_style="dim")
    for part in progress.active:
        tree.add(_part(part))
    for line in failure_lines(progress.job.failures)[:5]:
        tree.add(visible_text(f"✗ {line}", "red"))
    return tree


def _head(name: str, progress: Progress) -> "RenderableType":
    from rich.table import Table  # noqa: PLC0415 - as above

    rows = Table.grid(padding=(0, 1, 0, 0))
    style = STYLES.get(progress.job.state, "")
    rows.add_row(visible_text(name, "bold"), visible_text(state_text(progress.job), style))
    rows.add_row("jobs", _bar(progress.done, progress.total), *_pace(progress))
    if progress.files_total:
        rows.add_row("files", _bar(progress.files_done, progress.files_total))
    if _trouble(progress.job):
        rows.add_row("", visible_text(_trouble(progress.job), "yellow"))
    return rows


def _part(job: "ReconcileJob") -> "RenderableType":
    from rich.table import Table  # noqa: PLC0415 - as above

    row = Table.grid(padding=(0, 1, 0, 0))
    counters = job.counters
    cells: list[RenderableType] = [
        visible_text(job_text(job), ""),
        visible_text(state_text(job), STYLES.get(job.state, "dim")),
    ]
    done = files_done(counters)
    if counters.files_total:
        cells.append(_bar(done, counters.files_total))
    if job.message and done == counters.files_total:
        cells.append(visible_text(message_text(job), "dim"))
    row.add_row(*cells)
    return row


def _bar(done: int, total: int) -> "Text":
    from rich.text import Text  # noqa: PLC0415 - as above

    filled = _BAR * done // total if total else 0
    text = Text("━" * filled, style="green")
    text.append("━" * (_BAR - filled), style="dim")
    text.append(f" {done} of {total}", style="")
    return text
