"""Servers that tests share, started when the first test asks and ended with the session."""

import socket
from collections.abc import Iterator

import hypothesis
import pytest
from tests.support.lakehouse import remove_installed
from tests.support.moto import Moto, running_moto
from tests.support.postgres import NOT_FOUND, Postgres, find_programs, running_postgres

# A shared machine may stall anywhere; how long an example takes proves nothing.
hypothesis.settings.register_profile("floecat", deadline=None)
hypothesis.settings.load_profile("floecat")

pytest.register_assert_rewrite("tests.contracts", "tests.interop")


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder that holds the tests' own: pytest doesn't, and a fresh checkout has none."""
    (config.rootpath / "build").mkdir(exist_ok=True)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Leave nothing behind outside the checkout; the workers have ended before this."""
    if not hasattr(session.config, "workerinput"):
        remove_installed()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    programs = find_programs()
    if programs is None:
        pytest.skip(NOT_FOUND)
    with running_postgres(programs) as server:
        yield server


@pytest.fixture(scope="session")
def moto() -> Iterator[Moto]:
    with running_moto() as server:
        yield server


@pytest.fixture(scope="session")
def aws_environment() -> Iterator[None]:
    """Credentials that open nothing, so that no test can ever reach a real account."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        patch.delenv("AWS_PROFILE", raising=False)
        yield


@pytest.fixture
def unused_port() -> int:
    """A port nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
