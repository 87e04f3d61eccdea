"""CaptureRunner: where the tasks of a group run. In this process, or on Spark (`spark`)."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from ai.floedb.floecat.execution.stored_pb2 import TaskResult
from floecat.capture.tasks import CaptureTask, TaskContext, run_task


class Watch(Protocol):
    """Who waits for a group."""

    def require_live(self) -> None:
        """Raises when nobody wants the result any more."""

    def progressed(self, done: int, total: int) -> None:
        """So many tasks are done."""


class CaptureRunner(Protocol):
    """Runs the tasks of one group at a time, or of several from several threads."""

    @property
    def parallelism(self) -> int:
        """How many tasks run at once; groups are cut into more than these."""

    def run(
        self, context: TaskContext, tasks: Sequence[CaptureTask], watch: Watch
    ) -> Iterator[TaskResult]:
        """The results, in any order, once all are there. What `watch` raises stops the work."""

    def close(self) -> None:
        """Give everything back."""


class InlineCaptureRunner:
    """Runs tasks one after another in this process: for small lakes, and without Java."""

    parallelism = 1

    def run(
        self, context: TaskContext, tasks: Sequence[CaptureTask], watch: Watch
    ) -> Iterator[TaskResult]:
        for done, task in enumerate(tasks):
            watch.require_live()
            watch.progressed(done, len(tasks))
            yield run_task(context, task)

    def close(self) -> None:
        """There is nothing to give back."""
