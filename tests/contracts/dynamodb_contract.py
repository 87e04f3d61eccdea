"""What the DynamoDB backend is tested with, whichever server plays DynamoDB.

A module says what `endpoint` is.
"""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from tests.contracts.ambiguity_contract import AmbiguousCommitContract
from tests.contracts.kv_contract import KeyValueStoreContract
from tests.contracts.kv_records import OpenStore
from tests.support.botocore_faults import BotocoreFaults
from tests.support.clock import FakeClock

from floecat.storage.kv.dynamodb import DynamoDbKeyValueStore, DynamoDbOptions
from floecat.storage.kv.dynamodb.store import dynamodb_client
from floecat.storage.kv.port import KeyValueStore


class OnTable:
    @pytest.fixture(scope="class")
    @classmethod
    def client(cls, endpoint: str, aws_environment: None) -> Iterator[Any]:
        """One for many tests, because making a client takes longer than most of them."""
        made = dynamodb_client(DynamoDbOptions("", endpoint=endpoint))
        yield made
        made.close()

    @pytest.fixture
    def options(self, endpoint: str, client: Any) -> Iterator[DynamoDbOptions]:
        options = DynamoDbOptions(f"t{uuid4().hex}", endpoint=endpoint)
        yield options
        client.delete_table(TableName=options.table)  # moto copies every table at every commit


class DynamoDbContract(OnTable, KeyValueStoreContract):
    @pytest.fixture
    def open_store(self, clock: FakeClock, options: DynamoDbOptions, client: Any) -> OpenStore:
        return lambda: DynamoDbKeyValueStore(options, clock=clock, client=client)


class DynamoDbAmbiguityContract(OnTable, AmbiguousCommitContract):
    @pytest.fixture
    def faults(self, options: DynamoDbOptions) -> Iterator[BotocoreFaults]:
        faults = BotocoreFaults(dynamodb_client(options))
        yield faults
        faults.client.close()

    @pytest.fixture
    def store(self, options: DynamoDbOptions, faults: BotocoreFaults) -> KeyValueStore:
        return DynamoDbKeyValueStore(options, client=faults.client)

    @pytest.fixture
    def direct(self, options: DynamoDbOptions, client: Any) -> KeyValueStore:
        return DynamoDbKeyValueStore(options, client=client)
