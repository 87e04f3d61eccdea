"""The DynamoDB backend: consistent reads of one table, transactions for commits."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from floecat.clock import Clock, utc_now
from floecat.storage.kv.dynamodb.calls import DynamoDbTable
from floecat.storage.kv.dynamodb.commits import Committer
from floecat.storage.kv.dynamodb.errors import error_code
from floecat.storage.kv.dynamodb.items import (
    EXPIRED_FILTER,
    LIVE_FILTER,
    Item,
    distinct,
    is_live,
    item_key,
    item_record,
    key_condition,
    key_item,
    number,
)
from floecat.storage.kv.dynamodb.table import prepare
from floecat.storage.kv.limits import (
    check_limit,
    check_scan,
    checked_key,
    checked_operations,
    checked_partition,
)
from floecat.storage.kv.port import Key, Operation, Record, ServerTime
from floecat.storage.kv.ranges import sort_range
from floecat.storage.kv.versions import to_micros

_CLOCK_PRECISION: Final = timedelta(seconds=1)
"""Of dates in HTTP."""


@dataclass(frozen=True, slots=True)
class DynamoDbOptions:
    """Where the table is. Credentials come from the environment, as with every AWS tool."""

    table: str
    region: str | None = None
    endpoint: str | None = None
    patience: timedelta = timedelta(seconds=30)
    connections: int = 32


def dynamodb_client(options: DynamoDbOptions) -> Any:
    """A client that leaves trying again to us, who know what may be repeated."""
    return boto3.session.Session().client(
        "dynamodb",
        region_name=options.region,
        endpoint_url=options.endpoint,
        config=Config(
            retries={"total_max_attempts": 1, "mode": "standard"},
            connect_timeout=5,
            read_timeout=10,
            max_pool_connections=options.connections,
            parameter_validation=False,  # a tenth of a call's time, for what we make ourselves
        ),
    )


class DynamoDbKeyValueStore:
    """Records as items of one table."""

    def __init__(
        self, options: DynamoDbOptions, *, clock: Clock = utc_now, client: Any = None
    ) -> None:
        """A client that is given is shared, and left open by `close`."""
        self._owns_client = client is None
        self._client = client or dynamodb_client(options)
        self._clock = clock
        self._table = DynamoDbTable(self._client, options.table, options.patience)
        self._committer = Committer(self._table, clock)
        prepare(self._client, options.table)

    def get(self, key: Key) -> Record | None:
        checked_key(key)
        item = self._table.get(key)
        return item_record(item) if item is not None and is_live(item, self._now()) else None

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        items = self._table.get_many(distinct(keys))
        now = self._now()
        found = {item_key(item): item_record(item) for item in items if is_live(item, now)}
        return [found.get(key) for key in keys]

    def scan(
        self,
        partition: str,
        prefix: str = "",
        *,
        after: str | None = None,
        limit: int,
        reverse: bool = False,
    ) -> Sequence[Record]:
        checked_partition(partition)
        check_scan(prefix, after, limit)
        covered = sort_range(prefix, after, reverse=reverse)
        found: list[Record] = []
        if covered.empty:
            return found
        condition, values = key_condition(partition, covered)
        pages = self._pages(
            self._client.query,
            KeyConditionExpression=condition,
            FilterExpression=LIVE_FILTER,
            ExpressionAttributeValues={**values, ":now": number(self._now())},
            ScanIndexForward=not reverse,
            Limit=limit + 1,  # the condition may let one more in than the range holds
        )
        for item in pages:
            if covered.holds(item["sk"]["S"]):
                found.append(item_record(item))
            if len(found) == limit:
                break
        return found

    def glance(self) -> AbstractContextManager[None]:
        return nullcontext()  # nothing is remembered, so nothing needs to be asked

    def commit(self, operations: Sequence[Operation]) -> None:
        checked_operations(operations)
        self._committer.run(operations)

    def dump(self, after: Key | None = None) -> Iterator[Record]:
        start = {} if after is None else {"ExclusiveStartKey": key_item(after)}
        pages = self._pages(
            self._client.scan,
            FilterExpression=LIVE_FILTER,
            ExpressionAttributeValues={":now": number(self._now())},
            **start,
        )
        return map(item_record, pages)

    def server_time(self) -> ServerTime | None:
        answer = self._table.call(self._client.describe_table, TableName=self._table.name)
        date = answer["ResponseMetadata"]["HTTPHeaders"].get("date")
        return ServerTime(parsedate_to_datetime(date), _CLOCK_PRECISION) if date else None

    def sweep(self, limit: int) -> int:
        """Reads the whole table; DynamoDB's own expiry, which is on, does the daily sweeping."""
        check_limit(limit)
        expired = self._pages(
            self._client.scan,
            FilterExpression=EXPIRED_FILTER,
            ExpressionAttributeValues={":now": number(self._now())},
        )
        removed = 0
        for item in expired:
            if removed == limit:
                break
            removed += self._remove_expired(item)
        return removed

    def close(self) -> None:
        if self._owns_client:
            self._client.close()

    def _now(self) -> int:
        return to_micros(self._clock())

    def _pages(self, operation: Any, **parameters: Any) -> Iterator[Item]:
        """The items of every page of a query or scan."""
        while True:
            answer = self._table.call(
                operation, TableName=self._table.name, ConsistentRead=True, **parameters
            )
            yield from answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return
            parameters["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def _remove_expired(self, item: Item) -> int:
        try:
            self._table.call(
                self._client.delete_item,
                TableName=self._table.name,
                Key=key_item(item_key(item)),
                ConditionExpression="ver = :version",
                ExpressionAttributeValues={":version": item["ver"]},
            )
        except ClientError as error:
            if error_code(error) == "ConditionalCheckFailedException":  # written anew meanwhile
                return 0
            raise
        return 1
