"""The queue's rules, through many seeded lives on every backend."""

import os
from pathlib import Path

import pytest
from tests.model.queue_simulator import Simulation
from tests.support.clock import FakeClock

from floecat.reconciler.states import TERMINAL, TRANSITIONS
from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.sqlite import SqliteKeyValueStore

SOAK = bool(os.environ.get("SOAK"))
SEEDS, STEPS = (200, 500) if SOAK else (25, 200)


def live(simulation: Simulation, steps: int) -> None:
    for _ in range(steps):
        simulation.step()
    simulation.finish()
    simulation.forget()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_in_memory(seed: int) -> None:
    clock = FakeClock()
    live(Simulation(MemoryKeyValueStore(clock=clock), seed, clock), STEPS)


@pytest.mark.parametrize("seed", range(SEEDS // 10))
def test_on_sqlite(seed: int, tmp_path: Path) -> None:
    clock = FakeClock()
    kv = SqliteKeyValueStore(tmp_path / "queue.db", clock=clock)
    try:
        live(Simulation(kv, 1000 + seed, clock), STEPS)
    finally:
        kv.close()


def test_the_ends_are_ends() -> None:
    assert {state for state, following in TRANSITIONS.items() if not following} == TERMINAL
    reachable = {following for states in TRANSITIONS.values() for following in states}
    assert reachable == set(TRANSITIONS)
