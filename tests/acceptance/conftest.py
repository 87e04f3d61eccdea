"""One service for each module of acceptance tests."""

from collections.abc import Iterator
from itertools import count

import pytest
from tests.support.cli import Cli, serving

_NUMBERS = count()


@pytest.fixture(scope="module")
def floecat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with serving(tmp_path_factory.mktemp("service")) as cli:
        yield cli


@pytest.fixture
def catalog(floecat: Cli) -> str:
    """A catalog of the test's own."""
    name = f"sales{next(_NUMBERS)}"
    floecat.make(name)
    return name
