"""A service with its worker for the length of the demo, and the commands that people would type."""

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console

_READY: Final = re.compile(r"floecat is ready on (\S+)")
_PATIENCE_SECONDS: Final = 60.0
_PROGRAM: Final = str(Path(sys.executable).with_name("floecat"))


@dataclass(frozen=True, slots=True)
class Terminal:
    """Types commands, and lets one see what they print."""

    console: Console
    environment: dict[str, str]

    def run(self, command: str) -> None:
        """A command that must work."""
        self.console.print(f"[bold]$ floecat {command}[/]", soft_wrap=True)
        subprocess.run([_PROGRAM, *shlex.split(command)], env=self.environment, check=True)
        self.console.print()


@contextmanager
def running(folder: Path, readable: Path, console: Console) -> Iterator[Terminal]:
    """`floecat serve` with its data in a folder; it may read files below another."""
    folder.mkdir(parents=True)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("FLOECAT_")},
        "FLOECAT_DATA_DIR": str(folder),
        "FLOECAT_OUTBOUND_FILE_ROOTS": str(readable),
        "FLOECAT_SERVER_ADDRESS": "localhost:0",
        "FLOECAT_METRICS_ADDRESS": "",
        "FLOECAT_LOG_LEVEL": "warning",
    }
    log = folder / "serve.log"
    with log.open("wb") as opened:
        service = subprocess.Popen(
            [_PROGRAM, "serve"], env=environment, stdout=opened, stderr=opened, cwd=folder
        )
    try:
        server = _ready(service, log)
        yield Terminal(console, {**environment, "FLOECAT_CLIENT_SERVER": server})
    finally:
        service.terminate()
        service.wait()


def _ready(service: "subprocess.Popen[bytes]", log: Path) -> str:
    until = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < until and service.poll() is None:
        if said := _READY.search(log.read_text()):
            return said[1]
        time.sleep(0.1)
    raise SystemExit(f"the service didn't start; {log} says why")
