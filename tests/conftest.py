"""Servers that tests share, started when the first test asks and ended with the session."""

from collections.abc import Iterator

import pytest
from tests.support.postgres import NOT_FOUND, Postgres, find_programs, running_postgres

pytest.register_assert_rewrite(
    "tests.contracts.kv_contract",
    "tests.contracts.ambiguity_contract",
    "tests.contracts.blob_contract",
)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    programs = find_programs()
    if programs is None:
        pytest.skip(NOT_FOUND)
    with running_postgres(programs) as server:
        yield server
