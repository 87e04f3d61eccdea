"""`floecat connector trigger` and what follows it: runs, their jobs, and how they go."""

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ai.floedb.floecat.common.common_pb2 import PageRequest, ResourceId
from ai.floedb.floecat.connector.connector_pb2 import StartCaptureRequest
from ai.floedb.floecat.reconciler import reconciler_pb2
from ai.floedb.floecat.reconciler.reconciler_pb2 import (
    CancelReconcileJobRequest,
    GetReconcileJobRequest,
    GetReconcileJobTreeRequest,
    ListReconcileJobsRequest,
    ReconcileJob,
    ReconcileJobNode,
)
from floecat.cli import capture_options, options
from floecat.cli import run_options as parts
from floecat.cli.capture_options import CaptureOptions
from floecat.cli.connection import connected
from floecat.cli.connector_options import Mode, known_mode
from floecat.cli.counter_texts import counters_text
from floecat.cli.descriptions import lately
from floecat.cli.output import (
    draw,
    note,
    print_done,
    print_fields,
    print_items,
    print_message,
    visible_text,
)
from floecat.cli.pages import fetch_all
from floecat.cli.run_texts import (
    ENDED,
    MODES,
    STYLES,
    failure_lines,
    job_fields,
    job_text,
    message_text,
    state_text,
    took,
)
from floecat.cli.run_views import run_view
from floecat.cli.watching import watch
from floecat.cli.writes import Guard
from floecat.errors import InvalidArgumentError

if TYPE_CHECKING:
    from rich.tree import Tree

    from floecat.client.clients import GrpcClients

_STATES: Final = reconciler_pb2.ReconcileJobState.items()
PARTLY_DONE: Final = 8
"""The exit code of a run that ended, but not with everything."""

Name = Annotated[
    str, typer.Argument(metavar="CONNECTOR", help="Its name or id.", show_default=False)
]
JobId = Annotated[str, typer.Argument(metavar="JOB", help="The job's id.", show_default=False)]
Wait = Annotated[bool, typer.Option("--wait", help="Show how it goes, and exit with how it ended.")]


