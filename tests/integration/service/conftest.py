"""One service in memory, shared by the tests of a module."""

from collections.abc import Iterator

import pytest
from tests.support.service import connected, running_service

import floecat
from floecat.bootstrap import Floecat


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Floecat]:
    with running_service(
        tmp_path_factory.mktemp("service"), kv="memory", blobs="memory"
    ) as running:
        yield running


@pytest.fixture
def clients(service: Floecat) -> Iterator[floecat.GrpcClients]:
    with connected(service) as connection:
        yield connection
