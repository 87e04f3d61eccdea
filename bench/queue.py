"""The queue with a million jobs: how fast they come and go, and who has to wait for them.

Rates are of this machine; ratios compare an empty queue with a full one in one run. JOBS=100000 in
the environment makes it quicker.
"""

import multiprocessing
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from uuid import uuid4

import floecat
from ai.floedb.floecat.account import account_pb2
from ai.floedb.floecat.connector import connector_pb2
from ai.floedb.floecat.reconciler import executor_control_pb2 as wire
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.reconciler.stored_pb2 import JobTask, PlannedJob
from bench.report import Measurement, Report
from floecat.bootstrap import Floecat
from floecat.reconciler.jobs import LeaseSelector, NewJob, Planned
from floecat.reconciler.store.durable import DurableReconcileJobStore
from floecat.settings.load import load_settings
from floecat.storage.blobs.filesystem import FilesystemBlobStore
from floecat.storage.kv.sqlite import SqliteKeyValueStore

JOBS = int(os.environ.get("JOBS", "1000000"))
WORKERS = 4
SECONDS = 15.0
LEASES = 400
ROLE = {"x-floe-role": "reconcile-worker"}
EXECUTORS = ("remote-planner", "remote-default")


def environment(folder: Path) -> dict[str, str]:
    return {
        "FLOECAT_DATA_DIR": str(folder),
        "FLOECAT_SERVER_ADDRESS": "127.0.0.1:0",
        "FLOECAT_METRICS_ADDRESS": "",
        "FLOECAT_LOG_LEVEL": "error",
        "FLOECAT_RECONCILER_WORKER_MODE": "remote",
        "FLOECAT_OUTBOUND_FILE_ROOTS": str(folder),
    }


def serve(pipe: Connection, folder: Path) -> None:
    """A process of its own: the service; it tells how much memory it took."""
    with Floecat(load_settings(environment(folder)).settings) as service:
        pipe.send(service.port)
        pipe.recv()
        pipe.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def work(pipe: Connection, port: int) -> None:
    """A process of its own: leases jobs and ends them, as fast as it can."""
    done = 0
    options = floecat.ClientOptions(headers=ROLE)
    with floecat.connect(f"127.0.0.1:{port}", options) as clients:
        asked = wire.LeaseReconcileJobRequest(
            executor_id=str(os.getpid()), executor_ids=["remote-default"]
        )
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            leased = clients.executor.LeaseReconcileJob(asked)
            if not leased.HasField("job"):
                continue
            end(clients, leased.job.lease)
            done += 1
    pipe.send(done)


def end(clients: floecat.GrpcClients, lease: wire.JobLease) -> None:
    """Say that there was nothing to do."""
    clients.executor.StartLeasedReconcileJob(wire.StartLeasedReconcileJobRequest(lease=lease))
    failure = wire.LeasedJobFailure(failure_class=wire.FCL_OBSOLETE, message="a benchmark's")
    request = wire.CompleteLeasedReconcileJobRequest(
        lease=lease, result_id=uuid4().hex, failure=failure
    )
    clients.executor.CompleteLeasedReconcileJob(request)


@contextmanager
def service(folder: Path, memory: list[float]) -> Iterator[int]:
    """The service in a process; its port. Its memory, in MiB, is added to the list."""
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs, folder))
    child.start()
    try:
        yield ours.recv()
    finally:
        ours.send(None)
        memory.append(ours.recv() / 1024)
        child.join()


def fill(folder: Path, account: str, jobs: int) -> float:
    """A plan of so many children, made; how many in a second."""
    target = messages.ReconcileJobTarget(source=messages.SourceRelation(name="orders by day"))
    task = JobTask(target=target).SerializeToString()
    kv = SqliteKeyValueStore(folder / "floecat.db")
    blobs = FilesystemBlobStore(folder / "blobs")
    store = DurableReconcileJobStore(kv, blobs)
    store.enqueue(NewJob(account_id=account, kind=messages.PLAN_CONNECTOR, task=b""))
    leased = store.lease(LeaseSelector(executor_id="bench", kinds=(messages.PLAN_CONNECTOR,)))
    assert leased is not None
    children = (PlannedJob(kind=messages.PLAN_VIEW, task=task) for _ in range(jobs))
    plan, total = store.plans.write(f"plans/{uuid4().hex}", children)
    store.settle(leased.lease, "bench", b"", Planned(plan, total))
    began = time.perf_counter()
    while store.expand(1):
        pass
    seconds = time.perf_counter() - began
    kv.close()
    blobs.close()
    return total / seconds


