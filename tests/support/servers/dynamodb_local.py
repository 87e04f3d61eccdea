"""DynamoDB Local, AWS's own, fetched from Maven Central into build/ and run on loopback."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "build" / "dynamodb-local"

POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>floecat</groupId>
  <artifactId>dynamodb-local</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>com.amazonaws</groupId>
      <artifactId>DynamoDBLocal</artifactId>
      <version>2.6.1</version>
    </dependency>
  </dependencies>
</project>
"""


def missing_programs() -> list[str]:
    return [program for program in ("mvn", "java") if shutil.which(program) is None]


def fetch() -> Path:
    """The folder with the server's jars and native libraries."""
    libraries = FOLDER / "lib"
    if not (FOLDER / "fetched").exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / "pom.xml").write_text(POM)
        command = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"]
        done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"mvn couldn't fetch DynamoDB Local:\n{done.stdout}{done.stderr}")
        (FOLDER / "fetched").touch()
    return libraries


@contextmanager
def running_dynamodb_local() -> Iterator[str]:
    """The endpoint of a server that forgets everything when it ends."""
    libraries = fetch()
    port = _free_port()
    command = ["java", f"-Djava.library.path={libraries}", "-cp", f"{libraries}/*"]
    command += ["com.amazonaws.services.dynamodbv2.local.main.ServerRunner"]
    command += ["-inMemory", "-sharedDb", "-disableTelemetry", "-port", str(port)]
    with (FOLDER / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=FOLDER, stdout=log, stderr=log)
    try:
        _wait_until_ready(process, port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait_until_ready(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError((FOLDER / "log").read_text())


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port
