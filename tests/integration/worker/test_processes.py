"""Worker processes that are stopped, killed, paused and replaced: the work is done all the same."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from tests.support.aftermath import check_exact, contents
from tests.support.lake import Lake, create_connector, mirroring
from tests.support.service import connected
from tests.support.waiting import PATIENCE_SECONDS, eventually
from tests.support.worker_process import (
    process_state,
    worker_environment,
    worker_process,
)

import floecat
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.connector import connector_pb2
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from floecat.bootstrap import Floecat
from floecat.worker.supervisor import WorkerSupervisor

POINTS = (
    *("leased", "started", "input", "opened", "listed", "described", "enumerated", "planned"),
    *("captured", "submitting", "submitted", "settled"),
)
"""Every step that a worker writes down."""


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake(tmp_path)
    for name in ("sales.orders", "sales.items", "ops.jobs"):
        lake.add(name)
    return lake


@pytest.fixture
def service(lake: Lake, tmp_path: Path) -> Iterator[Floecat]:
    quick = {
        "reconciler_job_store_lease_ms": "2000",
        "reconciler_job_store_reclaim_interval_ms": "200",
        "reconciler_job_store_base_backoff_ms": "50",
    }
    with mirroring(lake, tmp_path, **quick) as service:
        yield service


@pytest.fixture
def clients(service: Floecat) -> Iterator[floecat.GrpcClients]:
    with connected(service) as clients:
        yield clients


@pytest.fixture
def environment(lake: Lake, tmp_path: Path) -> dict[str, str]:
    return worker_environment(lake, tmp_path, reconciler_job_store_lease_ms="2000")


def start(
    clients: floecat.GrpcClients, connector: connector_pb2.Connector
) -> messages.ReconcileJob:
    scope = messages.CaptureScope(connector_id=connector.resource_id)
    request = messages.StartCaptureRequest(scope=scope, full_rescan=True)
    return job_of(clients, clients.reconcile.StartCapture(request).job_id)


def job_of(clients: floecat.GrpcClients, job_id: ResourceId) -> messages.ReconcileJob:
    request = messages.GetReconcileJobRequest(job_id=job_id)
    return clients.reconcile.GetReconcileJob(request).job


def has_ended(clients: floecat.GrpcClients, job: messages.ReconcileJob) -> bool:
    return job_of(clients, job.job_id).state in {
        messages.RJS_SUCCEEDED,
        messages.RJS_FAILED,
        messages.RJS_CANCELLED,
    }


def check_complete(clients: floecat.GrpcClients, job: messages.ReconcileJob) -> None:
    eventually(lambda: has_ended(clients, job), "the run ends")
    ended = job_of(clients, job.job_id)
    assert ended.state == messages.RJS_SUCCEEDED, ended
    assert not ended.degraded, ended.failures
    assert ended.counters.stats_processed == 3, "each snapshot was published once"
    assert ended.counters.files_completed == 3, "nothing was counted twice"


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS)
def test_a_worker_killed_at_any_step_is_replaced(
    point: str,
    service: Floecat,
    clients: floecat.GrpcClients,
    lake: Lake,
    environment: dict[str, str],
    tmp_path: Path,
) -> None:
    job = start(clients, create_connector(clients, lake))
    log = tmp_path / "worker.log"
    with worker_process(service, environment, log, dies_at=point) as doomed:
        eventually(lambda: doomed.poll() is not None, f"it dies at {point}: {log.read_text()}")
        assert doomed.returncode == -signal.SIGKILL
    with worker_process(service, environment, log):
        check_complete(clients, job)
    check_exact(tmp_path, lake)


def test_a_worker_that_is_told_to_stop_leaves_nothing_behind(
    service: Floecat,
    clients: floecat.GrpcClients,
    lake: Lake,
    environment: dict[str, str],
    tmp_path: Path,
) -> None:
    job = start(clients, create_connector(clients, lake))
    log = tmp_path / "worker.log"
    with worker_process(service, environment, log) as first:
        eventually(lambda: '"leased"' in log.read_text(), "it begins")
        first.send_signal(signal.SIGTERM)
        assert first.wait(PATIENCE_SECONDS) == 0
    assert "stopping" in log.read_text()
    assert "Traceback" not in log.read_text()
    with worker_process(service, environment, log):
        check_complete(clients, job)
        assert max_attempt(clients, job) == 1, "no lease had to run out"


def max_attempt(clients: floecat.GrpcClients, job: messages.ReconcileJob) -> int:
    request = messages.GetReconcileJobTreeRequest(job_id=job.job_id)
    todo = [clients.reconcile.GetReconcileJobTree(request).root]
    highest = 0
    while todo:
        node = todo.pop()
        highest = max(highest, node.job.attempt)
        todo.extend(node.children)
    return highest


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["PLAN_CONNECTOR", "PLAN_TABLE", "PLAN_SNAPSHOT", "EXEC_FILE_GROUP"]
)
def test_a_worker_paused_past_its_lease_changes_nothing(
    kind: str,
    service: Floecat,
    clients: floecat.GrpcClients,
    lake: Lake,
    environment: dict[str, str],
    tmp_path: Path,
) -> None:
    """It is paused with its result in hand, and offers it when all is done."""
    job = start(clients, create_connector(clients, lake))
    paused_log, log = tmp_path / "paused.log", tmp_path / "worker.log"
    with worker_process(service, environment, paused_log, stops_at=f"submitting:{kind}") as paused:
        eventually(lambda: process_state(paused.pid) == "T", "it is paused")
        with worker_process(service, environment, log):
            check_complete(clients, job)
        held = [job_of(clients, job_id(job, name)) for name in unsubmitted_jobs(paused_log)]
        assert kind in {messages.ReconcileJobKind.Name(one.kind) for one in held}
        assert {one.state for one in held} == {messages.RJS_SUCCEEDED}
        assert {one.attempt for one in held} == {2}, "another worker has done them meanwhile"
        before = contents(tmp_path)
        paused.send_signal(signal.SIGCONT)
        eventually(lambda: "lease lost" in paused_log.read_text(), "it notices")
        assert contents(tmp_path) == before
    check_exact(tmp_path, lake)


def job_id(run: messages.ReconcileJob, name: str) -> ResourceId:
    return ResourceId(account_id=run.job_id.account_id, kind=run.job_id.kind, id=name)


def unsubmitted_jobs(log: Path) -> set[str]:
    """Jobs that a worker has begun, and not submitted."""
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    by_event = {
        event: {line["job"] for line in lines if line["event"] == event}
        for event in ("started", "submitting")
    }
    return by_event["started"] - by_event["submitting"]


@pytest.mark.slow
def test_a_supervised_worker_is_replaced_and_stopped(
    service: Floecat, clients: floecat.GrpcClients, lake: Lake, environment: dict[str, str]
) -> None:
    address = f"127.0.0.1:{service.port}"
    supervisor = WorkerSupervisor(address, {**environment, "FLOECAT_LOG_LEVEL": "error"})
    with capture_logs():
        supervisor.start()
        eventually(lambda: supervisor.pid is not None, "it is started")
        first = supervisor.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        eventually(lambda: supervisor.pid not in {None, first}, "another is started")
        check_complete(clients, start(clients, create_connector(clients, lake)))
        last = supervisor.pid
        supervisor.stop()
    assert last is not None
    assert supervisor.pid is None
    with pytest.raises(ProcessLookupError):
        os.kill(last, 0)


@pytest.mark.slow
def test_a_worker_ends_with_its_parent(
    service: Floecat, environment: dict[str, str], tmp_path: Path
) -> None:
    """The parent is a shell that is killed, so that nobody tells the worker."""
    log = tmp_path / "worker.log"
    command = (
        f"{sys.executable} -m floecat.cli.main worker --server 127.0.0.1:{service.port} "
        "--parent $$ & echo $!; wait"
    )
    with (
        log.open("wb") as opened,
        subprocess.Popen(
            ["/bin/sh", "-c", command], env=environment, stdout=subprocess.PIPE, stderr=opened
        ) as shell,
    ):
        assert shell.stdout is not None
        worker = int(shell.stdout.readline())
        eventually(lambda: "is working for" in log.read_text(), "it begins")
        shell.kill()
    eventually(lambda: process_state(worker) in {"", "Z"}, "it ends")
    assert "stopping" in log.read_text()


def test_settings_that_make_no_worker_are_refused(
    service: Floecat, environment: dict[str, str], tmp_path: Path
) -> None:
    log = tmp_path / "worker.log"
    none = {**environment, "FLOECAT_RECONCILER_MAX_PARALLELISM": "0"}
    with worker_process(service, none, log) as process:
        assert process.wait(PATIENCE_SECONDS) == 2
    assert "reconciler.max-parallelism is 0" in log.read_text()
