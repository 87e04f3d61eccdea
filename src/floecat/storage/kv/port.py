"""The KeyValueStore port: what every backend promises, and the limits every backend keeps.

Must not know any backend. The limits are DynamoDB's, so that nothing works on one backend only.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

MAX_OPERATIONS: Final = 100
MAX_COMMIT_BYTES: Final = 2 * 1024 * 1024
MAX_VALUE_BYTES: Final = 256 * 1024
MAX_SORT_BYTES: Final = 1024
MAX_PARTITION_BYTES: Final = 2048


class Presence(Enum):
    """Expectations that aren't about one version."""

    ANY = "anything"
    ABSENT = "absent"


ANY: Final = Presence.ANY
ABSENT: Final = Presence.ABSENT

Expectation: TypeAlias = Literal[Presence.ANY, Presence.ABSENT] | int
"""`ANY`, `ABSENT`, or the version a record must still have."""


class Key(NamedTuple):
    """Where a record lives. Both parts are non-empty and ordered by their UTF-8 bytes."""

    partition: str
    sort: str


class Record(NamedTuple):
    """A stored value. `version` is opaque: fresh at every write and never repeated for a key."""

    key: Key
    value: bytes
    version: int
    expires_at: datetime | None = None


class ServerTime(NamedTuple):
    """What a server's clock says: this, or later by less than its precision."""

    moment: datetime
    precision: timedelta


@dataclass(frozen=True, slots=True)
class Put:
    """Write `value`. With `expires_at` (timezone-aware) the record is invisible from then on."""

    key: Key
    value: bytes
    expect: Expectation
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove the record, if the expectation holds. Deleting nothing under `ANY` is fine."""

    key: Key
    expect: Expectation


@dataclass(frozen=True, slots=True)
class Check:
    """Change nothing, but let the commit fail unless the expectation holds."""

    key: Key
    expect: Expectation


Operation: TypeAlias = Put | Delete | Check


class KeyValueStore(Protocol):
    """Ordered records under `(partition, sort)`.

    Every method may raise `UnavailableError` (the backend doesn't answer, so whether a commit came
    through isn't known) and is safe to call from any thread. Expired records read as absent.
    """

    def get(self, key: Key) -> Record | None:
        """The record as of the newest finished commit, or None."""
        ...

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        """One answer per key, in order. Each is read at its own instant: not a snapshot."""
        ...

    def scan(
        self,
        partition: str,
        prefix: str = "",
        *,
        after: str | None = None,
        limit: int,
        reverse: bool = False,
    ) -> Sequence[Record]:
        """Up to `limit` records of a partition whose sort starts with `prefix`, ordered by bytes.

        `after` is exclusive and in the direction of the scan. Fewer than `limit` records mean that
        there were no more. Each record is read at its own instant; one that was there throughout is
        neither missed nor repeated by paging with `after`.
        """
        ...

    def glance(self) -> AbstractContextManager[None]:
        """Reads that belong together, on this thread: for an answer that needs several of them.

        Inside, a read sees at least every commit that had returned when the glance began, and no
        read sees less than the one before it; but it needn't see what others have committed since.
        So a backend that has to ask whether what it remembers still holds may ask less often.
        """
        ...

    def commit(self, operations: Sequence[Operation]) -> None:
        """Apply all operations or none; linearizable with every other commit and `get`.

        Raises `ConflictError` naming the first key whose expectation didn't hold, and
        `LimitExceededError` or `InvalidArgumentError` (a key named twice, an empty part) before
        anything is tried. A commit whose answer is lost is settled by the backend, as long as that
        can still be reached. No operations are fine and do nothing.
        """
        ...

    def dump(self, after: Key | None = None) -> Iterator[Record]:
        """Every live record, for maintenance; fuzzy under concurrent writes.

        The records of a partition come together, ordered by sort; the order of partitions is the
        backend's own (DynamoDB only has one by hash) and stays the same. `after` resumes behind a
        key that a dump gave.
        """
        ...

    def server_time(self) -> ServerTime | None:
        """What the clock says that every process of a store on a server has in common.

        None if there is no server: then they all run on one machine, with one clock.
        """
        ...

    def sweep(self, limit: int) -> int:
        """Remove up to `limit` expired records for good; how many were removed."""
        ...

    def close(self) -> None:
        """Give back every handle. Closing twice is fine."""
        ...
