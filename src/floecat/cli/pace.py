"""How fast a run goes, and how long the rest may take: nothing is said before that is known."""

import time
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

_WINDOW_SECONDS: Final = 20.0
_FEW: Final = 5
"""So many moves are remembered however long ago they were: what is slow has a pace too."""
_SHORTEST_SECONDS: Final = 2.0
"""What was done in less says little about the rest."""


class _Move(NamedTuple):
    """The moment when more was seen to be done."""

    at: float
    done: int
    left: int


class Pace:
    """What was done lately. What comes before the first move, like starting Spark, isn't in it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._moves: deque[_Move] = deque()
        self._done: int | None = None

    def see(self, done: int, left: int) -> None:
        """Take note of how much is done and left now."""
        now = self._clock()
        if self._done is not None and done != self._done:
            self._moves.append(_Move(now, done, left))
        self._done = done
        while len(self._moves) > _FEW and now - self._moves[0].at > _WINDOW_SECONDS:
            self._moves.popleft()

    def per_second(self) -> float | None:
        """How much is done in a second; None as long as nobody knows."""
        return self._rate(lambda move: move.done)

    def seconds_left(self) -> float | None:
        """A guess, which is over sooner or later if nothing moves any more.

        While more work is found than done, there is none.
        """
        rate = self._rate(lambda move: -move.left)
        if rate is None:
            return None
        last = self._moves[-1]
        left = last.left / rate - (self._clock() - last.at)
        return left if left > 0 else None

    def _rate(self, amount: Callable[[_Move], int]) -> float | None:
        if not self._moves:
            return None
        first, last = self._moves[0], self._moves[-1]
        span = last.at - first.at
        # After a pause longer than all that was seen before it, another pace is likely.
        is_over = self._clock() - last.at > max(span, _WINDOW_SECONDS)
        if span < _SHORTEST_SECONDS or is_over or amount(last) <= amount(first):
            return None
        return (amount(last) - amount(first)) / span
