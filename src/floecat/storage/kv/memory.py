"""KeyValueStore in this process's memory: for tests, and for services that need not remember.

It reads every record of a scan at an instant of its own and may be told to let others in between,
which is how tests see the torn reads that a distributed backend gives.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC
from threading import Lock

from floecat.clock import Clock, utc_now
from floecat.storage.kv.limits import (
    check_limit,
    check_scan,
    checked_key,
    checked_operations,
    checked_partition,
)
from floecat.storage.kv.port import (
    ABSENT,
    ANY,
    Check,
    Delete,
    Expectation,
    Key,
    Operation,
    Put,
    Record,
)
from floecat.storage.kv.ranges import SortRange, next_sort, sort_range
from floecat.storage.kv.versions import conflict, fresh_version


class _Partition:
    """Records by sort, and the sorts in order."""

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}
        self.sorts: list[str] = []

    def put(self, record: Record) -> None:
        if record.key.sort not in self.records:
            insort(self.sorts, record.key.sort)
        self.records[record.key.sort] = record

    def delete(self, sort: str) -> None:
        if self.records.pop(sort, None) is not None:
            del self.sorts[bisect_left(self.sorts, sort)]

    def next_in(self, covered: SortRange, *, reverse: bool) -> Record | None:
        """The first record of an interval, in the direction of the scan."""
        if reverse:
            at = len(self.sorts) if covered.high is None else bisect_left(self.sorts, covered.high)
            at -= 1
        else:
            at = bisect_left(self.sorts, covered.low)
        if 0 <= at < len(self.sorts) and covered.holds(self.sorts[at]):
            return self.records[self.sorts[at]]
        return None


class MemoryKeyValueStore:
    """Records in sorted lists behind one lock.

    `between_reads` is called, unlocked, before every record but the first of a `scan` or a
    `get_many`: what it commits, the rest of that read sees.
    """

    def __init__(
        self, *, clock: Clock = utc_now, between_reads: Callable[[], None] | None = None
    ) -> None:
        self._clock = clock
        self._between_reads = between_reads
        self._lock = Lock()
        self._partitions: dict[str, _Partition] = {}

    def get(self, key: Key) -> Record | None:
        checked_key(key)
        with self._lock:
            return self._live(key)

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        for key in keys:
            checked_key(key)
        found: list[Record | None] = []
        for key in keys:
            if found:
                self._let_others_in()
            with self._lock:
                found.append(self._live(key))
        return found

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
        found: list[Record] = []
        while len(found) < limit:
            if found:
                self._let_others_in()
                after = found[-1].key.sort
            covered = sort_range(prefix, after, reverse=reverse)
            with self._lock:
                record = self._next_live(partition, covered, reverse=reverse)
            if record is None:
                break
            found.append(record)
        return found

    def glance(self) -> AbstractContextManager[None]:
        return nullcontext()  # nothing is remembered, so nothing needs to be asked

    def commit(self, operations: Sequence[Operation]) -> None:
        checked_operations(operations)
        with self._lock:
            for operation in operations:
                if not self._holds(operation.key, operation.expect):
                    raise conflict(operation.key, operation.expect)
            for operation in operations:
                self._apply(operation)

    def dump(self, after: Key | None = None) -> Iterator[Record]:
        with self._lock:
            names = sorted(self._partitions)
        for name in names:
            if after is not None and name < after.partition:
                continue
            resumed = after.sort if after is not None and name == after.partition else None
            yield from self._from(name, resumed)

    def server_time(self) -> None:
        return None  # every process is on this machine

    def sweep(self, limit: int) -> int:
        check_limit(limit)
        with self._lock:
            now = self._clock()
            expired = [
                record.key
                for partition in self._partitions.values()
                for record in partition.records.values()
                if record.expires_at is not None and record.expires_at <= now
            ][:limit]
            for key in expired:
                self._delete(key)
        return len(expired)

    def close(self) -> None:
        """Nothing to give back."""

    def _let_others_in(self) -> None:
        if self._between_reads is not None:
            self._between_reads()

    def _live(self, key: Key) -> Record | None:
        partition = self._partitions.get(key.partition)
        record = partition.records.get(key.sort) if partition else None
        return record if record is not None and self._is_live(record) else None

    def _is_live(self, record: Record) -> bool:
        return record.expires_at is None or record.expires_at > self._clock()

    def _next_live(self, partition: str, covered: SortRange, *, reverse: bool) -> Record | None:
        held = self._partitions.get(partition)
        while held is not None:
            record = held.next_in(covered, reverse=reverse)
            if record is None or self._is_live(record):
                return record
            if reverse:
                covered = SortRange(covered.low, record.key.sort)
            else:
                covered = SortRange(next_sort(record.key.sort), covered.high)
        return None

    def _from(self, partition: str, after: str | None) -> Iterator[Record]:
        while True:
            covered = sort_range("", after, reverse=False)
            with self._lock:
                record = self._next_live(partition, covered, reverse=False)
            if record is None:
                return
            yield record
            after = record.key.sort

    def _holds(self, key: Key, expect: Expectation) -> bool:
        if expect is ANY:
            return True
        record = self._live(key)
        if expect is ABSENT:
            return record is None
        return record is not None and record.version == expect

    def _apply(self, operation: Operation) -> None:
        match operation:
            case Put(key, value, _, expires_at):
                utc = None if expires_at is None else expires_at.astimezone(UTC)
                record = Record(key, bytes(value), fresh_version(), utc)
                self._partitions.setdefault(key.partition, _Partition()).put(record)
            case Delete(key):
                self._delete(key)
            case Check():
                pass

    def _delete(self, key: Key) -> None:
        partition = self._partitions.get(key.partition)
        if partition is None:
            return
        partition.delete(key.sort)
        if not partition.records:
            del self._partitions[key.partition]
