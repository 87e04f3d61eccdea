"""The `floecat` command as a person runs it: real processes, their output and exit codes."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.waiting import PATIENCE_SECONDS

import floecat
from ai.floedb.floecat.catalog.catalog_pb2 import CatalogSpec, CreateCatalogRequest
from ai.floedb.floecat.catalog.directory_pb2 import ResolveCatalogRequest, ResolveNamespaceRequest
from ai.floedb.floecat.catalog.namespace_pb2 import CreateNamespaceRequest, NamespaceSpec
from ai.floedb.floecat.catalog.table_pb2 import CreateTableRequest, TableSpec
from ai.floedb.floecat.common.common_pb2 import NameRef
from floecat.client.names import format_name, parse_name, parse_relation, parts_of
from floecat.errors import AlreadyExistsError

PROGRAM = str(Path(sys.executable).with_name("floecat"))


@dataclass(frozen=True)
class Ran:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def rows(self) -> list[list[str]]:
        """The cells of a table, without its header; cells hold no two spaces."""
        lines = self.out.splitlines()[1:]
        return [[cell.strip() for cell in line.split("  ") if cell] for line in lines]

    @property
    def fields(self) -> dict[str, str]:
        """The lines of a block, by their key."""
        pairs = (line.partition("  ") for line in self.out.splitlines() if line[0] != " ")
        return {key: value.strip() for key, _, value in pairs}


@dataclass(frozen=True)
class Cli:
    """Runs commands in a folder."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def run(self, *arguments: str, stdin: str | None = None) -> Ran:
        """Run a command, whatever becomes of it."""
        done = subprocess.run(
            [PROGRAM, *arguments],
            cwd=self.folder,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), **self.environment},
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)

    @contextmanager
    def running(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """A command that goes on meanwhile; it is gone at the end."""
        with subprocess.Popen(
            [PROGRAM, *arguments],
            cwd=self.folder,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder), **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def __call__(self, *arguments: str, stdin: str | None = None) -> Ran:
        """Run a command that must succeed."""
        ran = self.run(*arguments, stdin=stdin)
        assert ran.code == 0, ran.err
        return ran

    def make(self, *names: str) -> None:
        """Make namespaces with catalogs above them, past the command line: it takes its time."""
        with floecat.connect(self.environment["FLOECAT_CLIENT_SERVER"]) as clients:
            for name in names:
                catalog, *path = parse_name(name)
                spec = CatalogSpec(display_name=catalog)
                with suppress(AlreadyExistsError):
                    clients.catalogs.CreateCatalog(CreateCatalogRequest(spec=spec))
                found = clients.directory.ResolveCatalog(
                    ResolveCatalogRequest(name=NameRef(catalog=catalog))
                )
                for depth, part in enumerate(path):
                    below = NamespaceSpec(
                        catalog_id=found.resource_id, path=path[:depth], display_name=part
                    )
                    with suppress(AlreadyExistsError):
                        clients.namespaces.CreateNamespace(CreateNamespaceRequest(spec=below))

    def make_table(self, name: str) -> str:
        """Make a table, with everything above it."""
        ref = parse_relation(name)
        above = NameRef(catalog=ref.catalog, path=ref.path)
        self.make(format_name(parts_of(above)))
        with floecat.connect(self.environment["FLOECAT_CLIENT_SERVER"]) as clients:
            found = clients.directory.ResolveNamespace(ResolveNamespaceRequest(name=above))
            spec = TableSpec(namespace_id=found.resource_id, display_name=ref.name)
            clients.tables.CreateTable(CreateTableRequest(spec=spec))
        return name

    def with_settings(self, **settings: str) -> "Cli":
        """The same with more settings."""
        more = {f"FLOECAT_{key.upper()}": value for key, value in settings.items()}
        return Cli(self.folder, {**self.environment, **more})


@contextmanager
def serving(folder: Path, *, python_path: str = "", **settings: str) -> Iterator[Cli]:
    """A `floecat serve` process on a free port, its data in a folder, and a way to talk to it.

    What it logs is in `log` there. `settings` are keys with `_` for `.` and `-`; `python_path` is
    where the service finds more packages.
    """
    environment = {
        "FLOECAT_DATA_DIR": str(folder / "data"),
        "FLOECAT_METRICS_ADDRESS": "",
        "FLOECAT_CAPTURE_ENGINE": "native",  # no file is read, unless a test asks for it
        "FLOECAT_RECONCILER_MAX_PARALLELISM": "0",  # no worker, unless a test asks for one
        **{f"FLOECAT_{key.upper()}": value for key, value in settings.items()},
    }
    log = folder / "log"
    with log.open("wb") as opened:
        service = subprocess.Popen(
            [PROGRAM, "serve"],
            cwd=folder,
            env={
                "PATH": "/usr/bin:/bin",
                "PYTHONPATH": python_path,
                "FLOECAT_SERVER_ADDRESS": "localhost:0",
                **environment,
            },
            stdout=opened,
            stderr=opened,
        )
    try:
        server = _ready(service, log)
        yield Cli(folder, {**environment, "FLOECAT_CLIENT_SERVER": server})
    finally:
        service.terminate()
        service.wait(PATIENCE_SECONDS)
    assert service.returncode == 0


def _ready(service: "subprocess.Popen[bytes]", log: Path) -> str:
    """The address that a service says it is ready on."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until and service.poll() is None:
        found = re.search(r"floecat is ready on (\S+)\n", log.read_text())
        if found:
            return found[1]
        time.sleep(0.02)
    raise AssertionError(f"the service didn't start: {log.read_text()}")
