"""Chores that are told, rather than look."""

from datetime import UTC, datetime
from queue import Queue
from threading import Event

import pytest
from tests.support.waiting import PATIENCE_SECONDS

from floecat.reconciler import keys
from floecat.reconciler.signals import AREAS, SignallingKeyValueStore, Signals
from floecat.reconciler.upkeep import Chore, Upkeep
from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.port import ABSENT, ANY, Check, Delete, Key, Put

NEVER = 3600.0


@pytest.fixture
def signals() -> Signals:
    return Signals()


@pytest.fixture
def store(signals: Signals) -> SignallingKeyValueStore:
    return SignallingKeyValueStore(MemoryKeyValueStore(clock=lambda: datetime.now(UTC)), signals)


@pytest.mark.parametrize("area", AREAS)
def test_what_is_written_is_signalled_where_somebody_waits(
    store: SignallingKeyValueStore, signals: Signals, area: str
) -> None:
    store.commit([Put(Key(f"{area}x", "a"), b"", ABSENT)])
    assert [one for one in AREAS if signals.of(one).is_set()] == [area]


def test_nothing_new_is_no_signal(store: SignallingKeyValueStore, signals: Signals) -> None:
    row = Key(f"{keys.EXPANSIONS}00", "a/b")
    other = Key(f"{keys.EXPANSIONS}00", "a/c")
    store.commit([Delete(row, ANY), Check(other, ABSENT), Put(Key("job/a/00", "b"), b"", ANY)])
    assert not any(signals.of(area).is_set() for area in AREAS)


def test_a_chore_that_is_woken_doesnt_wait_for_its_time() -> None:
    woken, done = Event(), Queue[str]()

    def work() -> bool:
        done.put("done")
        return False

    upkeep = Upkeep([Chore("sleepy", NEVER, work, woken)])
    upkeep.start()
    for _ in range(3):
        woken.set()
        assert done.get(timeout=PATIENCE_SECONDS) == "done"
    upkeep.stop()
    assert not any(thread.is_alive() for thread in upkeep.threads)
