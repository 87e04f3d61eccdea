"""The DynamoDB backend against DynamoDB Local: AWS's own idea of what DynamoDB does."""

from collections.abc import Iterator

import pytest
from tests.contracts.ambiguity_contract import HiddenAmbiguityContract
from tests.contracts.dynamodb_contract import DynamoDbAmbiguityContract, DynamoDbContract
from tests.support.servers.dynamodb_local import running_dynamodb_local
from tests.support.servers.starting import started

pytestmark = pytest.mark.interop("DynamoDB Local (storage)")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    yield from started(running_dynamodb_local())


class TestDynamoDbLocal(DynamoDbContract):
    pass


class TestDynamoDbLocalAmbiguity(DynamoDbAmbiguityContract, HiddenAmbiguityContract):
    pass
