"""Calling DynamoDB: again after throttling and lost answers, until patience runs out."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from floecat.errors import UnavailableError
from floecat.storage.kv.backoff import attempts
from floecat.storage.kv.dynamodb.errors import Failure, classify, translate
from floecat.storage.kv.dynamodb.items import Item, key_item
from floecat.storage.kv.port import Key

_BATCH_KEYS = 100


class DynamoDbTable:
    """One table, read consistently. Every call here may be made twice without harm."""

    def __init__(self, client: Any, name: str, patience: timedelta) -> None:
        self.client = client
        self.name = name
        self.patience = patience

    def call(self, operation: Callable[..., Any], **parameters: Any) -> Any:
        """One call that reads, or that may safely happen twice."""
        failure: Exception | None = None
        for _ in attempts(self.patience):
            try:
                return operation(**parameters)
            except (ClientError, BotoCoreError) as error:
                if classify(error) is Failure.FINAL:
                    raise (translate(error) or error) from error
                failure = error
        raise UnavailableError(f"DynamoDB doesn't answer: {failure}") from failure

    def get(self, key: Key) -> Item | None:
        """One item as of now."""
        answer = self.call(
            self.client.get_item, TableName=self.name, Key=key_item(key), ConsistentRead=True
        )
        found: Item | None = answer.get("Item")
        return found

    def get_many(self, keys: Sequence[Key]) -> list[Item]:
        """The items there are of distinct keys, in no order."""
        found: list[Item] = []
        for start in range(0, len(keys), _BATCH_KEYS):
            found += self._get_batch([key_item(key) for key in keys[start : start + _BATCH_KEYS]])
        return found

    def _get_batch(self, keys: list[dict[str, Any]]) -> list[Item]:
        found: list[Item] = []
        for _ in attempts(self.patience):
            wanted = {self.name: {"Keys": keys, "ConsistentRead": True}}
            answer = self.call(self.client.batch_get_item, RequestItems=wanted)
            found += answer["Responses"].get(self.name, [])
            # DynamoDB leaves out what exceeds 16 MiB or its throughput at the moment.
            keys = answer.get("UnprocessedKeys", {}).get(self.name, {}).get("Keys", [])
            if not keys:
                return found
        raise UnavailableError("DynamoDB kept leaving keys out of a batch")
