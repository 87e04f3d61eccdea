"""Capacity: how many jobs run at the same time, and of which kinds there is room for more."""

import threading
from datetime import timedelta
from enum import Enum

from floecat.worker.work import Kind


class Slot(Enum):
    """What a job takes up."""

    ANY = "any"
    CONTROL = "control"


class Capacity:
    """Slots for jobs of any kind, and one that only control kinds get.

    Planning is quick, and everything else waits for it: it never waits for a long capture.
    """

    def __init__(self, slots: int, kinds: frozenset[Kind], control_kinds: frozenset[Kind]) -> None:
        self._kinds = kinds
        self._control_kinds = control_kinds
        self._free = {Slot.ANY: slots, Slot.CONTROL: 1}
        self._changed = threading.Condition()
        self._version = 0

    def open_kinds(self) -> frozenset[Kind]:
        """The kinds that there is room for now."""
        with self._changed:
            if self._free[Slot.ANY]:
                return self._kinds
            return self._control_kinds if self._free[Slot.CONTROL] else frozenset()

    def take(self, kind: Kind) -> Slot:
        """A slot for a job of a kind that there is room for."""
        with self._changed:
            planning = kind in self._control_kinds and self._free[Slot.CONTROL] > 0
            slot = Slot.CONTROL if planning else Slot.ANY
            self._free[slot] -= 1
            return slot

    def give_back(self, slot: Slot) -> None:
        """A job has ended."""
        with self._changed:
            self._free[slot] += 1
            self._wake()

    def interrupt(self) -> None:
        """End a wait."""
        with self._changed:
            self._wake()

    @property
    def version(self) -> int:
        """Changes whenever a job ends."""
        return self._version

    def wait(self, version: int, at_most: timedelta | None) -> None:
        """Until a job has ended since the version was read, or the time is up."""
        with self._changed:
            seconds = None if at_most is None else at_most.total_seconds()
            self._changed.wait_for(lambda: self._version != version, seconds)

    def _wake(self) -> None:
        self._version += 1
        self._changed.notify_all()
