"""The control plane by hand: a world, its queue, and a worker's calls made one by one."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast
from uuid import uuid4

import grpc
from google.protobuf.message import Message
from tests.support.catalog import Connected, World

from ai.floedb.floecat.catalog.snapshot_pb2 import SnapshotSpec
from ai.floedb.floecat.catalog.stats_pb2 import FileIdentity
from ai.floedb.floecat.catalog.table_pb2 import TF_ICEBERG, TableSpec, UpstreamRef
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.execution import capture_pb2
from ai.floedb.floecat.reconciler import executor_control_pb2 as wire
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.stored_pb2 import StoredJob
from floecat.artifacts.coverage import CoverageHash
from floecat.reconciler.consistency import QueueCheck
from floecat.reconciler.finalization import SnapshotFinalizeReconcileExecutor
from floecat.reconciler.jobs import QueueLimits
from floecat.reconciler.store.durable import DurableReconcileJobStore
from floecat.service.calls import Call
from floecat.service.principals import Principal

EXECUTORS = ("remote-planner", "remote-default", "remote-snapshot-planner", "remote-file-group")
LEASE = timedelta(seconds=30)


def relation(name: str) -> messages.SourceRelation:
    """A relation as an upstream names it, like `sales.orders`."""
    *namespace, last = name.split(".")
    return messages.SourceRelation(namespace=messages.NamespacePath(segments=namespace), name=last)


@dataclass
class Reconciling:
    """A world with a connector, and everything that workers and clients do to it."""

    world: World
    connector: ResourceId = field(default_factory=ResourceId)

    def __post_init__(self) -> None:
        stores = self.world.stores
        limits = QueueLimits(lease=LEASE, max_attempts=3)
        self.store = DurableReconcileJobStore(
            stores.kv, stores.blobs, limits=limits, clock=stores.clock
        )
        self.finalizer = SnapshotFinalizeReconcileExecutor(self.store, stores, "test")
        if not self.connector.id:
            self.connector = self.world.connector()

    def start(self, **fields: Any) -> ResourceId:
        """Start a run."""
        scope = fields.pop("scope", None) or messages.CaptureScope()
        scope.connector_id.CopyFrom(self.connector)
        request = messages.StartCaptureRequest(scope=scope, **fields)
        return cast("ResourceId", self.world.call("ReconcileControl/StartCapture", request).job_id)

    def job(self, job_id: ResourceId) -> messages.ReconcileJob:
        request = messages.GetReconcileJobRequest(job_id=job_id)
        return cast(
            "messages.ReconcileJob",
            self.world.call("ReconcileControl/GetReconcileJob", request).job,
        )

    def lease(self, *kinds: "messages.ReconcileJobKind.ValueType") -> wire.LeasedReconcileJob:
        """The next job; there must be one."""
        self.spread()
        request = wire.LeaseReconcileJobRequest(
            executor_id="worker", executor_ids=EXECUTORS, job_kinds=kinds
        )
        leased = self.world.call("ReconcileExecutorControl/LeaseReconcileJob", request)
        assert leased.HasField("job"), "nothing is due"
        return cast("wire.LeasedReconcileJob", leased.job)

    def has_work(self) -> bool:
        self.spread()
        request = wire.LeaseReconcileJobRequest(executor_id="worker", executor_ids=EXECUTORS)
        leased = self.world.call("ReconcileExecutorControl/LeaseReconcileJob", request)
        return bool(leased.HasField("job"))

    def spread(self) -> None:
        """What the queue does by itself."""
        while self.store.expand(100) or self.store.spread_cancellations(100):
            pass

    def finalize(self) -> None:
        self.spread()
        while self.finalizer.run_next():
            pass

    def submit(self, method: str, parts: Iterable[Message]) -> Any:
        """Send a result: messages of one stream."""
        name = f"SubmitLeased{method}Result"
        principal = Principal(self.world.account_id, "w", frozenset(["reconcile-worker"]))
        call = Call(name, "test", {}, principal, cast("grpc.ServicerContext", Connected()))
        handler = getattr(self.world.services["ReconcileExecutorControl"], name)
        return handler(iter(list(parts)), call)

    def plan_connector(
        self, lease: wire.JobLease, tables: Iterable[str], views: Iterable[str] = (), **more: str
    ) -> Any:
        """The plan of a connector: these relations, some with a revision."""
        found = [
            wire.PlannedRelation(source=relation(name), revision=more.get("revision", ""))
            for name in tables
        ]
        seen = [wire.PlannedRelation(source=relation(name)) for name in views]
        request = wire.SubmitLeasedPlanConnectorResultRequest
        return self.submit(
            "PlanConnector",
            [
                request(lease=lease, chunk=wire.PlanConnectorChunk(tables=found, views=seen)),
                request(lease=lease, success=summary(lease, len(found) + len(seen))),
            ],
        )

    def plan_table(
        self, lease: wire.JobLease, chunk: wire.PlanTableChunk, result_id: str = ""
    ) -> Any:
        request = wire.SubmitLeasedPlanTableResultRequest
        closing = summary(lease, 0)
        closing.result_id = result_id or closing.result_id
        return self.submit(
            "PlanTable",
            [request(lease=lease, chunk=chunk), request(lease=lease, success=closing)],
        )

    def mirror(
        self, *names: str, snapshots: Iterable[int] = (), full: bool = False, **run: Any
    ) -> ResourceId:
        """A whole run that finds these tables, each with these snapshots."""
        run.setdefault("mode", messages.METADATA_ONLY)
        job_id = self.start(full_rescan=full, **run)
        self.plan_connector(self.lease().lease, names)
        for _ in names:
            leased = self.lease(messages.PLAN_TABLE)
            name = leased.target.source.name
            self.plan_table(leased.lease, table_chunk(name, snapshots))
        return job_id

    def plan_snapshot(self, leased: wire.LeasedReconcileJob, groups: list[list[str]]) -> Any:
        """The plan of a snapshot: groups of files, by path."""
        planned = [file_group(f"g{number}", files) for number, files in enumerate(groups)]
        request = wire.SubmitLeasedPlanSnapshotResultRequest
        header = plan_header(leased, planned)
        return self.submit(
            "PlanSnapshot",
            [
                request(lease=leased.lease, chunk=wire.PlanSnapshotChunk(plan=header)),
                *(
                    request(lease=leased.lease, chunk=wire.PlanSnapshotChunk(groups=[group]))
                    for group in planned
                ),
                request(lease=leased.lease, success=summary(leased.lease, len(planned))),
            ],
        )

    def execute(self, leased: wire.LeasedReconcileJob, files: Iterable[str]) -> Any:
        """Results of a group: these files went well."""
        results = [
            capture_pb2.FileExecutionResult(
                identity=identity(path), state=capture_pb2.FES_SUCCEEDED, row_count=10
            )
            for path in files
        ]
        request = wire.SubmitLeasedFileGroupExecutionResultRequest
        chunk = capture_pb2.FileGroupResultChunk(files=results)
        success = request.Success(result_id=uuid4().hex, files_total=len(results))
        return self.submit(
            "FileGroupExecution",
            [
                request(lease=leased.lease, chunk=chunk),
                request(lease=leased.lease, success=success),
            ],
        )

    def jobs(self, kind: "messages.ReconcileJobKind.ValueType") -> list[StoredJob]:
        """Every job of a kind, as it is stored."""
        records = (r for r in self.world.stores.kv.dump() if r.key.partition.startswith("job/"))
        found = [StoredJob.FromString(record.value) for record in records]
        return [job for job in found if job.kind == kind]

    def problems(self) -> list[str]:
        """What doesn't fit together."""
        found = [*self.world.findings(), *QueueCheck(self.world.stores).run()]
        return [f"{finding.key}: {finding.problem}" for finding in found]


