"""What backends share about records: fresh versions, expectations in words, times as numbers."""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Final

from floecat.errors import ConflictError
from floecat.storage.kv.port import ABSENT, Expectation, Key

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def fresh_version() -> int:
    """A version that no record ever had: a counter would repeat after delete and re-create."""
    return secrets.randbits(63)


def conflict(key: Key, expect: Expectation) -> ConflictError:
    """The error that says which expectation didn't hold."""
    expected = "absent" if expect is ABSENT else f"at version {expect}"
    return ConflictError(key.partition, key.sort, expected)


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970: exact, unlike a float."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int | None) -> datetime | None:
    """The moment, in UTC."""
    return None if micros is None else _EPOCH + timedelta(microseconds=micros)
