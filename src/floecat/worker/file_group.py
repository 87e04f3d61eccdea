"""RemoteFileGroupReconcileExecutor: captures one group of files."""

from collections.abc import Iterable, Iterator
from typing import Final

from ai.floedb.floecat.execution.capture_pb2 import (
    FES_FAILED,
    FES_SUCCEEDED,
    FileExecutionResult,
    FileGroupResultChunk,
)
from ai.floedb.floecat.reconciler import executor_control_pb2 as messages
from ai.floedb.floecat.reconciler.executor_control_pb2 import FCL_RETRYABLE, FCL_TERMINAL
from ai.floedb.floecat.reconciler.reconciler_pb2 import EXEC_FILE_GROUP, ReconcileCounters
from floecat.worker.captures import FileGroupCapture, GroupTask
from floecat.worker.chunks import bounded
from floecat.worker.connections import OpenConnectors
from floecat.worker.control import ControlPlane
from floecat.worker.submissions import Submission, spooled
from floecat.worker.work import Kind, LeasedWork

_Request = messages.SubmitLeasedFileGroupExecutionResultRequest
_SHOWN_FAILURES: Final = 3
_SENT_FAILURES: Final = 1000
_WAY_OUT: Final = "; a run with --allow-failed-files goes on without them"


class RemoteFileGroupReconcileExecutor:
    """Runs EXEC_FILE_GROUP."""

    executor_id: Final = "remote-file-group"
    kinds: Final[frozenset[Kind]] = frozenset({EXEC_FILE_GROUP})

    def __init__(
        self, control: ControlPlane, connectors: OpenConnectors, capture: FileGroupCapture
    ) -> None:
        self._control = control
        self._connectors = connectors
        self._capture = capture

    def execute(self, work: LeasedWork) -> Submission[_Request]:
        """Capture every file; one that fails fails the group, unless the policy allows it."""
        given = self._control.fetch(
            work,
            self._control.stub.GetLeasedFileGroupExecution,
            messages.GetLeasedFileGroupExecutionRequest(lease=work.lease),
        )
        task = GroupTask(given, given.group)
        work.step("input", files=len(task.group.files))
        tally = _Tally(work, len(task.group.files))
        with self._connectors.lent(given.connector) as connector:
            work.step("opened")
            chunks = bounded(tally.counted(self._capture.capture(connector, task, work)))
            spool = spooled(_Request, (_Request(lease=work.lease, chunk=chunk) for chunk in chunks))
        work.step("captured", failed=tally.counters.files_failed)
        method = self._control.stub.SubmitLeasedFileGroupExecutionResult
        if tally.failures:
            spool.close()
            return Submission(method, (), _failure(work, task, tally))
        return Submission(method, spool, _success(work, task, tally), (spool,))


class _Tally:
    """Counts what goes by, and keeps what failed."""

    def __init__(self, work: LeasedWork, planned: int) -> None:
        self._work = work
        self._planned = planned
        self.counters = ReconcileCounters()
        self.failures: list[FileExecutionResult] = []

    def counted(self, parts: Iterable[FileGroupResultChunk]) -> Iterator[FileGroupResultChunk]:
        for part in parts:
            for result in part.files:
                self._count(result)
            for result in part.delete_files:
                self._take(result)
            self._work.tell(
                f"{self.counters.files_completed} of {self._planned} files", self.counters
            )
            yield part

    def _count(self, result: FileExecutionResult) -> None:
        if result.state == FES_SUCCEEDED:
            self.counters.files_completed += 1
        else:
            self.counters.files_failed += 1
        self.counters.rows_processed += result.row_count
        self._take(result)

    def _take(self, result: FileExecutionResult) -> None:
        if result.state == FES_FAILED:
            self.failures.append(result)
        self.counters.bytes_read += result.bytes_read


def _success(work: LeasedWork, task: GroupTask, tally: _Tally) -> _Request:
    result_id = work.result_id("success", plan=task.given.plan_id, group=task.group.group_id)
    success = _Request.Success(
        result_id=result_id, files_total=len(task.group.files), counters=tally.counters
    )
    return _Request(lease=work.lease, success=success)


def _failure(work: LeasedWork, task: GroupTask, tally: _Tally) -> _Request:
    failed = len(tally.failures)
    total = len(task.group.files) + len(task.group.delete_files)
    reasons = "; ".join(result.failure for result in tally.failures[:_SHOWN_FAILURES])
    more = " …" if failed > _SHOWN_FAILURES else ""
    retryable = all(result.retryable for result in tally.failures)
    way_out = "" if retryable else _WAY_OUT
    failure = messages.LeasedJobFailure(
        failure_class=FCL_RETRYABLE if retryable else FCL_TERMINAL,
        message=f"{failed} of {total} files failed: {reasons}{more}{way_out}",
    )
    closing = _Request.Failure(
        result_id=work.result_id("failure", plan=task.given.plan_id, group=task.group.group_id),
        failure=failure,
        files=tally.failures[:_SENT_FAILURES],
    )
    return _Request(lease=work.lease, failure=closing)