def summary(lease: wire.JobLease, items: int) -> wire.PlanResultSummary:
    return wire.PlanResultSummary(
        result_id=f"{lease.job_id.id}:{lease.epoch}:{uuid4().hex}", items_total=items
    )


def table_chunk(name: str, snapshots: Iterable[int] = (), **fields: Any) -> wire.PlanTableChunk:
    """A table with snapshots, the last of them current."""
    ids = list(snapshots)
    spec = TableSpec(
        format=TF_ICEBERG,
        schema_json='{"type": "struct", "fields": []}',
        upstream=UpstreamRef(namespace_path=["sales"], table_display_name=name),
    )
    if ids:
        spec.current_snapshot_id = ids[-1]
    chunk = wire.PlanTableChunk(table=spec, **fields)
    for snapshot_id in ids:
        chunk.snapshots.append(_snapshot(snapshot_id))
    return chunk


def _snapshot(snapshot_id: int) -> SnapshotSpec:
    spec = SnapshotSpec(snapshot_id=snapshot_id)
    spec.upstream_created_at.FromSeconds(1_700_000_000 + snapshot_id)
    return spec


def identity(path: str) -> FileIdentity:
    return FileIdentity(file_path=path, size_bytes=100)


def file_group(group_id: str, files: Iterable[str]) -> capture_pb2.FileGroup:
    planned = [capture_pb2.PlannedFile(identity=identity(path)) for path in files]
    return capture_pb2.FileGroup(group_id=group_id, files=planned)


def plan_header(
    leased: wire.LeasedReconcileJob, groups: Iterable[capture_pb2.FileGroup]
) -> capture_pb2.SnapshotPlan:
    coverage = CoverageHash()
    for group in groups:
        for file in group.files:
            coverage.add(file.identity)
    return capture_pb2.SnapshotPlan(
        plan_id="plan",
        table_id=leased.target.table_id,
        snapshot_id=leased.target.snapshot_id,
        files_total=len(coverage),
        coverage_sha256=coverage.hexdigest(),
    )
