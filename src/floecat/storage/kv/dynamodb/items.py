"""Records as DynamoDB items, and expectations as its condition expressions. Pure.

`pk` and `sk` are the key, `val` the value, `ver` the version, `exp` the expiry in microseconds,
`ttl` the same in the whole seconds that DynamoDB's own sweeper reads, `cid` the commit's id.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from floecat.storage.kv.limits import checked_key
from floecat.storage.kv.port import (
    ABSENT,
    ANY,
    MAX_SORT_BYTES,
    Check,
    Delete,
    Expectation,
    Key,
    Operation,
    Put,
    Record,
)
from floecat.storage.kv.ranges import SortRange
from floecat.storage.kv.versions import fresh_version, from_micros, to_micros

Item: TypeAlias = Mapping[str, Any]

ABSENT_CONDITION: Final = "attribute_not_exists(pk) OR exp <= :now"
VERSION_CONDITION: Final = "ver = :version AND (attribute_not_exists(exp) OR exp > :now)"
LIVE_FILTER: Final = "attribute_not_exists(exp) OR exp > :now"
EXPIRED_FILTER: Final = "exp <= :now"

_MICROS: Final = 1_000_000


def key_item(key: Key) -> dict[str, Any]:
    """The attributes that address a record."""
    return {"pk": {"S": key.partition}, "sk": {"S": key.sort}}


def item_key(item: Item) -> Key:
    """The key of an item."""
    return Key(item["pk"]["S"], item["sk"]["S"])


def item_record(item: Item) -> Record:
    """The record that an item holds."""
    expires_at = int(item["exp"]["N"]) if "exp" in item else None
    return Record(item_key(item), item["val"]["B"], int(item["ver"]["N"]), from_micros(expires_at))


def is_live(item: Item, now: int) -> bool:
    """Whether the record can still be seen."""
    return "exp" not in item or int(item["exp"]["N"]) > now


def transaction_items(
    table: str, operations: Sequence[Operation], commit_id: str, now: int
) -> list[dict[str, Any]]:
    """What TransactWriteItems takes for a commit."""
    items = []
    for operation in operations:
        written: dict[str, Any] = {"TableName": table, **_condition(operation.expect, now)}
        match operation:
            case Put():
                items.append({"Put": {**written, "Item": _put_item(operation, commit_id)}})
            case Delete(key):
                items.append({"Delete": {**written, "Key": key_item(key)}})
            case Check(key, expect) if expect is not ANY:
                items.append({"ConditionCheck": {**written, "Key": key_item(key)}})
            case Check():
                pass  # DynamoDB has no check without a condition
    return items


def key_condition(partition: str, covered: SortRange) -> tuple[str, dict[str, Any]]:
    """A query's key condition; it may cover a little more than the range, never less."""
    values: dict[str, Any] = {":partition": {"S": partition}}
    low, high = covered.low, covered.high
    if _too_long(low):  # the string after the longest sort; no sort is equal to it
        low = low.removesuffix("\0")
    if high is not None and _too_long(high):
        high = None
    if low:
        values[":low"] = {"S": low}
    if high:
        values[":high"] = {"S": high}
    sort = {
        (False, False): "",
        (True, False): " AND sk >= :low",
        (False, True): " AND sk < :high",
        (True, True): " AND sk BETWEEN :low AND :high",
    }[bool(low), bool(high)]
    return f"pk = :partition{sort}", values


def number(value: int) -> dict[str, Any]:
    """A number as an attribute."""
    return {"N": str(value)}


def _too_long(sort: str) -> bool:
    return len(sort.encode()) > MAX_SORT_BYTES


def _put_item(put: Put, commit_id: str) -> dict[str, Any]:
    item = {
        **key_item(put.key),
        "val": {"B": bytes(put.value)},
        "ver": number(fresh_version()),
        "cid": {"S": commit_id},
    }
    if put.expires_at is not None:
        micros = to_micros(put.expires_at)
        item |= {"exp": number(micros), "ttl": number(-(-micros // _MICROS))}
    return item


def _condition(expect: Expectation, now: int) -> dict[str, Any]:
    if expect is ANY:
        return {}
    if expect is ABSENT:
        return {
            "ConditionExpression": ABSENT_CONDITION,
            "ExpressionAttributeValues": {":now": number(now)},
        }
    return {
        "ConditionExpression": VERSION_CONDITION,
        "ExpressionAttributeValues": {":now": number(now), ":version": number(expect)},
    }


def distinct(keys: Sequence[Key]) -> list[Key]:
    """Each key once, all of them checked."""
    for key in keys:
        checked_key(key)
    return list(dict.fromkeys(keys))
