"""Iceberg's reference server for its REST protocol, over a JDBC catalog in a SQLite file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.support.servers.maven import Artifact, fetch
from tests.support.servers.running import (
    HOST,
    JAVA,
    LAUNCHERS,
    Server,
    answers_http,
    free_port,
)

NAME: Final = "iceberg-rest"
CATALOG: Final = "rest_backend"
"""What the server calls its catalog in the database."""
ARTIFACTS: Final = (
    Artifact("org.apache.iceberg:iceberg-core:1.11.0"),
    Artifact("org.apache.iceberg:iceberg-core:1.11.0:tests"),
    Artifact("org.apache.hadoop:hadoop-client-runtime:3.4.1"),
    Artifact("org.eclipse.jetty.ee10:jetty-ee10-servlet:12.1.5"),
    Artifact("org.xerial:sqlite-jdbc:3.50.3.0"),
    Artifact("org.slf4j:slf4j-simple:2.0.17"),
)


@contextmanager
def running_iceberg_rest(database: Path, warehouse: str) -> Iterator[str]:
    """The server's URI."""
    libraries = fetch(NAME, ARTIFACTS)
    port = free_port()
    uri = f"http://{HOST}:{port}"
    command = [*JAVA, "-cp", f"{libraries}/*", f"{LAUNCHERS}/IcebergRest.java"]
    command += [str(port), CATALOG, f"jdbc:sqlite:{database}", warehouse]
    server = Server(name=NAME, command=command, answers=lambda: answers_http(f"{uri}/v1/config"))
    with server.running():
        yield uri
