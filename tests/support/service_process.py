"""Services in processes of their own, to be killed: the same folder and port whoever comes next."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.dying_service import Point
from tests.support.lake import Lake
from tests.support.waiting import PATIENCE_SECONDS, eventually
from tests.support.worker_process import ROOT

import floecat

QUICK = {
    "reconciler_job_store_lease_ms": "2000",
    "reconciler_job_store_reclaim_interval_ms": "200",
    "reconciler_job_store_base_backoff_ms": "50",
    "reconciler_pollevery": "50ms",
}


@dataclass(frozen=True)
class ServicePlace:
    """Where a service lives, alive or not."""

    folder: Path
    port: int
    lake: Lake
    log: Path

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": str(ROOT),
            "FLOECAT_CONFIG": str(self.folder / "empty.toml"),
            "FLOECAT_DATA_DIR": str(self.folder / "data"),
            "FLOECAT_SERVER_ADDRESS": f"127.0.0.1:{self.port}",
            "FLOECAT_METRICS_ADDRESS": "",
            "FLOECAT_CAPTURE_ENGINE": "native",  # no file is read, unless a test asks for it
            "FLOECAT_LOG_LEVEL": "warning",
            "FLOECAT_RECONCILER_WORKER_MODE": "remote",
            "FLOECAT_OUTBOUND_FILE_ROOTS": str(self.lake.folder),
            **{f"FLOECAT_{key.upper()}": value for key, value in QUICK.items()},
        }

    def connected(self) -> floecat.GrpcClients:
        """A client that knows nothing of earlier services there."""
        return floecat.connect(f"127.0.0.1:{self.port}")

    @contextmanager
    def running(self, dies_at: Point | None = None) -> Iterator[subprocess.Popen[bytes]]:
        """A service that is ready. It is gone at the end."""
        (self.folder / "empty.toml").touch()
        program = ["floecat.cli.main"]
        if dies_at is not None:
            program = ["tests.support.dying_service", *dies_at.arguments]
        before = self._times_ready()
        with self.log.open("ab") as opened:
            process = subprocess.Popen(
                [sys.executable, "-m", *program, "serve"],
                env=self.environment,
                stdout=opened,
                stderr=opened,
                cwd=ROOT,
            )
        try:
            eventually(
                lambda: self._times_ready() > before or process.poll() is not None,
                f"the service on port {self.port} is ready",
            )
            yield process
        finally:
            process.kill()
            process.wait(PATIENCE_SECONDS)

    def _times_ready(self) -> int:
        return self.log.read_text().count("floecat is ready on") if self.log.exists() else 0