def lease_times(port: int, number: int = LEASES) -> list[float]:
    """How long it takes to be given a job, each time; slowest last."""
    times = []
    with floecat.connect(f"127.0.0.1:{port}", floecat.ClientOptions(headers=ROLE)) as clients:
        asked = wire.LeaseReconcileJobRequest(executor_id="bench", executor_ids=EXECUTORS)
        for _ in range(number):
            began = time.perf_counter()
            leased = clients.executor.LeaseReconcileJob(asked)
            times.append(time.perf_counter() - began)
            if leased.HasField("job"):
                end(clients, leased.job.lease)
    return sorted(times)


def finish(port: int, workers: int = WORKERS) -> float:
    """Jobs that workers, a process each, end in a second."""
    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe() for _ in range(workers)]
    children = [context.Process(target=work, args=(theirs, port)) for _, theirs in pipes]
    for child in children:
        child.start()
    done: list[int] = [ours.recv() for ours, _ in pipes]
    for child in children:
        child.join()
    return sum(done) / SECONDS


def delay_of_another(port: int, folder: Path) -> float:
    """Seconds until another account's plan is leased, while workers work on the million."""
    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe() for _ in range(WORKERS)]
    children = [context.Process(target=work, args=(theirs, port)) for _, theirs in pipes]
    for child in children:
        child.start()
    time.sleep(3)
    seconds = start_to_lease(port, folder)
    for ours, _ in pipes:
        ours.recv()
    for child in children:
        child.join()
    return seconds


def start_to_lease(port: int, folder: Path) -> float:
    with floecat.connect(f"127.0.0.1:{port}") as clients:
        spec = account_pb2.AccountSpec(display_name=f"other {uuid4().hex}")
        made = clients.accounts.CreateAccount(account_pb2.CreateAccountRequest(spec=spec))
        account = made.account.resource_id.id
    options = floecat.ClientOptions(account=account)
    worker = floecat.ClientOptions(headers=ROLE)
    address = f"127.0.0.1:{port}"
    with floecat.connect(address, options) as clients, floecat.connect(address, worker) as working:
        connector = connector_pb2.ConnectorSpec(
            display_name="lake", kind_name="delta-filesystem", uri=f"file://{folder}"
        )
        request = connector_pb2.CreateConnectorRequest(spec=connector)
        connector_id = clients.connectors.CreateConnector(request).connector.resource_id
        began = time.perf_counter()
        started = clients.connectors.StartCapture(
            connector_pb2.StartCaptureRequest(connector_id=connector_id)
        )
        asked = wire.LeaseReconcileJobRequest(executor_id="bench", executor_ids=EXECUTORS)
        while True:
            leased = working.executor.LeaseReconcileJob(asked)
            if leased.job.lease.job_id.id == started.job_id.id:
                return time.perf_counter() - began
            if leased.HasField("job"):
                end(working, leased.job.lease)


def measure() -> Report:
    memory: list[float] = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        with service(folder, memory):
            pass  # the store is made
        fill(folder, "idle", LEASES)
        with service(folder, memory) as port:
            empty = lease_times(port)
        enqueued = fill(folder, "busy", JOBS)
        with service(folder, memory) as port:
            full = lease_times(port)
            finished = finish(port)
            delay = delay_of_another(port, folder)
    p99 = full[int(len(full) * 0.99)] * 1000
    ratio = statistics.median(full) / statistics.median(empty)
    return [
        Measurement("jobs in the queue", JOBS, "jobs"),
        Measurement("enqueue, in pages of a plan", enqueued, "jobs/s", at_least=3000),
        Measurement("lease, nearly empty queue, p50", statistics.median(empty) * 1000, "ms"),
        Measurement("lease, full queue, p50", statistics.median(full) * 1000, "ms"),
        Measurement("lease, full queue, p50 of that of an empty one", ratio, "x", at_most=2),
        Measurement("lease, full queue, p99", p99, "ms", at_most=20),
        Measurement(f"lease to end, {WORKERS} workers", finished, "jobs/s", at_least=150),
        Measurement("the server's memory", memory[-1], "MiB", at_most=1024),
        Measurement("another account's plan waits", delay, "s", at_most=5),
    ]