def trigger(
    context: typer.Context,
    name: Name,
    full: parts.Full = False,
    current: parts.Current = False,
    latest_n: parts.LatestN = None,
    snapshots: parts.Snapshots = None,
    everything: parts.All = False,
    mode: Mode = None,
    capture: capture_options.Capture = None,
    columns: capture_options.Columns = None,
    first_n: capture_options.FirstN = None,
    sample: capture_options.Sample = None,
    sample_seed: capture_options.SampleSeed = None,
    allow_failed_files: capture_options.AllowFailedFiles = False,
    namespaces: parts.Namespaces = None,
    tables: parts.Tables = None,
    views: parts.Views = None,
    urgency: parts.Class = None,
    lane: parts.Lane = None,
    wait: Wait = False,
    idempotency_key: options.IdempotencyKey = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Run a connector now. An identical run that is still active is joined."""
    selected = parts.selection(
        current=current, latest_n=latest_n, snapshots=snapshots, everything=everything
    )
    captured = CaptureOptions(
        capture=capture,
        columns=columns,
        first_n=first_n,
        sample=sample,
        sample_seed=sample_seed,
        allow_failed_files=allow_failed_files,
    )
    captured.require_fitting(mode)
    policy = captured.policy()
    with connected(context) as connection:
        connector_id = connection.addresses.connector(name)
        request = StartCaptureRequest(
            connector_id=connector_id,
            scope=parts.scope(connector_id, selected, namespaces, tables, views),
            mode=known_mode(mode) if mode else reconciler_pb2.CAPTURE_MODE_UNSPECIFIED,
            full_rescan=full,
            execution_policy=parts.execution_policy(urgency, lane),
            capture_policy=policy,
            idempotency=Guard(key=idempotency_key).idempotency,
        )
        started = connection.clients.connectors.StartCapture(request)
        joined = "an identical run is active already: " if started.deduplicated else ""
        if wait:
            if joined:
                note(f"{joined}waiting for job {started.job_id.id}")
            _wait(connection.clients, started.job_id, name, as_json=as_json)
            return
    if as_json:
        print_message(started)
        return
    print_done(f"{joined}job {started.job_id.id}")
    note(f"see how it goes with: floecat connector job {started.job_id.id} --wait")


def job(
    context: typer.Context,
    job_id: JobId,
    wait: Wait = False,
    as_json: options.JsonFlag = False,
) -> None:
    """Show one job, with everything below it added up."""
    with connected(context) as connection:
        wanted = _job_id(connection, job_id)
        if wait:
            _wait(connection.clients, wanted, "run", as_json=as_json)
            return
        request = GetReconcileJobRequest(job_id=wanted)
        found = connection.clients.reconcile.GetReconcileJob(request)
    if as_json:
        print_message(found)
    else:
        print_fields(job_fields(found.job))


def jobs(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="[CONNECTOR]", help="Only its runs.", show_default=False)
    ] = None,
    parent: Annotated[
        str | None, typer.Option("--of", metavar="JOB", help="The parts of this job instead.")
    ] = None,
    states: Annotated[
        list[str] | None,
        typer.Option("--state", metavar="STATE", help="Only these, like failed. Repeatable."),
    ] = None,
    limit: options.Limit = 20,
    as_json: options.JsonFlag = False,
) -> None:
    """List runs, newest first; or the parts of one job."""
    with connected(context) as connection:
        request = ListReconcileJobsRequest(states=[_state(word) for word in states or ()])
        if name:
            request.connector_id.CopyFrom(connection.addresses.connector(name))
        if parent:
            request.parent_job_id.CopyFrom(_job_id(connection, parent))

        def page(asked: PageRequest) -> Any:
            request.page.CopyFrom(asked)
            answer = connection.clients.reconcile.ListReconcileJobs(request)
            return answer.jobs, answer.page

        found = fetch_all(page, limit)
        # Runs are called by their connector, and only its id is in the answer.
        names = connection.addresses.connector_names() if not (parent or as_json) else {}
    print_items(
        found,
        {
            "JOB": lambda job: job.job_id.id,
            "ABOUT": lambda job: names.get(job.target.connector_id.id) or job_text(job),
            "MODE": lambda job: MODES.get(job.mode, ""),
            "STATE": state_text,
            "DONE": _share,
            "STARTED": lambda job: lately(job.started_at),
            "TOOK": took,
        },
        as_json=as_json,
    )


def tree(
    context: typer.Context,
    job_id: JobId,
    depth: Annotated[
        int, typer.Option("--depth", min=0, metavar="N", help="Levels; 0 means all.")
    ] = 0,
    width: Annotated[
        int, typer.Option("--each", min=0, metavar="N", help="Parts drawn of each job.")
    ] = 50,
    as_json: options.JsonFlag = False,
) -> None:
    """Draw a job with its parts."""
    with connected(context) as connection:
        request = GetReconcileJobTreeRequest(
            job_id=_job_id(connection, job_id), max_depth=depth, max_children=width
        )
        found = connection.clients.reconcile.GetReconcileJobTree(request)
    if as_json:
        print_message(found)
    else:
        draw(_drawn(found.root))


def cancel(
    context: typer.Context,
    job_id: JobId,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Shown with what is cancelled.")
    ] = "",
    as_json: options.JsonFlag = False,
) -> None:
    """Stop a job and everything below it. What has ended stays as it is."""
    with connected(context) as connection:
        request = CancelReconcileJobRequest(job_id=_job_id(connection, job_id), reason=reason)
        answer = connection.clients.reconcile.CancelReconcileJob(request)
    if as_json:
        print_message(answer)
    else:
        too_late = answer.job.state in ENDED - {reconciler_pb2.RJS_CANCELLED}
        already = "it has ended already: " if too_late else ""
        print_done(f"job {answer.job.job_id.id}: {already}{state_text(answer.job)}")


def add_runs(app: typer.Typer) -> None:
    """Put these commands among a connector's."""
    app.command(
        epilog="Example: floecat connector trigger lake --full --all --mode metadata-only --wait; "
        "or, for a first look: floecat connector trigger lake --first-n 20 --sample 0.1 --wait"
    )(trigger)
    app.command(epilog="Example: floecat connector job 3f0c… --wait")(job)
    app.command(epilog="Example: floecat connector jobs lake --state failed")(jobs)
    app.command(epilog="Example: floecat connector tree 3f0c… --depth 2")(tree)
    app.command(epilog="Example: floecat connector cancel 3f0c… --reason 'wrong catalog'")(cancel)


def _wait(clients: "GrpcClients", job_id: ResourceId, name: str, *, as_json: bool) -> None:
    try:
        ended = watch(clients, job_id, run_view(name))
    except KeyboardInterrupt:
        note(f"it goes on: 'floecat connector job {job_id.id} --wait' looks again, ")
        note(f"and 'floecat connector cancel {job_id.id}' stops it")
        raise
    if as_json:
        print_message(ended)
    else:
        _print_end(name, ended)
    if ended.state != reconciler_pb2.RJS_SUCCEEDED:
        raise typer.Exit(1)
    if ended.degraded:
        raise typer.Exit(PARTLY_DONE)


def _print_end(name: str, ended: ReconcileJob) -> None:
    after = f" after {took(ended)}" if took(ended) else ""
    message = f": {message_text(ended)}" if ended.message else ""
    print_done(f"{name} {state_text(ended)}{after}{message}")
    print_fields({"done": counters_text(ended.counters)})
    # A run that failed itself has said why already.
    parts = [failure for failure in ended.failures if failure.message != ended.message]
    for line in failure_lines(parts):
        note(f"failed: {line}")


def _job_id(connection: Any, text: str) -> ResourceId:
    wanted: ResourceId = connection.addresses.job(text)
    return wanted


def _state(word: str) -> Any:
    known = {name.removeprefix("RJS_").lower(): value for name, value in _STATES if value}
    if word not in known:
        raise InvalidArgumentError(f"--state {word}: there is {', '.join(known)}")
    return known[word]


def _share(job: ReconcileJob) -> str:
    counters = job.counters
    done = counters.jobs_succeeded + counters.jobs_failed + counters.jobs_cancelled
    return f"{done + counters.jobs_skipped}/{counters.jobs_total}"


def _drawn(node: ReconcileJobNode) -> "Tree":
    from rich.tree import Tree  # noqa: PLC0415 - slow to import, and JSON doesn't need it

    job = node.job
    label = visible_text(f"{job_text(job)} ")
    label.append(state_text(job), style=STYLES.get(job.state, "dim"))
    is_skipped = job.outcome_reason == reconciler_pb2.JOR_OBSOLETE
    if job.message and (is_skipped or job.state != reconciler_pb2.RJS_SUCCEEDED):
        label.append_text(visible_text(f"  {message_text(job)}", "dim"))
    drawn = Tree(label, guide_style="dim")
    drawn.children.extend(_drawn(child) for child in node.children)
    if node.children_truncated:
        drawn.add(visible_text("…", "dim"))
    return drawn
