"""Housekeeping beside the calls: finishing deletions and removing expired records."""

from datetime import timedelta
from threading import Event, Thread
from typing import Final

import structlog

from floecat.catalog.sweeps import Sweeper
from floecat.storage.kv.port import KeyValueStore

_LOG: Final = structlog.get_logger(log="floecat.maintenance")

_SWEEP_EVERY: Final = timedelta(seconds=1)
_EXPIRE_EVERY: Final = 3600
"""Sweeps between two removals of expired records: they are invisible anyway, and some stores have
to look at everything to find them."""
_EXPIRE_PAGE: Final = 1000


class Maintenance:
    """A thread that keeps house until it is told to stop. Several processes may each have one."""

    def __init__(self, sweeper: Sweeper, kv: KeyValueStore) -> None:
        self._sweeper = sweeper
        self._kv = kv
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="floecat-maintenance", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the page under way and end."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        rounds = 0
        while not self._stopped.wait(_SWEEP_EVERY.total_seconds()):
            try:
                self._sweep()
                if rounds % _EXPIRE_EVERY == 0:
                    self._expire()
            except Exception:  # noqa: BLE001 - whatever it was, housekeeping must go on
                # Nothing is lost: what is left to do is in the store, and the next round sees it.
                _LOG.exception("maintenance")
            rounds += 1

    def _sweep(self) -> None:
        while self._sweeper.sweep() and not self._stopped.is_set():
            pass

    def _expire(self) -> None:
        while self._kv.sweep(_EXPIRE_PAGE) == _EXPIRE_PAGE and not self._stopped.is_set():
            pass
