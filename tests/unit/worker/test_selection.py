"""Which snapshots are recorded and captured, against a plain reading of what was asked for."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.floedb.floecat.reconciler.reconciler_pb2 import SnapshotIds, SnapshotSelection
from floecat.connectors.spi.records import SnapshotBundle, SnapshotEnumerationOptions
from floecat.worker.selection import Selecting, SnapshotChoice

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def upstream(ids: list[int]) -> list[SnapshotBundle]:
    return [
        SnapshotBundle(
            snapshot_id=identifier,
            created_at=BEGIN + timedelta(minutes=age),
            schema_json="{}",
            columns=(),
        )
        for age, identifier in enumerate(ids)
    ]


def enumerated(
    bundles: list[SnapshotBundle], options: SnapshotEnumerationOptions
) -> Iterator[SnapshotBundle]:
    return (bundle for bundle in bundles if options.wants(bundle.snapshot_id))


def selections() -> st.SearchStrategy[SnapshotSelection]:
    ids = st.lists(st.integers(0, 9), min_size=1, max_size=4)
    return st.one_of(
        st.just(SnapshotSelection()),
        st.just(SnapshotSelection(current=True)),
        st.just(SnapshotSelection(all=True)),
        st.integers(1, 4).map(lambda n: SnapshotSelection(latest_n=n)),
        ids.map(lambda found: SnapshotSelection(ids=SnapshotIds(snapshot_ids=found))),
    )


@given(
    ids=st.lists(st.integers(0, 9), unique=True),
    selection=selections(),
    known=st.frozensets(st.integers(0, 9)),
    finalized=st.frozensets(st.integers(0, 9)),
    full=st.booleans(),
    captures=st.booleans(),
)
def test_what_is_asked_for_is_what_happens(
    ids: list[int],
    selection: SnapshotSelection,
    known: frozenset[int],
    finalized: frozenset[int],
    full: bool,
    captures: bool,
) -> None:
    finalized &= known  # what isn't recorded can't be captured
    current = ids[-1] if ids else None
    choice = SnapshotChoice(
        selection=selection,
        current=current,
        full_rescan=full,
        known=known,
        finalized=finalized,
        captures=captures,
    )
    selecting = Selecting(choice)
    found = list(selecting.recorded(enumerated(upstream(ids), choice.options())))
    wanted = plainly_wanted(ids, selection)
    assert [b.snapshot_id for b in found] == [i for i in wanted if full or i not in known]
    captured = [i for i in reversed(wanted) if full or i not in finalized]
    assert list(selecting.captured) == (captured if captures else [])
    if full:
        assert selecting.seen == ids


def plainly_wanted(ids: list[int], selection: SnapshotSelection) -> list[int]:
    match selection.WhichOneof("which"):
        case "all":
            return ids
        case "latest_n":
            return ids[-selection.latest_n :]
        case "ids":
            return [i for i in ids if i in selection.ids.snapshot_ids]
        case _:
            return ids[-1:]


def test_an_incremental_run_asks_for_little() -> None:
    choice = SnapshotChoice(
        selection=SnapshotSelection(), current=3, known=frozenset({1, 2, 3}), captures=False
    )
    assert choice.options().target_snapshot_ids == frozenset()
    capturing = SnapshotChoice(
        selection=SnapshotSelection(), current=3, known=frozenset({1, 2, 3}), captures=True
    )
    assert capturing.options().target_snapshot_ids == frozenset({3})


@pytest.mark.parametrize(
    ("selection", "full", "everything"),
    [
        (SnapshotSelection(latest_n=2), False, True),
        (SnapshotSelection(all=True), False, False),
        (SnapshotSelection(all=True), True, True),
        (SnapshotSelection(current=True), False, False),
        (SnapshotSelection(current=True), True, True),
        (SnapshotSelection(ids=SnapshotIds(snapshot_ids=[1])), False, False),
    ],
)
def test_what_is_gone_shows_when_all_that_is_there_is_asked_for(
    selection: SnapshotSelection, full: bool, everything: bool
) -> None:
    choice = SnapshotChoice(
        selection=selection, current=2, full_rescan=full, known=frozenset({1, 2})
    )
    assert choice.sees_everything == everything
