"""The queue's rules, through many seeded lives on every backend, and what Hypothesis finds."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from tests.model.queue_simulator import Simulation
from tests.support.clock import FakeClock
from tests.support.postgres import Postgres
from typing_extensions import override

from floecat.reconciler.states import TERMINAL, TRANSITIONS
from floecat.reconciler.store import background
from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.port import KeyValueStore
from floecat.storage.kv.postgres import PostgresKeyValueStore
from floecat.storage.kv.sqlite import SqliteKeyValueStore, SqliteOptions

SOAK = bool(os.environ.get("SOAK"))
STEPS = 500 if SOAK else 200
IN_MEMORY = 200 if SOAK else 100
ON_SQLITE = 200 if SOAK else 20
ON_POSTGRES = 200 if SOAK else 2


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans here have few children: what is done in pages is to need several all the same."""
    for name in ("_CHILDREN", "_CHILDREN_IN_LANES", "_STOPPED", "_FORGOTTEN"):
        monkeypatch.setattr(background, name, 4)


def live(simulation: Simulation, steps: int) -> None:
    for _ in range(steps):
        simulation.step()
    simulation.finish()
    simulation.forget()


@contextmanager
def closing(kv: KeyValueStore) -> Iterator[KeyValueStore]:
    try:
        yield kv
    finally:
        kv.close()


@pytest.mark.parametrize("seed", range(IN_MEMORY))
def test_in_memory(seed: int) -> None:
    clock = FakeClock()
    live(Simulation(MemoryKeyValueStore(clock=clock), seed, clock, check_every=5), STEPS)


@pytest.mark.parametrize("seed", range(ON_SQLITE))
def test_on_sqlite(seed: int, tmp_path: Path) -> None:
    clock = FakeClock()
    quick = SqliteOptions(synchronous="OFF")  # whether the disk keeps it is tested elsewhere
    with closing(SqliteKeyValueStore(tmp_path / "queue.db", options=quick, clock=clock)) as kv:
        live(Simulation(kv, 1000 + seed, clock, check_every=10), STEPS)


@pytest.mark.postgres
@pytest.mark.parametrize("seed", range(ON_POSTGRES))
def test_on_postgres(seed: int, postgres: Postgres) -> None:
    clock = FakeClock()
    with closing(PostgresKeyValueStore(postgres.new_schema(), clock=clock)) as kv:
        live(Simulation(kv, 2000 + seed, clock, check_every=25), STEPS)


class QueueMachine(RuleBasedStateMachine):
    """The same life, with its steps chosen by Hypothesis, which makes what fails short."""

    chances: ClassVar = st.integers(0, 2**32)

    def __init__(self) -> None:
        super().__init__()
        clock = FakeClock()
        self.simulation = Simulation(MemoryKeyValueStore(clock=clock), 0, clock)

    def take(self, name: str, chance: int) -> None:
        self.simulation.random.seed(chance)
        self.simulation.take(getattr(self.simulation, name))

    @rule(chance=chances)
    def enqueue(self, chance: int) -> None:
        self.take("enqueue", chance)

    @rule(chance=chances)
    def lease(self, chance: int) -> None:
        self.take("lease", chance)

    @rule(chance=chances)
    def settle(self, chance: int) -> None:
        self.take("settle", chance)

    @rule(chance=chances)
    def settle_late(self, chance: int) -> None:
        self.take("settle_late", chance)

    @rule(chance=chances)
    def repeat_result(self, chance: int) -> None:
        self.take("repeat_result", chance)

    @rule(chance=chances)
    def cancel(self, chance: int) -> None:
        self.take("cancel", chance)

    @rule(chance=chances, what=st.sampled_from(["stall", "keep_alive", "pause", "wait"]))
    def let_time_pass(self, what: str, chance: int) -> None:
        self.take(what, chance)

    @rule(chance=chances)
    def work_in_background(self, chance: int) -> None:
        self.take("work_in_background", chance)

    @override
    def teardown(self) -> None:
        self.simulation.finish()
        self.simulation.forget()


def test_whatever_happens() -> None:
    run_state_machine_as_test(
        QueueMachine,
        settings=settings(
            max_examples=400 if SOAK else 40,
            stateful_step_count=60,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_the_ends_are_ends() -> None:
    assert {state for state, following in TRANSITIONS.items() if not following} == TERMINAL
    reachable = {following for states in TRANSITIONS.values() for following in states}
    assert reachable == set(TRANSITIONS)
