"""A run while it goes on, as people see it."""

import pytest
from rich.console import Console

from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.reconciler_pb2 import (
    JobFailure,
    NamespacePath,
    ReconcileCounters,
    ReconcileJob,
    ReconcileJobTarget,
    SourceRelation,
)
from floecat.cli.run_views import Lines, run_tree, summary
from floecat.cli.watching import Progress

ORDERS = ReconcileJobTarget(
    source=SourceRelation(namespace=NamespacePath(segments=["sales"]), name="orders")
)


def progress(**fields: object) -> Progress:
    """Three of ten jobs are done, half of the files."""
    run = ReconcileJob(
        kind=messages.PLAN_CONNECTOR,
        state=messages.RJS_WAITING,
        attempt=1,
        counters=ReconcileCounters(jobs_total=10, jobs_succeeded=3),
    )
    part = ReconcileJob(
        kind=messages.PLAN_TABLE,
        state=messages.RJS_RUNNING,
        target=ORDERS,
        counters=ReconcileCounters(files_total=8, files_completed=4),
    )
    shown: dict[str, object] = {
        "job": run,
        "active": [part],
        "done": 3,
        "total": 10,
        "files_done": 4,
        "files_total": 8,
        "per_second": 0.5,
        "seconds_left": 14.0,
        **fields,
    }
    return Progress(**shown)  # type: ignore[arg-type]


def drawn(shown: Progress) -> str:
    console = Console(width=100)
    with console.capture() as captured:
        console.print(run_tree("lake", shown))
    return captured.get()


def test_a_tree_has_bars_the_pace_and_what_is_worked_on() -> None:
    text = drawn(progress())
    assert "3 of 10" in text
    assert "0.5 jobs/s" in text
    assert "about 14 s left" in text
    assert "table sales.orders" in text
    assert "4 of 8" in text


def test_failures_and_troubles_are_told_while_it_goes_on() -> None:
    run = ReconcileJob(
        kind=messages.PLAN_CONNECTOR,
        state=messages.RJS_QUEUED,
        attempt=3,
        message="nothing listens there",
        failures=[JobFailure(kind=messages.PLAN_TABLE, target=ORDERS, message="no metadata")],
    )
    shown = progress(job=run, per_second=None, seconds_left=None)
    text = drawn(shown)
    assert "nothing listens there" in text
    assert "no metadata" in text
    assert summary(shown).endswith(": nothing listens there")


def test_lines_are_written_once(capsys: pytest.CaptureFixture[str]) -> None:
    view = Lines("lake")
    for _ in range(3):
        view.show(progress())
    view.close()
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("lake: in progress, 3 of 10 jobs, 4 of 8 files")
