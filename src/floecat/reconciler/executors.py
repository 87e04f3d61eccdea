"""Who runs which kind of job, and whether anybody does."""

from collections.abc import Iterable
from typing import Final

from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.reconciler_pb2 import CaptureScope, ReconcileJobKind
from floecat.errors import FailedPreconditionError
from floecat.reconciler.jobs import Kind

REMOTE_PLANNER: Final = "remote-planner"
REMOTE_DEFAULT: Final = "remote-default"
REMOTE_SNAPSHOT_PLANNER: Final = "remote-snapshot-planner"
REMOTE_FILE_GROUP: Final = "remote-file-group"
SNAPSHOT_FINALIZE: Final = "snapshot-finalize"

EXECUTORS: Final[dict[Kind, str]] = {
    messages.PLAN_CONNECTOR: REMOTE_PLANNER,
    messages.PLAN_TABLE: REMOTE_DEFAULT,
    messages.PLAN_VIEW: REMOTE_DEFAULT,
    messages.PLAN_SNAPSHOT: REMOTE_SNAPSHOT_PLANNER,
    messages.EXEC_FILE_GROUP: REMOTE_FILE_GROUP,
    messages.FINALIZE_SNAPSHOT_CAPTURE: SNAPSHOT_FINALIZE,
}

_CAPTURE: Final = (
    messages.PLAN_SNAPSHOT,
    messages.EXEC_FILE_GROUP,
    messages.FINALIZE_SNAPSHOT_CAPTURE,
)


def leasable_kinds(executor_ids: Iterable[str], kinds: Iterable[Kind]) -> tuple[Kind, ...]:
    """Kinds that remote executors run, of those asked for; none asked for means all of them.

    Finalization is the service's own.
    """
    wanted = set(kinds)
    offered = set(executor_ids) - {SNAPSHOT_FINALIZE}
    return tuple(
        kind
        for kind, executor in EXECUTORS.items()
        if executor in offered and (not wanted or kind in wanted)
    )


def require_executors(
    enabled: frozenset[str], mode: messages.CaptureMode.ValueType, scope: CaptureScope
) -> None:
    """Refuse a run of which a part would never be run by anybody."""
    for kind in _needed(mode, scope):
        if EXECUTORS[kind] not in enabled:
            raise FailedPreconditionError(
                f"nobody would run {ReconcileJobKind.Name(kind)}: enable it with "
                f"reconciler.executor.{EXECUTORS[kind]}.enabled=true",
                reason="NO_EXECUTOR",
                metadata={"executor": EXECUTORS[kind]},
            )


def _needed(mode: messages.CaptureMode.ValueType, scope: CaptureScope) -> list[Kind]:
    kinds: list[Kind] = [messages.PLAN_CONNECTOR]
    named_tables = bool(scope.tables or scope.table_ids or scope.stats_requests)
    named_views = bool(scope.views or scope.view_ids)
    if named_tables or not named_views:
        kinds.append(messages.PLAN_TABLE)
    if mode != messages.CAPTURE_ONLY and (named_views or not named_tables):
        kinds.append(messages.PLAN_VIEW)
    if mode != messages.METADATA_ONLY and messages.PLAN_TABLE in kinds:
        kinds.extend(_CAPTURE)
    return kinds
