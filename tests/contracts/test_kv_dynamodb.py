"""The DynamoDB backend, against moto here and DynamoDB Local in `make interop`."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from tests.contracts.ambiguity_contract import HiddenAmbiguityContract
from tests.contracts.dynamodb_contract import DynamoDbAmbiguityContract, DynamoDbContract
from tests.contracts.kv_records import key, put_all
from tests.support.botocore_faults import BotocoreFaults
from tests.support.moto import Moto

from floecat.errors import UnavailableError
from floecat.storage.kv.dynamodb import DynamoDbKeyValueStore, DynamoDbOptions
from floecat.storage.kv.port import ANY, KeyValueStore, Put

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def endpoint(moto: Moto) -> str:
    return moto.endpoint


class TestDynamoDb(DynamoDbContract):
    pass


class TestDynamoDbAmbiguity(DynamoDbAmbiguityContract):
    """moto ignores client tokens, so this is settled by reading back."""

    def test_throttling_is_waited_out(self, store: KeyValueStore, faults: BotocoreFaults) -> None:
        put_all(store, ["a"])
        faults.throttle(5)
        store.commit([Put(key("a"), b"new", ANY)])
        faults.throttle(5)
        assert [record.value for record in store.scan("p", limit=5)] == [b"new"]
        assert faults.throttled == 10


class TestDynamoDbTokens(DynamoDbAmbiguityContract, HiddenAmbiguityContract):
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
