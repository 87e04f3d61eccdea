"""A PostgreSQL server of our own: a temporary folder, a unix socket, for tests nothing synced."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import psycopg
from tests.support.waiting import PATIENCE_SECONDS

NOT_FOUND = "no PostgreSQL server programs (Debian: apt-get install postgresql)"


@dataclass(frozen=True, slots=True)
class Postgres:
    folder: Path

    @property
    def socket(self) -> Path:
        return self.folder / ".s.PGSQL.5432"

    @property
    def dsn(self) -> str:
        return f"host={self.folder} user=postgres dbname=postgres"

    def new_schema(self) -> str:
        """A DSN whose tables are its own."""
        name = f"t{uuid4().hex}"
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return f"{self.dsn} options=-csearch_path={name}"


def find_programs() -> Path | None:
    """The folder with `initdb` and `postgres`: on the path, or where Debian puts them."""
    on_path = shutil.which("initdb")
    candidates = [Path(on_path).resolve().parent] if on_path else []
    candidates += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in candidates:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    return None


@contextmanager
def running_postgres(programs: Path, sync: str = "fsync=off") -> Iterator[Postgres]:
    with tempfile.TemporaryDirectory(prefix="floecat-pg-") as name:
        folder = Path(name)
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            os.chown(folder, pwd.getpwnam("postgres").pw_uid, -1)
        data = str(folder / "data")
        _run(programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8")
        settings = ["-c", sync, "-c", "listen_addresses=", "-c", "max_connections=60"]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                _as_postgres([programs / "postgres", "-D", data, "-k", str(folder), *settings]),
                cwd=folder,
                stdout=log,
                stderr=log,
            )
        try:
            server = Postgres(folder)
            _wait_until_ready(server, process)
            yield server
        finally:
            process.send_signal(signal.SIGINT)  # doesn't wait for clients
            process.wait(timeout=PATIENCE_SECONDS)


def _wait_until_ready(server: Postgres, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            psycopg.connect(server.dsn).close()
        except psycopg.OperationalError:
            time.sleep(0.02)
        else:
            return
    raise RuntimeError((server.folder / "log").read_text())


def _run(*command: str | Path) -> None:
    done = subprocess.run(
        _as_postgres(command), cwd="/", capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(done.stdout + done.stderr)


def _as_postgres(command: Sequence[str | Path]) -> list[str]:
    words = [str(word) for word in command]
    if os.geteuid() != 0:
        return words
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *words]
