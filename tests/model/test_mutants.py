"""Every planted bug is noticed, and the queue as it is passes the same lives."""

import pytest
from tests.model.mutants import MUTANTS, Mutant
from tests.model.queue_simulator import Simulation
from tests.support.clock import FakeClock

from floecat.storage.kv.memory import MemoryKeyValueStore

SEEDS = 40
STEPS = 200


def noticed() -> bool:
    """Whether some life shows that something is wrong."""
    for seed in range(SEEDS):
        clock = FakeClock()
        simulation = Simulation(MemoryKeyValueStore(clock=clock), seed, clock, patience=60)
        try:
            for _ in range(STEPS):
                simulation.step()
            simulation.finish()
        except Exception:  # noqa: BLE001 - whatever a broken queue does
            return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.what)
def test_a_planted_bug_is_noticed(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant.plant(monkeypatch)
    assert noticed()


def test_there_are_enough() -> None:
    assert len({mutant.what for mutant in MUTANTS}) == len(MUTANTS) >= 20
