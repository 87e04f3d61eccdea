"""Executor: runs the jobs of some kinds. Which of them this worker runs is a matter of settings."""

from collections.abc import Iterable
from typing import Any, Protocol

from ai.floedb.floecat.reconciler.executor_control_pb2 import LeasedReconcileJob
from ai.floedb.floecat.reconciler.reconciler_pb2 import EXEC_FILE_GROUP, ReconcileJobKind
from floecat.errors import UnimplementedError
from floecat.worker.submissions import Submission
from floecat.worker.work import Kind, LeasedWork


class Executor(Protocol):
    """Does a job. Leasing, renewing, retrying and submitting aren't its business."""

    @property
    def executor_id(self) -> str:
        """What the control plane and the settings call it."""

    @property
    def kinds(self) -> frozenset[Kind]:
        """What it runs."""

    def execute(self, work: LeasedWork) -> Submission[Any]:
        """The job's result, changing nothing anywhere. The caller closes it.

        Raises what stands in the way: the SPI's errors, or a `WorkEndedError` of `work`.
        """


class Executors:
    """The executors that are switched on."""

    def __init__(self, executors: Iterable[Executor]) -> None:
        self._executors = tuple(executors)

    @property
    def ids(self) -> tuple[str, ...]:
        """What they are called."""
        return tuple(executor.executor_id for executor in self._executors)

    @property
    def kinds(self) -> frozenset[Kind]:
        """What they run."""
        return frozenset(kind for executor in self._executors for kind in executor.kinds)

    @property
    def control_kinds(self) -> frozenset[Kind]:
        """What plans: small jobs that others wait for."""
        return self.kinds - {EXEC_FILE_GROUP}

    def of(self, job: LeasedReconcileJob) -> Executor:
        """The one that runs a job."""
        for executor in self._executors:
            if job.kind in executor.kinds and job.executor in ("", executor.executor_id):
                return executor
        kind = ReconcileJobKind.Name(job.kind)
        raise UnimplementedError(f"this worker has no executor {job.executor!r} for {kind} jobs")
