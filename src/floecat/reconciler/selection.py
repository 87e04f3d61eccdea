"""Which snapshots a run is about, and whether an earlier run has seen to them."""

from ai.floedb.floecat.catalog.table_pb2 import Table
from ai.floedb.floecat.reconciler.reconciler_pb2 import SnapshotSelection
from floecat.catalog.mirroring import REVISION
from floecat.errors import InvalidArgumentError

SELECTION = "floecat.revision.snapshots"
"""The property of an `UpstreamRef` that says which snapshots of the revision were mirrored."""

_ALL = "all"


def check_selection(selection: SnapshotSelection) -> None:
    """Refuse a selection that selects nothing."""
    match selection.WhichOneof("which"):
        case "latest_n" if selection.latest_n < 1:
            raise InvalidArgumentError(
                f"latest_n is {selection.latest_n}: it must be at least 1",
                field="scope.snapshots.latest_n",
            )
        case "ids" if not selection.ids.snapshot_ids:
            raise InvalidArgumentError(
                "no snapshot ids are given: name some, or select current, latest_n or all",
                field="scope.snapshots.ids",
            )


def selection_name(selection: SnapshotSelection) -> str:
    """A selection as one word; empty for ids, which say nothing about what comes later."""
    match selection.WhichOneof("which"):
        case "all" if selection.all:
            return _ALL
        case "latest_n":
            return f"latest-{selection.latest_n}"
        case "ids":
            return ""
        case _:
            return "current"


def is_mirrored(table: Table, revision: str, selection: SnapshotSelection) -> bool:
    """Whether a table's wanted snapshots have been mirrored since it last changed upstream."""
    known = table.upstream.properties
    wanted = selection_name(selection)
    if not revision or not wanted or known.get(REVISION) != revision:
        return False
    return known.get(SELECTION) in {wanted, _ALL}
