"""What every KeyValueStore refuses, and the most that every one takes."""

from collections.abc import Callable
from datetime import datetime, timedelta, timezone

import pytest
from tests.contracts.kv_records import (
    key,
    sorts_of,
    value_of,
)

from floecat.errors import InvalidArgumentError, LimitExceededError
from floecat.storage.kv.port import (
    ABSENT,
    ANY,
    MAX_COMMIT_BYTES,
    MAX_OPERATIONS,
    MAX_PARTITION_BYTES,
    MAX_SORT_BYTES,
    MAX_VALUE_BYTES,
    Check,
    Delete,
    Key,
    KeyValueStore,
    Operation,
    Put,
)

PAST_9999 = datetime.max.replace(tzinfo=timezone(timedelta(hours=-14)))
BEFORE_1 = datetime.min.replace(tzinfo=timezone(timedelta(hours=14)))


class LimitContract:
    def test_the_largest_keys_are_taken(self, store: KeyValueStore) -> None:
        at = Key("é" * (MAX_PARTITION_BYTES // 2), "é" * (MAX_SORT_BYTES // 2))
        store.commit([Put(at, b"1", ABSENT)])
        assert value_of(store, at) == b"1"
        assert sorts_of(store.scan(at.partition, at.sort, limit=2)) == [at.sort]
        assert sorts_of(store.scan(at.partition, after=at.sort, limit=2)) == []
        assert sorts_of(store.scan(at.partition, after=at.sort, limit=2, reverse=True)) == []
        assert [record.key for record in store.dump()] == [at]

    @pytest.mark.parametrize(
        "bad",
        [
            Key("p" * (MAX_PARTITION_BYTES + 1), "s"),
            Key("é" * (MAX_PARTITION_BYTES // 2) + "x", "s"),
            Key("p", "s" * (MAX_SORT_BYTES + 1)),
            Key("p", "é" * (MAX_SORT_BYTES // 2) + "x"),
        ],
    )
    def test_longer_keys_are_refused(self, store: KeyValueStore, bad: Key) -> None:
        for attempt in self._uses_of(store, bad):
            with pytest.raises(LimitExceededError):
                attempt()

    @pytest.mark.parametrize(
        "bad", [Key("", "s"), Key("p", ""), Key("\ud800", "s"), Key("p", "a\udfffb")]
    )
    def test_keys_that_are_no_keys_are_refused(self, store: KeyValueStore, bad: Key) -> None:
        for attempt in self._uses_of(store, bad):
            with pytest.raises(InvalidArgumentError):
                attempt()

    def _uses_of(self, store: KeyValueStore, bad: Key) -> list[Callable[[], object]]:
        return [
            lambda: store.get(bad),
            lambda: store.get_many([key("fine"), bad]),
            lambda: store.commit([Put(bad, b"", ANY)]),
            lambda: store.commit([Delete(bad, ANY)]),
            lambda: store.commit([Check(bad, ABSENT)]),
        ]

    def test_what_is_just_too_much_is_refused(self, store: KeyValueStore) -> None:
        quarter = b"x" * MAX_VALUE_BYTES
        room = MAX_COMMIT_BYTES - 8 * (MAX_VALUE_BYTES + 2)
        assert room < 0  # eight of the largest values fill a commit: their keys no longer fit
        too_much: list[list[Operation]] = [
            [Put(key("a"), quarter + b"x", ANY)],
            [Put(key(str(n)), quarter, ANY) for n in range(8)],
            [Check(key(f"{n:03}"), ABSENT) for n in range(MAX_OPERATIONS + 1)],
        ]
        for operations in too_much:
            with pytest.raises(LimitExceededError):
                store.commit(operations)
        assert list(store.dump()) == []

    def test_the_largest_commit_is_taken(self, store: KeyValueStore) -> None:
        quarter = b"x" * MAX_VALUE_BYTES
        most: list[Operation] = [Put(key(str(n)), quarter, ANY) for n in range(7)]
        most.append(Put(key("8"), quarter[: -8 * 2], ANY))
        store.commit(most)
        assert len(store.scan("p", limit=9)) == 8

    @pytest.mark.parametrize(
        "operations",
        [
            [Put(Key("p", "a"), b"", ANY), Delete(Key("p", "a"), ANY)],
            [Check(Key("p", "a"), ABSENT), Check(Key("p", "a"), ABSENT)],
            [Put(Key("p", "a"), b"", ANY, datetime(2030, 1, 1))],  # noqa: DTZ001 - naive on purpose
            [Put(Key("p", "a"), b"", ANY), Put(Key("p", "b"), b"", ANY, PAST_9999)],
            [Put(Key("p", "a"), b"", ANY), Put(Key("p", "b"), b"", ANY, BEFORE_1)],
            [Put(Key("p", "a"), memoryview(b"abcd")[::2], ANY)],  # type: ignore[arg-type]
            [Put(Key("p", "a"), b"", -1)],
            [Check(Key("p", "a"), 2**63)],
        ],
    )
    def test_what_is_wrong_in_itself_is_refused(
        self, store: KeyValueStore, operations: list[Operation]
    ) -> None:
        with pytest.raises(InvalidArgumentError):
            store.commit(operations)
        assert store.get(Key("p", "a")) is None

    def test_wrong_scans_are_refused(self, store: KeyValueStore) -> None:
        wrong: list[Callable[[], object]] = [
            lambda: store.scan("p", limit=0),
            lambda: store.scan("p", limit=10**30),
            lambda: store.sweep(0),
            lambda: store.sweep(-1),
            lambda: store.scan("", limit=1),
            lambda: store.scan("\ud800", limit=1),
            lambda: store.scan("p", "\ud800", limit=1),
            lambda: store.scan("p", after="\ud800", limit=1),
            lambda: store.scan("p", "x" * (MAX_SORT_BYTES + 1), limit=1),
        ]
        for attempt in wrong:
            with pytest.raises(InvalidArgumentError):
                attempt()
