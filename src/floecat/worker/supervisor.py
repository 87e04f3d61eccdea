"""WorkerSupervisor: keeps a `floecat worker` process running beside the service."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import structlog

from floecat.worker.backoff import Backoff

_LOG: Final = structlog.get_logger(log="floecat.supervisor")
_LOOK_EVERY_SECONDS: Final = 0.1
_PROVEN: Final = timedelta(minutes=1)
"""A worker that has lived this long dies of something new, and is replaced at once."""


class WorkerSupervisor:
    """Starts a worker in a process of its own, and another whenever it dies.

    What can't be revived inside a process (a dead JVM, a library that crashes) ends with it. If
    this process dies, the worker notices and ends too.
    """

    def __init__(
        self,
        address: str,
        environment: Mapping[str, str],
        *,
        grace: timedelta = timedelta(seconds=30),
        backoff: Backoff | None = None,
    ) -> None:
        self._address = address
        self._environment = dict(environment)
        self._grace = grace
        self._backoff = backoff or Backoff(longest=timedelta(seconds=30))
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="floecat-supervisor", daemon=True)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the worker."""
        self._thread.start()

    def stop(self) -> None:
        """Let the worker finish or hand back its jobs; end it if that takes too long."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def pid(self) -> int | None:
        """The worker's process, while there is one."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def _run(self) -> None:
        while not self._stopping.is_set():
            began = time.monotonic()
            self._process = self._started()
            code = self._ended(self._process)
            if code is None:
                break
            if time.monotonic() - began > _PROVEN.total_seconds():
                self._backoff.reset()
            wait = self._backoff.next_wait().total_seconds()
            _LOG.warning("worker ended", code=code, again_in=round(wait, 1))
            self._stopping.wait(wait)

    def _started(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "floecat.cli.main", "worker"]
        return subprocess.Popen(  # noqa: S603 - our own program
            [*command, "--server", self._address, "--parent", str(os.getpid())],
            env=self._environment,
            stdin=subprocess.DEVNULL,
        )

    def _ended(self, process: subprocess.Popen[bytes]) -> int | None:
        """The code that the worker ended with; None if it was told to."""
        while process.poll() is None:
            if self._stopping.wait(_LOOK_EVERY_SECONDS):
                self._end(process)
                return None
        return process.returncode

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        process.terminate()
        try:
            process.wait(self._grace.total_seconds())
        except subprocess.TimeoutExpired:
            _LOG.warning("worker killed", grace=self._grace.total_seconds())
            process.kill()
            process.wait()
