"""Backoff: how long to wait before the next attempt."""

import random
from dataclasses import dataclass
from datetime import timedelta


@dataclass(slots=True)
class Backoff:
    """Doubles with each attempt up to a limit. Half of each wait is chance, to spread the load."""

    first: timedelta = timedelta(milliseconds=200)
    longest: timedelta = timedelta(seconds=10)
    _attempts: int = 0

    def next_wait(self) -> timedelta:
        """The wait before the next attempt."""
        wait = min(self.longest, self.first * (1 << min(self._attempts, 20)))
        self._attempts += 1
        return wait * (0.5 + random.random() / 2)  # noqa: S311 - spreads load, hides nothing

    def reset(self) -> None:
        """It worked: the next wait is the first again."""
        self._attempts = 0
