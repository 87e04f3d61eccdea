"""SparkSessions: one Spark session per process, started when it is first needed.

Only the DataFrame API is used, so a classic session and one of Spark Connect do the same.
"""

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import structlog
from pyspark.sql import SparkSession

from floecat.capture.spark.shipping import tasks_archive
from floecat.errors import FailedPreconditionError

_LOG: Final = structlog.get_logger(log="floecat.spark")
_LEAST_JAVA: Final = 17
_TASK_FAILURES: Final = 3
TASKS: Final = {
    "POLARS_MAX_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "mimalloc",
    "MIMALLOC_PURGE_DELAY": "10000",
    "_RJEM_MALLOC_CONF": "dirty_decay_ms:10000,muzzy_decay_ms:-1",
    "MALLOC_MMAP_THRESHOLD_": str(32 * 1024 * 1024),
    "MALLOC_TRIM_THRESHOLD_": str(128 * 1024 * 1024),
}
"""The environment of tasks. Each has a core of its own, and must not take its neighbours'. Left to
themselves, allocators (Arrow's, polars' and glibc's, which numpy uses) give memory back so eagerly
that getting it again was a sixth of the time: every batch takes what the one before it took."""
_VERSION: Final = re.compile(r'version "(?:1\.)?(\d+)')


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkOptions:
    """Which Spark, and what it may use."""

    folder: Path
    """For its logs and temporary files."""
    master: str = "local[*]"
    remote: str | None = None
    """The address of a Spark Connect server, `sc://…`; it wins over the master."""
    driver_memory: str = "2g"
    task_memory: int = 2 * 1024**3
    """Bytes that a task may take, besides what its process has when it begins."""
    conf: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_local(self) -> bool:
        """Whether tasks run on this machine, with this Python."""
        return self.remote is None and self.master.startswith("local")


class SparkSessions:
    """Starts the session once, and stops it at the end."""

    def __init__(self, options: SparkOptions) -> None:
        self.options = options
        self._lock = threading.Lock()
        self._session: Any = None

    def get(self) -> Any:
        """The session. The first call takes seconds."""
        with self._lock:
            if self._session is None:
                self._session = self._start()
            return self._session

    @property
    def is_lost(self) -> bool:
        """Whether there was a session whose other side is gone for good."""
        session = self._session
        if session is None or self.options.remote is not None:
            return False
        gateway = session.sparkContext._gateway  # noqa: SLF001 - nothing public says so
        return gateway.proc.poll() is not None

    def close(self) -> None:
        """Stop the session, if there is one."""
        with self._lock:
            lost = self.is_lost
            session, self._session = self._session, None
        if session is not None and not lost:
            with _quiet(self._log_file()):
                session.stop()

    def _start(self) -> Any:
        options = self.options
        _LOG.info("starting Spark", master=options.remote or options.master)
        builder = SparkSession.builder.appName("floecat")
        if options.remote is not None:
            session = builder.remote(options.remote).getOrCreate()
        else:
            require_java()
            with _quiet(self._log_file()):
                session = self._classic(builder).getOrCreate()
                session.sparkContext.setLogLevel("ERROR")
        if not options.is_local:
            session.addArtifacts(str(tasks_archive(options.folder)), pyfile=True)
        return session

    def _classic(self, builder: Any) -> Any:
        options = self.options
        temporary = options.folder / "tmp"
        temporary.mkdir(parents=True, exist_ok=True)
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        if options.is_local:
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings = {
            "spark.driver.memory": options.driver_memory,
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.local.dir": str(temporary),
            "spark.sql.warehouse.dir": str(options.folder / "warehouse"),
            "spark.driver.extraJavaOptions": f"-Dderby.system.home={temporary}",
            **{f"spark.executorEnv.{name}": value for name, value in TASKS.items()},
            "spark.task.maxFailures": str(_TASK_FAILURES),
            **options.conf,
        }
        for name, value in settings.items():
            builder = builder.config(name, value)
        return builder.master(_with_retries(options.master))

    def _log_file(self) -> Path:
        self.options.folder.mkdir(parents=True, exist_ok=True)
        return self.options.folder / "spark.log"


def _with_retries(master: str) -> str:
    """A local master tries no task twice unless it says so itself."""
    return re.sub(r"^local\[([^,\]]+)\]$", rf"local[\1,{_TASK_FAILURES}]", master)


@contextmanager
def _quiet(log: Path) -> Iterator[None]:
    """What is started inside writes to a log file: Spark has a lot to say to nobody."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            for number, copy in zip((1, 2), kept, strict=True):
                os.dup2(copy, number)
                os.close(copy)


def require_java() -> None:
    """Spark needs Java; say so before it does, in words that help."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if java is None:
        raise FailedPreconditionError(
            "Spark needs Java 17 or newer, and there is none: install it (Debian and Ubuntu: "
            "apt-get install openjdk-17-jre-headless) or set JAVA_HOME; or capture without Spark "
            "by capture.engine=inline",
            reason="JAVA_MISSING",
        )
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr  # noqa: S603
    found = _VERSION.search(said)
    if found is not None and int(found[1]) < _LEAST_JAVA:
        raise FailedPreconditionError(
            f"Spark needs Java 17 or newer, and {java} is {found[1]}: install a newer one (Debian "
            "and Ubuntu: apt-get install openjdk-17-jre-headless) or set JAVA_HOME",
            reason="JAVA_TOO_OLD",
        )
