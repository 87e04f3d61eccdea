"""Accepting a snapshot's plan: frozen as it was sent, once it is found to be whole."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import uuid4

from ai.floedb.floecat.execution.capture_pb2 import FileGroup, SnapshotPlan
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.executor_control_pb2 import PlanSnapshotChunk
from ai.floedb.floecat.reconciler.reconciler_pb2 import ReconcileCounters, ReconcileJobTarget
from ai.floedb.floecat.reconciler.stored_pb2 import JobTask, PlannedJob
from floecat.artifacts.coverage import CoverageHash
from floecat.errors import InvalidArgumentError
from floecat.reconciler.assignments import Assignment, Assignments
from floecat.reconciler.jobs import Outcome, Planned, Report
from floecat.reconciler.results.receiving import Received
from floecat.reconciler.store.plans import Plans
from floecat.storage.blobs.frames import Frame


class SnapshotPlanResults:
    """Accepts plans of snapshots."""

    def __init__(self, assignments: Assignments, plans: Plans) -> None:
        self._assignments = assignments
        self._plans = plans

    def accept(self, received: Received) -> tuple[Outcome, Report]:
        """Freeze the plan; its groups, and what finalizes them, are the children."""
        assignment = self._assignments.get(received.lease, messages.PLAN_SNAPSHOT)
        accepted = _Accepted(assignment)
        name = f"plans/{received.lease.account_id}/{received.lease.job_id}/{uuid4().hex}"
        plan, total = self._plans.write(name, accepted.children(received))
        accepted.check(received.closing.items_total)
        report = Report(counters=accepted.counters, payload=received.pieces.as_blob())
        message = received.closing.message
        return Planned(plan, total, has_barrier=True, message=message), report


@dataclass
class _Accepted:
    """A plan while it is looked through."""

    assignment: Assignment
    counters: ReconcileCounters = field(default_factory=ReconcileCounters)
    header: SnapshotPlan | None = None
    coverage: CoverageHash = field(default_factory=CoverageHash)
    groups: set[str] = field(default_factory=set)

    def children(self, received: Received) -> Iterator[PlannedJob]:
        """A job per group, and the last one, which waits for them."""
        for frame in received.pieces.frames():
            chunk = PlanSnapshotChunk.FromString(frame.content)
            if chunk.HasField("plan"):
                self._take_header(chunk.plan)
            for file in chunk.reused_files:
                self.coverage.add(file.identity)
            self.counters.files_reused += len(chunk.reused_files)
            for group in chunk.groups:
                yield self._group(group, frame)
        yield self._job(messages.FINALIZE_SNAPSHOT_CAPTURE, JobTask())

    def check(self, items_total: int) -> None:
        """Refuse a plan that isn't what it says it is."""
        if self.header is None:
            raise InvalidArgumentError("the plan has no header: it belongs into the first chunk")
        if items_total != len(self.groups):
            raise InvalidArgumentError(
                f"items_total says {items_total}, but {len(self.groups)} groups were sent"
            )
        same_count = self.header.files_total == len(self.coverage)
        if not same_count or self.header.coverage_sha256 != self.coverage.hexdigest():
            raise InvalidArgumentError(
                f"the plan says that it covers {self.header.files_total} files, but its groups "
                f"and files used again are {len(self.coverage)} files, or other ones"
            )

    def _take_header(self, plan: SnapshotPlan) -> None:
        target = self.assignment.task.target
        if self.header is not None:
            raise InvalidArgumentError("the plan has two headers")
        if plan.table_id.id != target.table_id.id or plan.snapshot_id != target.snapshot_id:
            raise InvalidArgumentError("the plan is of another table or snapshot")
        self.header = plan
        self.counters.files_total = plan.files_total

    def _group(self, group: FileGroup, frame: Frame) -> PlannedJob:
        if not group.group_id or group.group_id in self.groups:
            raise InvalidArgumentError(f"a group's id is missing or used twice: {group.group_id!r}")
        self.groups.add(group.group_id)
        for file in group.files:
            self.coverage.add(file.identity)
        self.counters.file_groups_total += 1
        task = JobTask(plan_offset=frame.offset, plan_length=frame.end - frame.offset)
        task.target.file_group_id = group.group_id
        return self._job(messages.EXEC_FILE_GROUP, task)

    def _job(self, kind: messages.ReconcileJobKind.ValueType, task: JobTask) -> PlannedJob:
        target = ReconcileJobTarget()
        target.CopyFrom(self.assignment.task.target)
        target.MergeFrom(task.target)
        task.target.CopyFrom(target)
        return PlannedJob(kind=kind, task=task.SerializeToString())
