"""Unity Catalog's own server, which forgets everything when it ends.

Maven Central may lack it (at times it has only the client): then mvn's words say so.
"""

from collections.abc import Iterator
from contextlib import contextmanager
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

NAME: Final = "unity-catalog"
ARTIFACTS: Final = (Artifact("io.unitycatalog:unitycatalog-server:0.4.1"),)
API: Final = "/api/2.1/unity-catalog"


@contextmanager
def running_unity_catalog() -> Iterator[str]:
    """The server's URI."""
    libraries = fetch(NAME, ARTIFACTS)
    port = free_port()
    uri = f"http://{HOST}:{port}"
    command = [*JAVA, "-cp", f"{libraries}/*", f"{LAUNCHERS}/UnityCatalog.java", str(port)]
    server = Server(
        name=NAME, command=command, answers=lambda: answers_http(f"{uri}{API}/catalogs")
    )
    with server.running():
        yield uri
