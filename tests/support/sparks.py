"""Spark for tests: one session per process, a cluster, and a Connect server, all on loopback."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

HOME = Path(pyspark.__file__).parent


def free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


def _environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_NO_DAEMONIZE": "1",
        "SPARK_LOCAL_DIRS": str(folder),
        "PYSPARK_PYTHON": sys.executable,
        "POLARS_MAX_THREADS": "1",
    }


@contextmanager
def _running(folder: Path, name: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [str(HOME / "bin" / "spark-class"), *arguments]
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            env=_environment(folder),
            cwd=folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        os.killpg(process.pid, 15)
        process.wait(30)


def _listening(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert process.poll() is None, "it ended at once; look at its log"
        with socket.socket() as opened:
            if opened.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("it doesn't listen")


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """A standalone master with two workers; its address."""
    port, page = free_port(), free_port()
    master = "org.apache.spark.deploy.master.Master"
    worker = "org.apache.spark.deploy.worker.Worker"
    at = ("--host", "127.0.0.1")
    with _running(
        folder, "master", master, *at, "--port", str(port), "--webui-port", str(page)
    ) as one:
        _listening(port, one)
        address = f"spark://127.0.0.1:{port}"
        options = ("--cores", "1", "--memory", "1g", "--webui-port", "0", "-d", str(folder))
        with (
            _running(folder, "worker1", worker, *at, *options, address),
            _running(folder, "worker2", worker, *at, *options, address),
        ):
            yield address


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """A Spark Connect server; its address."""
    port = free_port()
    server = "org.apache.spark.sql.connect.service.SparkConnectServer"
    arguments = ["org.apache.spark.deploy.SparkSubmit", "--class", server]
    for setting in (
        "spark.master=local[2]",
        "spark.ui.enabled=false",
        "spark.connect.grpc.binding.address=127.0.0.1",
        f"spark.connect.grpc.binding.port={port}",
        f"spark.sql.artifact.cacheDir={folder}",
    ):
        arguments += ["--conf", setting]
    with _running(folder, "connect", *arguments, "spark-internal") as process:
        _listening(port, process)
        yield f"sc://127.0.0.1:{port}"
