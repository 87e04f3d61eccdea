"""The DynamoDB backend against DynamoDB Local: AWS's own idea of what DynamoDB does."""

from collections.abc import Iterator

import pytest
from tests.contracts.ambiguity_contract import HiddenAmbiguityContract
from tests.contracts.dynamodb_contract import DynamoDbAmbiguityContract, DynamoDbContract
from tests.support.dynamodb_local import missing_programs, running_dynamodb_local

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    if missing := missing_programs():
        pytest.skip(f"DynamoDB Local needs {' and '.join(missing)}")
    with running_dynamodb_local() as url:
        yield url


class TestDynamoDbLocal(DynamoDbContract):
    pass


class TestDynamoDbLocalAmbiguity(DynamoDbAmbiguityContract, HiddenAmbiguityContract):
    pass
