"""Reading and writing several records as if alone: what was read must still hold at the commit."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, TypeVar

from floecat.errors import ConflictError, ContentionError
from floecat.storage.kv.port import (
    ABSENT,
    ANY,
    Check,
    Delete,
    Expectation,
    Key,
    KeyValueStore,
    Operation,
    Put,
)

MAX_ATTEMPTS: Final = 64

Result = TypeVar("Result")


class Transaction:
    """Collects writes. Whatever it read is expected to be unchanged when they are committed."""

    def __init__(self, kv: KeyValueStore) -> None:
        self._kv = kv
        self._read: dict[Key, Expectation] = {}
        self._values: dict[Key, bytes | None] = {}
        self._writes: dict[Key, tuple[bytes | None, datetime | None]] = {}

    def get(self, key: Key) -> bytes | None:
        """A record's value, as this transaction would leave it."""
        if key not in self._values:
            record = self._kv.get(key)
            self._read[key] = ABSENT if record is None else record.version
            self._values[key] = None if record is None else record.value
        return self._values[key]

    def get_many(self, keys: Sequence[Key]) -> list[bytes | None]:
        """Several records' values, read together: one way to the store and back, not one each."""
        unknown = [key for key in keys if key not in self._values]
        for key, record in zip(unknown, self._kv.get_many(unknown), strict=True):
            self._read[key] = ABSENT if record is None else record.version
            self._values[key] = None if record is None else record.value
        return [self._values[key] for key in keys]

    def peek(self, keys: Sequence[Key]) -> list[bytes | None]:
        """Values as this transaction would leave them, which others may change meanwhile."""
        unknown = [key for key in keys if key not in self._values]
        records = dict(zip(unknown, self._kv.get_many(unknown), strict=True)) if unknown else {}
        found = {key: None if record is None else record.value for key, record in records.items()}
        return [self._values[key] if key in self._values else found[key] for key in keys]

    def put(self, key: Key, value: bytes, expires_at: datetime | None = None) -> None:
        """Write a record. One that wasn't read before is written over, whatever it is."""
        self._values[key] = value
        self._writes[key] = (value, expires_at)

    def delete(self, key: Key) -> None:
        """Remove a record, if there is one."""
        self._values[key] = None
        self._writes[key] = (None, None)

    def operations(self) -> list[Operation]:
        """What to commit."""
        written = [self._written(key) for key in self._writes]
        checked = [
            Check(key, expected) for key, expected in self._read.items() if key not in self._writes
        ]
        return [*written, *checked] if written else []

    def expectations(self) -> tuple[Operation, ...]:
        """What was read, as something for another commit to expect."""
        return tuple(Check(key, expected) for key, expected in self._read.items())

    def _written(self, key: Key) -> Operation:
        value, expires_at = self._writes[key]
        expected = self._read.get(key, ANY)
        if value is None:
            return Delete(key, ANY if expected is ABSENT else expected)
        return Put(key, value, expected, expires_at)


def transact(kv: KeyValueStore, work: Callable[[Transaction], Result]) -> Result:
    """Do the work and commit it; again, from its beginning, whenever somebody came between."""
    for _ in range(MAX_ATTEMPTS):
        transaction = Transaction(kv)
        result = work(transaction)
        try:
            kv.commit(transaction.operations())
        except ConflictError:
            continue
        return result
    raise ContentionError("too many concurrent changes to the same jobs: try again")
