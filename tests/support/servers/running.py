"""Starting a server as a process of its own, waiting until it answers, and ending it."""

import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.support.servers.maven import BUILD, ServerUnavailableError, require_programs

HOST: Final = "127.0.0.1"
JAVA: Final = ("java", "-Xmx512m", "-XX:+UseSerialGC")
LAUNCHERS: Final = Path(__file__).parent / "java"
START_SECONDS: Final = 120
_STOP_SECONDS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A program that serves until it is ended. What it prints is kept in build/servers."""

    name: str
    command: Sequence[str]
    answers: Callable[[], bool]
    """Whether it can be talked to yet."""
    environment: Mapping[str, str] = field(default_factory=dict)

    @contextmanager
    def running(self) -> Iterator[None]:
        require_programs(self.command[0])
        folder = BUILD / self.name
        folder.mkdir(parents=True, exist_ok=True)
        log = folder / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                self.command,
                cwd=folder,
                env=os.environ | self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        try:
            self._wait(process, log)
            yield
        finally:
            _end(process)

    def _wait(self, process: "subprocess.Popen[bytes]", log: Path) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise ServerUnavailableError(f"ended at once: {_complaint(log)} (see {log})")
            if self.answers():
                return
            time.sleep(0.1)
        raise ServerUnavailableError(f"didn't answer within {START_SECONDS} s (see {log})")


def free_port() -> int:
    with socket.create_server((HOST, 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def answers_http(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=1):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def answers_tcp(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    return True


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _complaint(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    errors = [line for line in lines if "Exception" in line or "Error" in line]
    return (errors or lines or ["it said nothing"])[0][:300]
