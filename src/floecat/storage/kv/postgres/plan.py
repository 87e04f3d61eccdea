"""A commit turned into what the statements take: locks, expectations, rows. Pure."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self, TypeAlias

from floecat.storage.kv.limits import EncodedKey
from floecat.storage.kv.port import ABSENT, ANY, Check, Delete, Operation, Put
from floecat.storage.kv.versions import conflict, fresh_version, to_micros

IndexKey: TypeAlias = tuple[bytes, bytes]
"""The partition's digest and the sort."""

_DIGEST_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Row:
    """A record to write."""

    key: IndexKey
    partition: bytes
    value: bytes
    version: int
    expires_at: int | None


@dataclass(frozen=True, slots=True)
class CommitPlan:
    """What one commit locks, expects, writes and removes."""

    locks: Sequence[tuple[int, bool]]
    expected: Sequence[tuple[IndexKey, Operation]]
    rows: Sequence[Row]
    deleted: Sequence[IndexKey]

    @classmethod
    def of(cls, keys: Sequence[EncodedKey], operations: Sequence[Operation]) -> Self:
        """The plan of a commit whose operations were checked."""
        pairs = [(index_key(key), key, op) for key, op in zip(keys, operations, strict=True)]
        return cls(
            locks=_locks((index, operation) for index, _, operation in pairs),
            expected=[(index, op) for index, _, op in pairs if op.expect is not ANY],
            rows=[_row(index, key[0], op) for index, key, op in pairs if isinstance(op, Put)],
            deleted=[index for index, _, op in pairs if isinstance(op, Delete)],
        )

    @property
    def writes(self) -> bool:
        """Whether there is anything to lose."""
        return bool(self.rows or self.deleted)

    def check(self, versions: Mapping[int, int]) -> None:
        """Raise `ConflictError` for the first expectation that the versions found don't meet."""
        for position, (_, operation) in enumerate(self.expected, start=1):
            wanted = None if operation.expect is ABSENT else operation.expect
            if versions.get(position) != wanted:
                raise conflict(operation.key, operation.expect)


def index_key(key: EncodedKey) -> IndexKey:
    """The key as the table's index holds it."""
    return partition_digest(key[0]), key[1]


def partition_digest(partition: bytes) -> bytes:
    """Short enough for an index, and as good as the partition itself: nobody finds two alike."""
    return hashlib.blake2b(partition, digest_size=_DIGEST_BYTES).digest()


def _locks(pairs: Iterable[tuple[IndexKey, Operation]]) -> Sequence[tuple[int, bool]]:
    """Every key's lock, in the one order that all commits use, so that none wait in a circle.

    What is only checked is locked shared: commits that check the same parent don't queue.
    """
    locks: dict[int, bool] = {}
    for (digest, sort), operation in pairs:
        hashed = hashlib.blake2b(digest + sort, digest_size=8).digest()
        lock = int.from_bytes(hashed, signed=True)
        locks[lock] = locks.get(lock, True) and isinstance(operation, Check)
    return sorted(locks.items())


def _row(index: IndexKey, partition: bytes, put: Put) -> Row:
    expires_at = None if put.expires_at is None else to_micros(put.expires_at)
    return Row(index, partition, put.value, fresh_version(), expires_at)
