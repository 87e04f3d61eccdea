"""The DynamoDB backend, against moto here and DynamoDB Local in `make interop`."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from tests.contracts.ambiguity_contract import AmbiguousCommitContract, HiddenAmbiguityContract
from tests.contracts.kv_contract import KeyValueStoreContract, OpenStore, key, put_all
from tests.support.botocore_faults import BotocoreFaults
from tests.support.clock import FakeClock
from tests.support.moto import Moto

from floecat.errors import UnavailableError
from floecat.storage.kv.dynamodb import DynamoDbKeyValueStore
from floecat.storage.kv.dynamodb.store import DynamoDbOptions, dynamodb_client
from floecat.storage.kv.port import ANY, KeyValueStore, Put


@pytest.fixture(scope="module")
def client(moto: Moto, aws_environment: None) -> Iterator[Any]:
    """One for all tests, because making a client takes longer than most of them."""
    made = dynamodb_client(DynamoDbOptions("", endpoint=moto.endpoint))
    yield made
    made.close()


class OnMoto:
    @pytest.fixture
    def options(self, moto: Moto, client: Any) -> Iterator[DynamoDbOptions]:
        options = DynamoDbOptions(f"t{uuid4().hex}", endpoint=moto.endpoint)
        yield options
        client.delete_table(TableName=options.table)  # moto copies every table at every commit


class TestDynamoDb(OnMoto, KeyValueStoreContract):
    @pytest.fixture
    def open_store(self, clock: FakeClock, options: DynamoDbOptions, client: Any) -> OpenStore:
        return lambda: DynamoDbKeyValueStore(options, clock=clock, client=client)


class Ambiguity(OnMoto, AmbiguousCommitContract):
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


class TestDynamoDbAmbiguity(Ambiguity):
    """moto ignores client tokens, so this is settled by reading back."""

    def test_throttling_is_waited_out(self, store: KeyValueStore, faults: BotocoreFaults) -> None:
        put_all(store, ["a"])
        faults.throttle(5)
        store.commit([Put(key("a"), b"new", ANY)])
        faults.throttle(5)
        assert [record.value for record in store.scan("p", limit=5)] == [b"new"]
        assert faults.throttled == 10


class TestDynamoDbTokens(Ambiguity, HiddenAmbiguityContract):
    """With tokens remembered, as DynamoDB does, even what left no trace is settled."""

    @pytest.fixture(autouse=True)
    def tokens(self, moto: Moto) -> Iterator[None]:
        moto.app.remembers_tokens = True
        yield
        moto.app.remembers_tokens = False


def test_an_unreachable_server_is_named(aws_environment: None) -> None:
    options = DynamoDbOptions("t", endpoint="http://127.0.0.1:1", patience=timedelta(seconds=0.2))
    with pytest.raises(UnavailableError, match="DynamoDB"):
        DynamoDbKeyValueStore(options)
