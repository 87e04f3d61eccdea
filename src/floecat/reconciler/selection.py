"""Which snapshots a run is about, and whether an earlier run has seen to them."""

from collections.abc import Mapping

from ai.floedb.floecat.catalog.table_pb2 import Table
from ai.floedb.floecat.reconciler.reconciler_pb2 import SnapshotSelection
from floecat.catalog.mirroring import REVISION
from floecat.errors import InvalidArgumentError

SELECTION = "floecat.revision.snapshots"
"""The property of an `UpstreamRef` that says which snapshots of the revision were mirrored."""

_ALL = "all"
_LATEST = "latest-"


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
            return f"{_LATEST}{selection.latest_n}"
        case "ids":
            return ""
        case _:
            return "current"


def is_mirrored(table: Table, revision: str, selection: SnapshotSelection) -> bool:
    """Whether a table's wanted snapshots have been mirrored since it last changed upstream."""
    return _includes(table.upstream.properties, revision, selection_name(selection))


def mirrored(
    before: Mapping[str, str], revision: str, selection: SnapshotSelection
) -> dict[str, str]:
    """What an `UpstreamRef` says of a table once a selection of a revision is mirrored.

    What it said before stays true, and stays if this says no more: ids say nothing about the rest,
    and of one revision the wider selection counts.
    """
    selected = selection_name(selection)
    if revision and selected and not _includes(before, revision, selected):
        return {REVISION: revision, SELECTION: selected}
    return {name: before[name] for name in (REVISION, SELECTION) if name in before}


def _includes(known: Mapping[str, str], revision: str, wanted: str) -> bool:
    if not revision or not wanted or known.get(REVISION) != revision:
        return False
    selected = known.get(SELECTION, "")
    if selected.startswith(_LATEST) and wanted.startswith(_LATEST):
        return int(selected.removeprefix(_LATEST)) >= int(wanted.removeprefix(_LATEST))
    return selected in {wanted, _ALL}
