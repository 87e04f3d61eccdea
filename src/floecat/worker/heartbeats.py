"""Heartbeats: leases are renewed from threads of their own, whatever executors are doing."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from floecat.errors import FloecatError
from floecat.worker.control import Beat, ControlPlane
from floecat.worker.errors import LeaseLostError
from floecat.worker.work import LeasedWork

_NEWS_EVERY_SECONDS: Final = 1.0
_SHORTEST_LEASE: Final = timedelta(seconds=1)
_AGAIN: Final = 10
"""After a heartbeat that wasn't answered: the next comes after this part of a lease."""


@dataclass(slots=True)
class _Watched:
    work: LeasedWork
    lease_seconds: float
    renewed: float
    """When the newest lease began at the latest, by our clock."""
    next_beat: float
    next_news: float
    beating: "Future[None] | None" = None

    def due(self) -> float:
        """When it wants to be looked at next."""
        return min(self.next_beat, self.next_news) if self.work.has_news else self.next_beat


class Heartbeats:
    """Renews every lease each third of its time, and sends what executors say of their progress.

    One thread keeps the time, others make the calls: one that isn't answered delays no other.
    """

    def __init__(
        self,
        control: ControlPlane,
        longest_lease: timedelta,
        *,
        threads: int = 4,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._control = control
        self._longest = longest_lease
        self._clock = clock
        self._changed = threading.Condition()
        self._watched: dict[int, _Watched] = {}
        self._stopped = False
        self._calls = ThreadPoolExecutor(threads, "floecat-heartbeat")
        self._thread = threading.Thread(target=self._run, name="floecat-heartbeats", daemon=True)
        self._thread.start()

    @contextmanager
    def keeping(self, work: LeasedWork, lasts: timedelta) -> Iterator[None]:
        """Renew a lease for as long as the context lasts, or until it is let go."""
        now = self._clock()
        seconds = self._seconds(lasts)
        with self._changed:
            self._watched[id(work)] = _Watched(
                work, seconds, now, now + seconds / 3, now + _NEWS_EVERY_SECONDS
            )
            self._changed.notify()
        try:
            yield
        finally:
            self.let_go(work)

    def let_go(self, work: LeasedWork) -> None:
        """Renew no more. When this returns, no heartbeat of the work is under way."""
        with self._changed:
            watched = self._watched.pop(id(work), None)
        if watched is not None and watched.beating is not None:
            wait([watched.beating])

    def stop(self) -> None:
        """End the threads."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        self._thread.join()
        self._calls.shutdown()

    def _seconds(self, lasts: timedelta) -> float:
        """A lease's time. Clocks differ, so what looks impossible isn't believed."""
        return min(max(lasts, _SHORTEST_LEASE), self._longest).total_seconds()

    def _run(self) -> None:
        with self._changed:
            while not self._stopped:
                self._changed.wait(self._beat_and_wait())

    def _beat_and_wait(self) -> float:
        """Begin what is due; the seconds until something else may be."""
        now = self._clock()
        idle = [watched for watched in self._watched.values() if not _is_beating(watched)]
        for watched in idle:
            if watched.due() <= now:
                watched.beating = self._calls.submit(self._beat, watched)
        waiting = [watched.due() - now for watched in idle if not _is_beating(watched)]
        # News come without a notice, so somebody has to look for them.
        return min([*waiting, _NEWS_EVERY_SECONDS / 2])

    def _beat(self, watched: _Watched) -> None:
        work, began = watched.work, self._clock()
        try:
            news = work.take_news()
            beat = self._control.report(work, news) if news else self._control.renew(work)
        except LeaseLostError:
            work.lose()
            self._postpone(watched, watched.lease_seconds)
        except FloecatError as error:
            self._unanswered(watched, error)
        else:
            self._renewed(watched, beat, began)

    def _renewed(self, watched: _Watched, beat: Beat, began: float) -> None:
        if beat.cancel_requested:
            watched.work.cancel()
        watched.lease_seconds = self._seconds(beat.lasts)
        watched.renewed = began
        self._postpone(watched, watched.lease_seconds / 3)

    def _unanswered(self, watched: _Watched, error: FloecatError) -> None:
        watched.work.log.debug("heartbeat unanswered", problem=error.message)
        if self._clock() - watched.renewed > watched.lease_seconds:
            # Whatever the control plane would say by now: renewing revives nothing.
            watched.work.lose()
        self._postpone(watched, watched.lease_seconds / _AGAIN)

    def _postpone(self, watched: _Watched, seconds: float) -> None:
        now = self._clock()
        watched.next_beat = now + seconds
        watched.next_news = now + min(seconds, _NEWS_EVERY_SECONDS)


def _is_beating(watched: _Watched) -> bool:
    return watched.beating is not None and not watched.beating.done()
