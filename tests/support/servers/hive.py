"""A Hive metastore of the version that Spark brings along, on a Derby database in memory."""

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
    answers_tcp,
    free_port,
)

NAME: Final = "hive-metastore"
ARTIFACTS: Final = (
    Artifact(
        "org.apache.spark:spark-hive_2.13:4.0.2",
        without=("org.apache.spark", "org.scala-lang", "org.scala-lang.modules"),
    ),
    Artifact("org.apache.hive:hive-storage-api:2.8.1"),
    Artifact("org.apache.hadoop:hadoop-client-runtime:3.4.1"),
    Artifact("com.google.guava:guava:33.4.0-jre"),
    Artifact("org.apache.logging.log4j:log4j-1.2-api:2.24.3"),
    Artifact("org.apache.logging.log4j:log4j-core:2.24.3"),
    Artifact("org.slf4j:slf4j-simple:1.7.36"),
)


@contextmanager
def running_hive(warehouse: Path) -> Iterator[str]:
    """The metastore's URI."""
    libraries = fetch(NAME, ARTIFACTS)
    port = free_port()
    settings = {
        "javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
        "hive.metastore.schema.verification": "false",
        "hive.metastore.warehouse.dir": f"file:{warehouse}",
        "datanucleus.schema.autoCreateAll": "true",
        "datanucleus.connectionPoolingType": "HikariCP",
        "derby.stream.error.file": "derby.log",
    }
    command = [*JAVA, *(f"-D{key}={value}" for key, value in settings.items())]
    command += ["-cp", f"{libraries}/*", f"{LAUNCHERS}/HiveMetastore.java", str(port)]
    with Server(name=NAME, command=command, answers=lambda: answers_tcp(port)).running():
        yield f"thrift://{HOST}:{port}"
