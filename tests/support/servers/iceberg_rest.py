"""Iceberg's own REST catalog, its reference server, from Maven Central; run on loopback."""

import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "build" / "iceberg-rest"
START_SECONDS = 60

POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>floecat</groupId>
  <artifactId>iceberg-rest</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.iceberg</groupId><artifactId>iceberg-open-api</artifactId>
      <version>1.11.0</version><classifier>test-fixtures</classifier>
    </dependency>
    <dependency>
      <groupId>org.apache.iceberg</groupId><artifactId>iceberg-core</artifactId>
      <version>1.11.0</version>
    </dependency>
    <dependency>
      <groupId>org.apache.iceberg</groupId><artifactId>iceberg-core</artifactId>
      <version>1.11.0</version><classifier>tests</classifier>
    </dependency>
    <dependency>
      <groupId>org.apache.hadoop</groupId><artifactId>hadoop-client-runtime</artifactId>
      <version>3.4.1</version>
    </dependency>
    <dependency>
      <groupId>org.eclipse.jetty.ee10</groupId><artifactId>jetty-ee10-servlet</artifactId>
      <version>12.1.5</version>
    </dependency>
    <dependency>
      <groupId>org.eclipse.jetty.compression</groupId>
      <artifactId>jetty-compression-server</artifactId><version>12.1.5</version>
    </dependency>
    <dependency>
      <groupId>org.eclipse.jetty.compression</groupId>
      <artifactId>jetty-compression-gzip</artifactId><version>12.1.5</version>
    </dependency>
    <dependency>
      <groupId>org.xerial</groupId><artifactId>sqlite-jdbc</artifactId><version>3.50.3.0</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>2.0.17</version>
    </dependency>
  </dependencies>
</project>
"""


def missing_programs() -> list[str]:
    return [program for program in ("mvn", "java") if shutil.which(program) is None]


def fetch() -> Path:
    libraries = FOLDER / "lib"
    if not (FOLDER / "fetched").exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / "pom.xml").write_text(POM)
        command = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"]
        done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"mvn couldn't fetch Iceberg's server:\n{done.stdout}{done.stderr}")
        (FOLDER / "fetched").touch()
    return libraries


@contextmanager
def running_iceberg_rest(database: Path, warehouse: str) -> Iterator[str]:
    """The URI of a server over a JDBC catalog in a SQLite file."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "CATALOG_CATALOG__IMPL": "org.apache.iceberg.jdbc.JdbcCatalog",
        "CATALOG_URI": f"jdbc:sqlite:{database}",
        "CATALOG_WAREHOUSE": warehouse,
        "CATALOG_JDBC_SCHEMA__VERSION": "V1",
        "CATALOG_REST_PORT": str(port),
    }
    command = ["java", "-cp", f"{fetch()}/*", "org.apache.iceberg.rest.RESTCatalogServer"]
    with (FOLDER / "log").open("wb") as log:
        variables = os.environ | settings
        process = subprocess.Popen(command, env=variables, stdout=log, stderr=log)
    try:
        uri = f"http://127.0.0.1:{port}"
        _wait(process, uri)
        yield uri
    finally:
        process.kill()
        process.wait()


def _wait(process: "subprocess.Popen[bytes]", uri: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"Iceberg's server ended:\n{(FOLDER / 'log').read_text()[-2000:]}")
        try:
            with urllib.request.urlopen(f"{uri}/v1/config", timeout=1):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("Iceberg's server didn't start in time")
