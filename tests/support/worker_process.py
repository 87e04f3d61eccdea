"""Worker processes: started, watched, stopped and killed."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from tests.support.lake import Lake
from tests.support.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).parents[2]


class Service(Protocol):
    """Whatever listens on this machine."""

    @property
    def port(self) -> int: ...


def worker_environment(lake: Lake, folder: Path, **settings: str) -> dict[str, str]:
    """The settings of a worker that shares a service's folder."""
    return {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "FLOECAT_CONFIG": str(folder / "empty.toml"),
        "FLOECAT_DATA_DIR": str(folder / "data"),
        "FLOECAT_OUTBOUND_FILE_ROOTS": str(lake.folder),
        "FLOECAT_LOG_LEVEL": "debug",
        "FLOECAT_LOG_FORMAT": "json",
        "FLOECAT_RECONCILER_POLLEVERY": "50ms",
        "FLOECAT_CAPTURE_ENGINE": "native",  # no file is read, unless a test asks for it
        **{f"FLOECAT_{key.upper()}": value for key, value in settings.items()},
    }


@contextmanager
def worker_process(
    service: Service,
    environment: Mapping[str, str],
    log: Path,
    *,
    dies_at: str | None = None,
    stops_at: str | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A `floecat worker`; what it says is in the log. It is gone at the end."""
    program = ["floecat.cli.main"]
    if dies_at is not None:
        program = ["tests.support.dying_worker", "SIGKILL", dies_at, "1"]
    if stops_at is not None:
        program = ["tests.support.dying_worker", "SIGSTOP", stops_at, "1"]
    address = f"127.0.0.1:{service.port}"
    with log.open("ab") as opened:
        process = subprocess.Popen(
            [sys.executable, "-m", *program, "worker", "--server", address],
            env=dict(environment),
            stdout=opened,
            stderr=opened,
            cwd=ROOT,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait(PATIENCE_SECONDS)


def process_state(pid: int) -> str:
    """R, S, T for stopped, Z for dead but not yet buried; nothing once it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""
