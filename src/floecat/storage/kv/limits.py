"""What no backend takes, refused by all of them in the same words before anything is tried.

Measuring a key means encoding it, so the bytes are handed back to the backends that store bytes.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, TypeAlias

from floecat.errors import InvalidArgumentError, LimitExceededError
from floecat.storage.kv.port import (
    MAX_COMMIT_BYTES,
    MAX_OPERATIONS,
    MAX_PARTITION_BYTES,
    MAX_SORT_BYTES,
    MAX_VALUE_BYTES,
    Expectation,
    Key,
    Operation,
    Presence,
    Put,
)

EncodedKey: TypeAlias = tuple[bytes, bytes]
"""A key's partition and sort as UTF-8."""

MAX_VERSION: Final = 2**63 - 1
MAX_LIMIT: Final = 2**31 - 1


def checked_operations(operations: Sequence[Operation]) -> list[EncodedKey]:
    """The encoded key of every operation of a commit, if the commit is one that may be tried."""
    if len(operations) > MAX_OPERATIONS:
        raise LimitExceededError(
            f"a commit holds at most {MAX_OPERATIONS} operations, not {len(operations)}"
        )
    keys = []
    total = 0
    for operation in operations:
        key = checked_key(operation.key)
        keys.append(key)
        total += len(key[0]) + len(key[1])
        _check_expectation(operation.expect)
        if isinstance(operation, Put):
            _check_put(operation)
            total += len(operation.value)
    if total > MAX_COMMIT_BYTES:
        raise LimitExceededError(f"a commit holds at most {MAX_COMMIT_BYTES} bytes, not {total}")
    _check_distinct(keys, operations)
    return keys


def checked_key(key: Key) -> EncodedKey:
    """The key's UTF-8, if it is one that every backend can store."""
    return checked_partition(key.partition), checked_sort(key.sort)


def checked_partition(partition: str) -> bytes:
    """The partition's UTF-8."""
    return _encoded("partition", partition, MAX_PARTITION_BYTES)


def check_scan(prefix: str, after: str | None, limit: int) -> None:
    """Refuse a scan that not every backend can run."""
    check_limit(limit)
    for bound in (prefix, after):
        if bound:
            checked_sort(bound)


def check_limit(limit: int) -> None:
    """Refuse a number of records that not every backend can count to."""
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidArgumentError(f"a limit is between 1 and {MAX_LIMIT}, not {limit}")


def checked_sort(sort: str) -> bytes:
    """The sort's UTF-8."""
    return _encoded("sort", sort, MAX_SORT_BYTES)


def _encoded(part: str, text: str, limit: int) -> bytes:
    try:
        encoded = text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"the {part} of a key holds a lone surrogate") from error
    if not encoded:
        raise InvalidArgumentError(f"the {part} of a key is empty")
    if len(encoded) > limit:
        raise LimitExceededError(f"the {part} of a key has at most {limit} bytes: {text[:80]!r}…")
    return encoded


def _check_expectation(expect: Expectation) -> None:
    if not isinstance(expect, Presence) and not 0 <= expect <= MAX_VERSION:
        raise InvalidArgumentError(f"{expect} can't be the version of a record")


def _check_put(put: Put) -> None:
    if len(put.value) > MAX_VALUE_BYTES:
        raise LimitExceededError(
            f"a value has at most {MAX_VALUE_BYTES} bytes, not {len(put.value)}: {put.key}"
        )
    if not isinstance(put.value, bytes):
        raise InvalidArgumentError(f"a value is bytes, not {type(put.value).__name__}: {put.key}")
    if put.expires_at is not None:
        _check_expiry(put.expires_at, put.key)


def _check_expiry(expires_at: datetime, key: Key) -> None:
    if expires_at.utcoffset() is None:
        raise InvalidArgumentError(f"expires_at needs a time zone: {key}")
    try:
        expires_at.astimezone(UTC)
    except OverflowError as error:
        message = f"expires_at lies outside the years 1 to 9999: {key}"
        raise InvalidArgumentError(message) from error


def _check_distinct(keys: Sequence[EncodedKey], operations: Sequence[Operation]) -> None:
    if len(set(keys)) == len(keys):
        return
    seen: set[EncodedKey] = set()
    for key, operation in zip(keys, operations, strict=True):
        if key in seen:
            raise InvalidArgumentError(f"a commit names a key twice: {operation.key}")
        seen.add(key)
