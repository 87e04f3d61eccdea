"""What a run names and tables have, snapshots and columns: whether any of them was seen to have it.

A run may be about many tables, and no single one has to have everything. So each tells what it has,
which is added up on the way to the root; what none has is told there.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from ai.floedb.floecat.catalog.table_pb2 import ColumnId
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.stored_pb2 import JobTask, Sighting
from floecat.spelling import nearest

_MOST: Final = 100
"""Names that are told of; whoever names more doesn't type them."""
_LIKENESS: Final = 0.8


def of_columns(run: JobTask, columns: Iterable[ColumnId]) -> list[Sighting]:
    """Whether a table has the columns that a run names."""
    if run.mode == messages.METADATA_ONLY or not run.named_columns:
        return []
    # Columns that were dropped are in older snapshots still.
    current = run.scope.snapshots.WhichOneof("which") in (None, "current")
    present = [column for column in columns if not (current and column.dropped)]
    ids = {f"#{column.column_id}" for column in present}
    names = {".".join(c.path[:depth]) for c in present for depth in range(1, len(c.path) + 1)}
    return [
        _sighting(f"column {wanted}", wanted in ids | names, wanted, lambda: names)
        for wanted in run.named_columns[:_MOST]
    ]


def of_snapshots(
    run: JobTask, has: Callable[[int], bool], known: Callable[[], Sequence[int]]
) -> list[Sighting]:
    """Whether a table has the snapshots that a run names."""
    return [
        _sighting(f"snapshot {wanted}", has(wanted), str(wanted), lambda: map(str, known()))
        for wanted in run.scope.snapshots.ids.snapshot_ids[:_MOST]
    ]


def merge(sightings: dict[str, Sighting], more: Iterable[Sighting]) -> None:
    """Add what others have seen."""
    for seen in more:
        known = sightings.setdefault(seen.name, Sighting(name=seen.name))
        known.found |= seen.found
        known.near = known.near or seen.near


def unseen(sightings: Iterable[Sighting]) -> list[str]:
    """What to tell of names that no table has."""
    return [
        f"no table of this run has the {one.name}"
        + (f"; did you mean {one.near}?" if one.near else "")
        for one in sightings
        if not one.found
    ]


def _sighting(name: str, found: bool, word: str, others: Callable[[], Iterable[str]]) -> Sighting:
    near = "" if found else nearest(word, others(), likeness=_LIKENESS)
    return Sighting(name=name, found=found, near=near or "")
