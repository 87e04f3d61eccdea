"""What the reconciler does by itself, in threads of its own, until it is told to stop."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Event, Thread
from typing import Final

import structlog

from floecat.reconciler import keys
from floecat.reconciler.finalization import SnapshotFinalizeReconcileExecutor
from floecat.reconciler.scheduler import Scheduler
from floecat.reconciler.signals import Signals
from floecat.reconciler.store.port import ReconcileJobStore

_LOG: Final = structlog.get_logger(log="floecat.reconciler")
_PAGE: Final = 100
_SPREAD_SECONDS: Final = 0.2
_FINALIZE_SECONDS: Final = 0.5
_EXPIRE_SECONDS: Final = 60.0
_SCHEDULE_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Chore:
    """Something to do now and then; at once again while there is more of it."""

    name: str
    every: float
    work: Callable[[], bool]
    """Does some of it; whether there is more."""
    woken: Event = field(default_factory=Event)
    """Set when there may be something to do before that."""


def chores(
    store: ReconcileJobStore,
    reclaim_interval: timedelta,
    finalizer: SnapshotFinalizeReconcileExecutor | None,
    scheduler: Scheduler,
    signals: Signals,
) -> list[Chore]:
    """The queue's housekeeping, automatic runs, and finalization if it is enabled."""
    listed = [
        Chore(
            "expand",
            _SPREAD_SECONDS,
            lambda: store.expand(_PAGE) > 0,
            signals.of(keys.EXPANSIONS),
        ),
        Chore(
            "spread cancellations",
            _SPREAD_SECONDS,
            lambda: store.spread_cancellations(_PAGE) > 0,
            signals.of(keys.CANCELLATIONS),
        ),
        Chore("reclaim", reclaim_interval.total_seconds(), lambda: store.reclaim(_PAGE) >= _PAGE),
        Chore("schedule", _SCHEDULE_SECONDS, scheduler.run_due),
        Chore("expire", _EXPIRE_SECONDS, lambda: store.expire(_PAGE) > 0),
    ]
    if finalizer is not None:
        woken = signals.of(keys.FINALIZATIONS)
        listed.append(Chore("finalize", _FINALIZE_SECONDS, finalizer.run_next, woken))
    return listed


class Upkeep:
    """A thread per chore: none of them waits for another."""

    def __init__(self, listed: list[Chore]) -> None:
        self._stopped = Event()
        self._listed = listed
        self.threads = [
            Thread(target=self._run, args=(chore,), name=f"floecat-{chore.name}", daemon=True)
            for chore in listed
        ]

    def start(self) -> None:
        """Begin."""
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        """Finish the step under way and end."""
        self._stopped.set()
        for chore in self._listed:
            chore.woken.set()
        for thread in self.threads:
            thread.join()

    def _run(self, chore: Chore) -> None:
        while True:
            chore.woken.wait(chore.every)
            # Before the work: what comes up meanwhile is a reason to look again.
            chore.woken.clear()
            if self._stopped.is_set():
                return
            try:
                while chore.work() and not self._stopped.is_set():
                    pass
            except Exception:  # noqa: BLE001 - whatever it was, the reconciler must go on
                # Nothing is lost: what is left to do is in the store, and the next round sees it.
                _LOG.exception("upkeep", chore=chore.name)
