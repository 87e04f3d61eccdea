"""How jobs are described to people."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from ai.floedb.floecat.reconciler import reconciler_pb2
from ai.floedb.floecat.reconciler.reconciler_pb2 import (
    JobFailure,
    ReconcileJob,
    ReconcileJobKind,
    ReconcileJobState,
    ReconcileJobTarget,
)
from floecat.cli.counter_texts import counters_text
from floecat.cli.descriptions import failure_text, in_full, one_line
from floecat.client.names import format_name
from floecat.clock import utc_now

MODES: Final = {
    reconciler_pb2.METADATA_ONLY: "metadata-only",
    reconciler_pb2.CAPTURE_ONLY: "capture-only",
    reconciler_pb2.METADATA_AND_CAPTURE: "metadata-and-capture",
}
ENDED: Final = frozenset(
    {
        reconciler_pb2.RJS_SUCCEEDED,
        reconciler_pb2.RJS_FAILED,
        reconciler_pb2.RJS_CANCELLED,
    }
)
_KINDS: Final = {
    reconciler_pb2.PLAN_CONNECTOR: "run",
    reconciler_pb2.PLAN_TABLE: "table",
    reconciler_pb2.PLAN_VIEW: "view",
    reconciler_pb2.PLAN_SNAPSHOT: "snapshot",
    reconciler_pb2.EXEC_FILE_GROUP: "files",
    reconciler_pb2.FINALIZE_SNAPSHOT_CAPTURE: "finalize",
}
_LAST_KINDS: Final = frozenset({reconciler_pb2.FINALIZE_SNAPSHOT_CAPTURE})
"""Kinds that have to wait for others before they begin."""
STYLES: Final = {
    reconciler_pb2.RJS_WAITING: "cyan",
    reconciler_pb2.RJS_RUNNING: "cyan",
    reconciler_pb2.RJS_SUCCEEDED: "green",
    reconciler_pb2.RJS_FAILED: "red",
    reconciler_pb2.RJS_CANCELLED: "yellow",
    reconciler_pb2.RJS_CANCELLING: "yellow",
}


def state_text(job: ReconcileJob) -> str:
    """Where a job stands, in a word or two."""
    word = ReconcileJobState.Name(job.state).removeprefix("RJS_").lower()
    if job.state == reconciler_pb2.RJS_WAITING and job.kind not in _LAST_KINDS:
        word = "in progress"  # it waits for its own parts, and they are it
    if job.degraded:
        return "degraded"
    if job.outcome_reason == reconciler_pb2.JOR_OBSOLETE:
        return "skipped"
    return f"{word}, attempt {job.attempt}" if _is_tried_again(job) else word


def _is_tried_again(job: ReconcileJob) -> bool:
    return job.attempt > 1 and job.state not in {*ENDED, reconciler_pb2.RJS_WAITING}


def job_text(job: ReconcileJob) -> str:
    """What a job is about, in a few words."""
    kind = _KINDS.get(job.kind, ReconcileJobKind.Name(job.kind))
    return f"{kind} {target_text(job.target)}".strip()


def target_text(target: ReconcileJobTarget) -> str:
    """What something is about: the relation, and its snapshot."""
    name = format_name([*target.source.namespace.segments, target.source.name])
    snapshot = f" @{target.snapshot_id}" if target.HasField("snapshot_id") else ""
    group = f" {target.file_group_id}" if target.file_group_id else ""
    return f"{name if target.source.name else ''}{snapshot}{group}".strip()


def message_text(job: ReconcileJob) -> str:
    """What a job says, on one line."""
    return one_line(job.message)


def failure_lines(failures: Iterable[JobFailure]) -> list[str]:
    """Why things failed, a line each."""
    return [_failure_line(failure) for failure in failures]


def _failure_line(failure: JobFailure) -> str:
    """What failed and why; many messages begin with the name that is said here anyway."""
    name = target_text(failure.target)
    part = f"{_KINDS.get(failure.kind, 'part')} {name}".strip()
    return f"{part}: {failure_text(failure.message, name)}"


def job_fields(job: ReconcileJob) -> dict[str, str | list[str]]:
    """What a block about a job says."""
    return {
        "job": job.job_id.id,
        "about": job_text(job),
        "state": state_text(job),
        "message": message_text(job),
        "mode": f"{MODES.get(job.mode, '')}{', full' if job.full_rescan else ', incremental'}",
        "part of": job.root_job_id.id if job.root_job_id.id != job.job_id.id else "",
        "worker": job.executor_id,
        "attempt": f"{job.attempt} of {job.max_attempts}" if job.attempt else "",
        "created": in_full(job.created_at),
        "due": in_full(job.due_at),
        "started": in_full(job.started_at),
        "finished": in_full(job.finished_at),
        "took": took(job),
        "done": counters_text(job.counters),
        "failures": failure_lines(job.failures),
    }


def took(job: ReconcileJob) -> str:
    """How long a job has been at it, or was."""
    if not job.HasField("started_at"):
        return ""
    started = job.started_at.ToDatetime(UTC)
    ended: datetime = job.finished_at.ToDatetime(UTC) if job.HasField("finished_at") else utc_now()
    return span_text((ended - started).total_seconds())


def span_text(seconds: float) -> str:
    """A length of time, as short as it can be said."""
    if seconds < 10:
        return f"{max(seconds, 0):.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f}".removesuffix(".0") + " h"
