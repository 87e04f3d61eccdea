"""SparkCaptureRunner: a group of files as one Spark job, a task per partition."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYetError
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa

from ai.floedb.floecat.execution.stored_pb2 import TaskResult
from floecat.capture.runners import Watch
from floecat.capture.spark.processes import keep_modules
from floecat.capture.spark.sessions import SparkSessions
from floecat.capture.spark.shipping import require_packages
from floecat.capture.tasks import CaptureTask, TaskContext, run_task
from floecat.errors import UnavailableError
from floecat.storage.blobs.port import BlobStore

_LOOK_SECONDS: Final = 0.25
_END_SECONDS: Final = 3.0
_UNKNOWN_PARALLELISM: Final = 8


class SparkCaptureRunner:
    """Runs tasks on Spark. What crosses the driver is a small row per task."""

    def __init__(
        self,
        sessions: SparkSessions,
        blobs: BlobStore,
        lost: Callable[[], None] = lambda: None,
    ) -> None:
        self._sessions = sessions
        self._blobs = blobs
        self._lost = lost
        self._waiters = ThreadPoolExecutor(thread_name_prefix="spark")
        self._checked = threading.Lock()
        self._ready = False

    @property
    def parallelism(self) -> int:
        session = self.session
        context = getattr(session, "_jsc", None) and session.sparkContext
        return context.defaultParallelism if context else _UNKNOWN_PARALLELISM

    def run(
        self, context: TaskContext, tasks: Sequence[CaptureTask], watch: Watch
    ) -> Iterator[TaskResult]:
        session = self.session
        tag = f"floecat-{uuid4().hex}"
        # Known there: the driver may run on another system than its tasks.
        limited = replace(context, task_memory=self._sessions.options.task_memory)
        work = _task_function(limited, tuple(tasks))
        waiting = self._waiters.submit(_collect, session, tag, work, len(tasks))
        try:
            while not self._is_done(waiting):
                watch.progressed(self._done(context), len(tasks))
                watch.require_live()
        except BaseException:
            _cancel(session, tag)
            raise
        yield from map(TaskResult.FromString, self._result(waiting))

    def close(self) -> None:
        """Stop the session."""
        self._waiters.shutdown(wait=False, cancel_futures=True)
        self._sessions.close()

    @property
    def session(self) -> Any:
        """The session, started and found able to run captures."""
        session = self._sessions.get()
        if self._sessions.is_lost:
            raise self._gone()
        with self._checked:
            if not self._ready and not self._sessions.options.is_local:
                require_packages(session)
            self._ready = True
        return session

    def _is_done(self, waiting: "Future[list[bytes]]") -> bool:
        try:
            waiting.exception(timeout=_LOOK_SECONDS)
        except NotYetError:
            return False
        return True

    def _result(self, waiting: "Future[list[bytes]]") -> list[bytes]:
        try:
            return waiting.result()
        except Exception as error:
            if self._is_gone():
                raise self._gone() from error
            reason = str(error).strip().partition("\n")[0] or repr(error)
            raise UnavailableError(f"Spark couldn't run the capture: {reason}") from error

    def _is_gone(self) -> bool:
        """Whether Spark has ended; a moment may pass between its last word and its end."""
        until = time.monotonic() + _END_SECONDS
        while not self._sessions.is_lost and time.monotonic() < until:
            time.sleep(_LOOK_SECONDS)
        return self._sessions.is_lost

    def _gone(self) -> UnavailableError:
        """No JVM is started twice in a process: the worker has to end, and another begin."""
        self._lost()
        return UnavailableError("Spark has ended; the worker that had it ends too")

    def _done(self, context: TaskContext) -> int:
        """By the parts that lie there: neither kind of session tells of a running job's tasks."""
        return len(self._blobs.list(f"{context.blob_prefix}/parts/", limit=1000))


def _collect(session: Any, tag: str, work: "_Work", tasks: int) -> list[bytes]:
    """Run the job in this thread, under a tag that it can be cancelled by."""
    _tags(session)[0](tag)
    frame = session.range(0, tasks, 1, tasks)
    rows = frame.mapInArrow(work, "result binary").collect()
    return [bytes(row.result) for row in rows]


_Work = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def _task_function(context: TaskContext, tasks: tuple[CaptureTask, ...]) -> _Work:
    def capture(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        keep_modules()
        for batch in batches:
            for number in batch.column(0).to_pylist():
                result = run_task(context, tasks[number]).SerializeToString()
                yield pa.RecordBatch.from_pydict({"result": pa.array([result], pa.binary())})

    return capture


def _tags(session: Any) -> tuple[Callable[[str], None], Callable[[str], None]]:
    """How a job is tagged and how it is cancelled: the two kinds of session do it differently."""
    if getattr(session, "_jsc", None) is None:
        return session.addTag, session.interruptTag
    return session.sparkContext.addJobTag, session.sparkContext.cancelJobsWithTag


def _cancel(session: Any, tag: str) -> None:
    with suppress(Exception):  # whoever doesn't answer any more runs nothing either
        _tags(session)[1](tag)
