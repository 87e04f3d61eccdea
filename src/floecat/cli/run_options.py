"""What is said of a run on the command line, as parts of its request."""

from collections.abc import Sequence
from typing import Annotated, Final, TypeAlias

import typer

from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.reconciler import reconciler_pb2
from ai.floedb.floecat.reconciler.reconciler_pb2 import (
    CaptureScope,
    ExecutionPolicy,
    NamespacePath,
    SnapshotSelection,
    SourceRelation,
)
from floecat.client.names import parse_name
from floecat.errors import InvalidArgumentError

_CLASSES: Final = {
    "interactive": reconciler_pb2.EXC_INTERACTIVE,
    "default": reconciler_pb2.EXC_DEFAULT,
    "batch": reconciler_pb2.EXC_BATCH,
}

Full: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--full/--incremental",
        help="Look at everything again, or only at what isn't known yet.",
    ),
]
Current: TypeAlias = Annotated[
    bool, typer.Option("--current", help="The current snapshot of each table (the default).")
]
LatestN: TypeAlias = Annotated[
    int | None, typer.Option("--latest-n", min=1, metavar="N", help="The newest N snapshots.")
]
Snapshots: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--snapshot", metavar="ID[,ID]", help="These snapshots. Repeatable."),
]
All: TypeAlias = Annotated[bool, typer.Option("--all", help="Every snapshot there is.")]
Namespaces: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--namespace", metavar="NAME", help="This namespace only. Repeatable."),
]
Tables: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--table", metavar="NAME", help="This table only, as the upstream names it. Repeatable."
    ),
]
Views: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--view", metavar="NAME", help="This view only. Repeatable."),
]
Class: TypeAlias = Annotated[
    str | None,
    typer.Option("--class", metavar="CLASS", help="How urgent: interactive, default or batch."),
]
Lane: TypeAlias = Annotated[
    str | None,
    typer.Option("--lane", metavar="NAME", help="Only for workers that ask for this lane."),
]


def selection(
    *, current: bool, latest_n: int | None, snapshots: Sequence[str] | None, everything: bool
) -> SnapshotSelection:
    """Which snapshots; the current ones if nothing was said."""
    if sum([current, latest_n is not None, bool(snapshots), everything]) > 1:
        raise InvalidArgumentError("give one of --current, --latest-n, --snapshot and --all")
    if latest_n is not None:
        return SnapshotSelection(latest_n=latest_n)
    if snapshots:
        wanted = SnapshotSelection()
        wanted.ids.snapshot_ids.extend(_ids(snapshots))
        return wanted
    return SnapshotSelection(all=True) if everything else SnapshotSelection(current=True)


def scope(
    connector_id: ResourceId,
    snapshots: SnapshotSelection,
    namespaces: Sequence[str] | None,
    tables: Sequence[str] | None,
    views: Sequence[str] | None,
) -> CaptureScope:
    """What a run covers."""
    return CaptureScope(
        connector_id=connector_id,
        snapshots=snapshots,
        namespaces=[NamespacePath(segments=parse_name(name)) for name in namespaces or ()],
        tables=[_relation(name) for name in tables or ()],
        views=[_relation(name) for name in views or ()],
    )


def execution_policy(urgency: str | None, lane: str | None) -> ExecutionPolicy | None:
    """How urgent it is, and for whom; None if nothing was said."""
    if urgency is None and lane is None:
        return None
    if urgency is not None and urgency not in _CLASSES:
        raise InvalidArgumentError(f"--class {urgency}: there is {', '.join(_CLASSES)}")
    return ExecutionPolicy(
        execution_class=_CLASSES[urgency] if urgency else reconciler_pb2.EXC_UNSPECIFIED,
        execution_lane=lane or "",
    )


def _relation(name: str) -> SourceRelation:
    *namespace, last = parse_name(name)
    return SourceRelation(namespace=NamespacePath(segments=namespace), name=last)


def _ids(words: Sequence[str]) -> list[int]:
    parts = [part.strip() for word in words for part in word.split(",") if part.strip()]
    try:
        return [int(part) for part in parts]
    except ValueError as error:
        raise InvalidArgumentError(
            "--snapshot takes the upstream's ids, which are numbers: --snapshot 12,13"
        ) from error
