"""What a run covers, and how many jobs run at the same time."""

from datetime import timedelta

import pytest

from ai.floedb.floecat.reconciler.reconciler_pb2 import (
    EXEC_FILE_GROUP,
    PLAN_CONNECTOR,
    PLAN_TABLE,
    CaptureScope,
    NamespacePath,
)
from floecat.worker.capacity import Capacity, Slot
from floecat.worker.scopes import Scope, relation_of


def test_nothing_named_means_everything() -> None:
    scope = Scope.of(CaptureScope(), [])
    assert scope.is_walked
    assert scope.covers(("any", "where"))


def test_a_namespace_covers_what_is_below_it() -> None:
    named = CaptureScope(namespaces=[NamespacePath(segments=["sales", "eu"])])
    scope = Scope.of(named, [])
    assert scope.covers(("sales", "eu"))
    assert scope.covers(("sales", "eu", "north"))
    assert not scope.covers(("sales",))
    assert not scope.covers(("sales", "us"))


def test_named_tables_need_no_walk() -> None:
    assert not Scope.of(CaptureScope(tables=[relation_of(("a",), "t")]), []).is_walked


@pytest.mark.parametrize(
    ("pattern", "out"),
    [("sales.*", True), ("*.orders", True), ("sales.orders", True), ("orders", False)],
)
def test_patterns_leave_out(pattern: str, out: bool) -> None:
    assert Scope.of(CaptureScope(), [pattern]).leaves_out(("sales",), "orders") is out


def test_one_slot_is_kept_for_planning() -> None:
    kinds = frozenset({PLAN_CONNECTOR, PLAN_TABLE, EXEC_FILE_GROUP})
    capacity = Capacity(2, kinds, kinds - {EXEC_FILE_GROUP})
    slots = [capacity.take(EXEC_FILE_GROUP), capacity.take(EXEC_FILE_GROUP)]
    assert slots == [Slot.ANY, Slot.ANY]
    assert capacity.open_kinds() == {PLAN_CONNECTOR, PLAN_TABLE}
    planning = capacity.take(PLAN_TABLE)
    assert planning is Slot.CONTROL
    assert capacity.open_kinds() == frozenset()
    capacity.give_back(Slot.ANY)
    assert capacity.open_kinds() == kinds


def test_planning_leaves_the_other_slots_to_captures() -> None:
    kinds = frozenset({PLAN_TABLE, EXEC_FILE_GROUP})
    capacity = Capacity(1, kinds, frozenset({PLAN_TABLE}))
    assert capacity.take(PLAN_TABLE) is Slot.CONTROL
    assert capacity.open_kinds() == kinds
    assert capacity.take(PLAN_TABLE) is Slot.ANY
    assert capacity.open_kinds() == frozenset()


def test_a_wait_ends_when_a_job_does() -> None:
    capacity = Capacity(1, frozenset(), frozenset())
    version = capacity.version
    capacity.give_back(Slot.ANY)
    capacity.wait(version, None)  # returns at once
    capacity.wait(capacity.version, timedelta(milliseconds=1))
