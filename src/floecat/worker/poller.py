"""RemoteReconcileExecutorPoller: asks for work, and has it done, until it is told to stop."""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import structlog

from ai.floedb.floecat.reconciler.executor_control_pb2 import LeaseReconcileJobResponse
from floecat.errors import FloecatError
from floecat.worker.backoff import Backoff
from floecat.worker.capacity import Capacity, Slot
from floecat.worker.connections import OpenConnectors
from floecat.worker.control import ControlPlane
from floecat.worker.executors import Executors
from floecat.worker.runner import JobRunner
from floecat.worker.work import Kind, LeasedWork

_LOG: Final = structlog.get_logger(log="floecat.worker")
_SHORTEST_WAIT: Final = timedelta(milliseconds=10)
_LONGEST_WAIT: Final = timedelta(minutes=1)
_SECOND_GRACE: Final = timedelta(seconds=5)
"""For jobs that were told to stop, to come to the end of their step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PollerSettings:
    """How a worker works."""

    worker_id: str
    max_parallelism: int
    poll_every: timedelta


class RemoteReconcileExecutorPoller:
    """Leases jobs as long as there are slots for them, one call at a time.

    It asks again at once while there is work, whenever a job ends, and else now and then.
    """

    def __init__(
        self,
        settings: PollerSettings,
        control: ControlPlane,
        executors: Executors,
        runner: JobRunner,
        connectors: OpenConnectors,
    ) -> None:
        self._settings = settings
        self._control = control
        self._executors = executors
        self._runner = runner
        self._connectors = connectors
        self._capacity = Capacity(
            settings.max_parallelism, executors.kinds, executors.control_kinds
        )
        threads = settings.max_parallelism + 1
        self._jobs = ThreadPoolExecutor(threads, "floecat-job")
        self._active: dict[int, LeasedWork] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._backoff = Backoff()
        self._is_away = False
        self._last_work = time.monotonic() - _LONGEST_WAIT.total_seconds() * 2

    def run(self) -> None:
        """Work until `stop` is called from another thread."""
        while not self._stopping.is_set():
            version = self._capacity.version
            wait = self._poll()
            if wait != timedelta(0) and not self._stopping.is_set():
                self._capacity.wait(version, wait)

    def stop(self, grace: timedelta) -> None:
        """Lease no more. Jobs under way may finish within the grace; then they are handed back."""
        self._stopping.set()
        self._capacity.interrupt()
        if not self._settled_within(grace):
            for work in self._unfinished():
                work.hand_back()
            self._settled_within(_SECOND_GRACE)
        for work in self._unfinished():
            # Its step takes too long. Whatever it still says comes with a lease that is over.
            self._runner.hand_back(work, _SECOND_GRACE)
        self._jobs.shutdown(wait=False, cancel_futures=True)

    def _poll(self) -> timedelta | None:
        """Ask once; how long to wait before the next time. None means until a job has ended."""
        kinds = self._capacity.open_kinds()
        if not kinds:
            return None
        try:
            answer = self._control.lease(
                self._settings.worker_id, self._executors.ids, _ordered(kinds)
            )
        except FloecatError as error:
            return self._unanswered(error)
        self._answered()
        if answer.HasField("job"):
            self._begin(LeasedWork(answer.job))
            return timedelta(0)
        self._connectors.close_idle()
        return self._pause(answer)

    def _pause(self, answer: LeaseReconcileJobResponse) -> timedelta:
        """As long as the service says, or half as long as it has been quiet, if that is shorter.

        Children of a job that has just ended may come at any moment.
        """
        told = answer.poll_after.ToTimedelta() if answer.HasField("poll_after") else None
        pause = min(told or self._settings.poll_every, _LONGEST_WAIT)
        quiet = timedelta(seconds=time.monotonic() - self._last_work)
        return max(min(pause, quiet / 2), _SHORTEST_WAIT)

    def _begin(self, work: LeasedWork) -> None:
        slot = self._capacity.take(work.job.kind)
        with self._lock:
            self._active[id(work)] = work
        work.log.debug("leased", attempt=work.job.attempt)
        self._jobs.submit(self._run_job, work, slot)

    def _run_job(self, work: LeasedWork, slot: Slot) -> None:
        try:
            self._runner.run(work)
        finally:
            self._last_work = time.monotonic()
            with self._lock:
                del self._active[id(work)]
            self._capacity.give_back(slot)

    def _unanswered(self, error: FloecatError) -> timedelta:
        """Keep asking, and say so once."""
        if not self._is_away:
            _LOG.warning("control plane away", problem=error.message)
        self._is_away = True
        return self._backoff.next_wait()

    def _answered(self) -> None:
        if self._is_away:
            _LOG.info("control plane back")
        self._is_away = False
        self._backoff.reset()

    def _unfinished(self) -> list[LeasedWork]:
        with self._lock:
            return list(self._active.values())

    def _settled_within(self, grace: timedelta) -> bool:
        until = time.monotonic() + grace.total_seconds()
        while True:
            version = self._capacity.version
            if not self._unfinished():
                return True
            left = until - time.monotonic()
            if left <= 0:
                return False
            self._capacity.wait(version, timedelta(seconds=left))


def _ordered(kinds: frozenset[Kind]) -> Sequence[Kind]:
    return sorted(kinds)
