"""A Hive metastore from Spark's own jars, on loopback, that forgets everything when it ends."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.fixtures.making.environment import PYTHON, fetch_packages

START_SECONDS = 90
SETTINGS = {
    "javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
    "javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver",
    "datanucleus.schema.autoCreateAll": "true",
    "hive.metastore.schema.verification": "false",
    "hive.async.log.enabled": "false",
}


def missing_programs() -> list[str]:
    return [program for program in ("java",) if shutil.which(program) is None]


@contextmanager
def running_hive_metastore(folder: Path) -> Iterator[str]:
    """The URI of a metastore whose warehouse is a folder."""
    fetch_packages()
    (jars,) = PYTHON.parents[1].glob("lib/python*/site-packages/pyspark/jars")
    settings = SETTINGS | {"hive.metastore.warehouse.dir": str(folder / "warehouse")}
    (folder / "hive-site.xml").write_text(_site(settings))
    port = _free_port()
    command = ["java", f"-Dderby.stream.error.file={folder}/derby.log", "-cp", f"{folder}:{jars}/*"]
    command += ["org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(port)]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=os.environ, stdout=log, stderr=log)
    try:
        _wait(process, port, folder / "log")
        yield f"thrift://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _site(settings: dict[str, str]) -> str:
    rows = "".join(
        f"<property><name>{key}</name><value>{value}</value></property>"
        for key, value in settings.items()
    )
    return f"<configuration>{rows}</configuration>"


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _wait(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the metastore ended:\n{log.read_text()[-2000:]}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError("the metastore didn't start in time")
