"""DynamoDB Local, AWS's own; it forgets everything when it ends."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.servers.maven import BUILD, Artifact, fetch
from tests.support.servers.running import HOST, JAVA, Server, answers_tcp, free_port

NAME = "dynamodb-local"
ARTIFACTS = (Artifact("com.amazonaws:DynamoDBLocal:2.6.1"),)


def is_fetched() -> bool:
    return (BUILD / NAME / "fetched").exists()


@contextmanager
def running_dynamodb_local() -> Iterator[str]:
    """The server's endpoint."""
    libraries = fetch(NAME, ARTIFACTS)
    port = free_port()
    command = [*JAVA, f"-Djava.library.path={libraries}", "-cp", f"{libraries}/*"]
    command += ["com.amazonaws.services.dynamodbv2.local.main.ServerRunner"]
    command += ["-inMemory", "-sharedDb", "-disableTelemetry", "-port", str(port)]
    with Server(name=NAME, command=command, answers=lambda: answers_tcp(port)).running():
        yield f"http://{HOST}:{port}"
