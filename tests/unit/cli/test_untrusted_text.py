"""Text that others wrote, wherever commands print it: the terminal gets none of its controls."""

from collections.abc import Callable

import pytest

from ai.floedb.floecat.common.common_pb2 import RK_TABLE, ResourceId
from ai.floedb.floecat.reconciler import reconciler_pb2
from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileJob, ReconcileJobNode
from floecat.cli import main, output, run_texts, run_views, runs, tree
from floecat.cli.pages import Fetched
from floecat.cli.run_texts import failure_lines
from floecat.cli.watching import Progress

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b1m \u202etxt\u2028end"


def job() -> ReconcileJob:
    failure = reconciler_pb2.JobFailure(message=EVIL)
    return ReconcileJob(state=reconciler_pb2.RJS_RUNNING, message=EVIL, failures=[failure])


def progress() -> Progress:
    return Progress(job(), [job()], 1, 2, 0, 0, None, None)


PRINTS: dict[str, Callable[[], object]] = {
    "table": lambda: output.print_table(["NAME"], [[EVIL]]),
    "titles": lambda: output.print_table([EVIL], [["name"]]),
    "items": lambda: output.print_items(
        Fetched([EVIL], more=False), {"NAME": lambda item: item}, as_json=False
    ),
    "fields": lambda: output.print_fields({"description": EVIL, "properties": [EVIL, EVIL]}),
    "lines": lambda: output.print_lines([EVIL]),
    "done": lambda: output.print_done(EVIL),
    "note": lambda: output.note(EVIL),
    "failure": lambda: main._failed(EVIL, 1),
    "tree": lambda: output.draw(
        tree._drawn(tree.Node(ResourceId(kind=RK_TABLE), EVIL), is_root=True)
    ),
    "jobs": lambda: output.draw(runs._drawn(ReconcileJobNode(job=job()))),
    "live": lambda: output.draw(run_views.run_tree(EVIL, progress())),
    "watched lines": lambda: run_views.Lines(EVIL).show(progress()),
}


@pytest.mark.parametrize("prints", PRINTS.values(), ids=PRINTS)
def test_its_controls_are_shown(
    prints: Callable[[], object], capsys: pytest.CaptureFixture[str]
) -> None:
    prints()
    shown = "".join(capsys.readouterr())
    assert "owned" in shown
    assert not set("\x1b\x07\x9b\u202e\u2028") & set(shown)


UPSTREAM = "a part of it failed: \x0f\nDeserializing page\r\n\theader failed.\n"
ON_ONE_LINE = "a part of it failed: \u240f Deserializing page header failed."


def test_what_a_job_says_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    failure = reconciler_pb2.JobFailure(kind=reconciler_pb2.PLAN_TABLE, message=UPSTREAM)
    failed = ReconcileJob(
        state=reconciler_pb2.RJS_FAILED, message=UPSTREAM, attempt=2, failures=[failure]
    )
    output.print_fields(run_texts.job_fields(failed))
    runs._print_end("lake", failed)
    output.draw(runs._drawn(ReconcileJobNode(job=failed)))
    failed.state = reconciler_pb2.RJS_QUEUED
    output.draw(run_views.run_tree("lake", Progress(failed, [failed], 1, 2, 0, 0, None, None)))
    output.note(run_views.summary(Progress(failed, [], 1, 2, 0, 0, None, None)))
    captured = capsys.readouterr()
    lines = [line for line in (captured.out + captured.err).splitlines() if "Deser" in line]
    assert len(lines) == 8
    assert all(ON_ONE_LINE in line for line in lines)


def test_lines_of_a_field_stay_in_its_column(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_fields({"sql": "select 1\nname  forged"})
    assert capsys.readouterr().out == "sql  select 1\n     name  forged\n"


def test_a_failure_of_a_job_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    failure = reconciler_pb2.JobFailure(message="bytes \x0f\nstate  forged")
    output.print_fields({"failures": failure_lines([failure])})
    assert capsys.readouterr().out == "failures  part: bytes ␏ state forged\n"


def test_json_stays_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_json({"name": "\u202e"})
    assert "\u202e" in capsys.readouterr().out
