"""What every KeyValueStore promises. A backend subclasses this and says how to open it.

Its fixture `open_store` opens the same records whenever it is called, as more processes would.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import TypeAlias

import pytest
from tests.support.clock import FakeClock
from tests.support.threads import together

from floecat.errors import ConflictError, InvalidArgumentError, LimitExceededError
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
    Expectation,
    Key,
    KeyValueStore,
    Operation,
    Put,
    Record,
)

OpenStore: TypeAlias = Callable[[], KeyValueStore]

AWKWARD = [
    "\x00",
    "\x00\x00",
    "a\x00b",
    "\x01",
    "\x7f",
    "\x80",
    "\uffff",
    "\U0010ffff",
    "\U0010ffff\U0010ffff",
    "\ue000",
    "\ud7ff",
    "\U00010000",
    " ",
    "  ",
    "\t\r\n",
    "'",
    '"',
    "%",
    "_",
    "\\",
    "/",
    "//",
    "..",
    "é",
    "e\u0301",
    "ß",
    "I",
    "i",
    "ı",
    "\u200d",
    "\ufeff",
    "😀",
    ":v",
    "#p",
    "$1",
    "?1",
    "%s",
    "NULL",
    "Z",
    "a",
    "aa",
]


def key(sort: str, partition: str = "p") -> Key:
    return Key(partition, sort)


def value_of(store: KeyValueStore, at: Key) -> bytes | None:
    record = store.get(at)
    return None if record is None else record.value


def version_of(store: KeyValueStore, at: Key) -> int:
    record = store.get(at)
    assert record is not None
    return record.version


def put_all(store: KeyValueStore, sorts: list[str], partition: str = "p") -> None:
    for start in range(0, len(sorts), MAX_OPERATIONS):
        chunk = sorts[start : start + MAX_OPERATIONS]
        store.commit([Put(Key(partition, sort), sort.encode(), ANY) for sort in chunk])


def sorts_of(records: Iterable[Record]) -> list[str]:
    return [record.key.sort for record in records]


def _new_put(at: Key, expect: Expectation) -> Operation:
    return Put(at, b"new", expect)


def _delete_if_childless(store: KeyValueStore, parent: Key, guard: Key, children: str) -> None:
    guarded, owner = store.get_many([guard, parent])
    assert guarded is not None
    assert owner is not None
    if not store.scan(children, limit=1):
        store.commit([Delete(parent, owner.version), Put(guard, b"", guarded.version)])


def _create_child(store: KeyValueStore, parent: Key, guard: Key, child: Key) -> None:
    owner = store.get(parent)
    if owner is not None:
        store.commit([Check(parent, owner.version), Put(guard, b"", ANY), Put(child, b"", ABSENT)])


class KeyValueStoreContract:
    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @pytest.fixture
    def store(self, open_store: OpenStore) -> Iterator[KeyValueStore]:
        opened = open_store()
        yield opened
        opened.close()

    # -- reading and writing ---------------------------------------------------------------

    def test_what_was_committed_is_read(self, store: KeyValueStore) -> None:
        store.commit([Put(key("a"), b"one", ABSENT)])
        record = store.get(key("a"))
        assert record is not None
        assert (record.key, record.value, record.expires_at) == (key("a"), b"one", None)
        assert 0 <= record.version < 2**63

    def test_nothing_is_read_where_nothing_was_written(self, store: KeyValueStore) -> None:
        assert store.get(key("a")) is None
        assert list(store.get_many([key("a"), key("b")])) == [None, None]
        assert list(store.scan("p", limit=10)) == []
        assert list(store.dump()) == []

    def test_get_many_answers_in_order_and_repeats(self, store: KeyValueStore) -> None:
        put_all(store, ["a", "b"])
        found = store.get_many([key("b"), key("x"), key("a"), key("b")])
        assert [record and record.value for record in found] == [b"b", None, b"a", b"b"]
        assert list(store.get_many([])) == []

    def test_get_many_takes_many_keys(self, store: KeyValueStore) -> None:
        sorts = [f"{n:03}" for n in range(130)]
        put_all(store, sorts)
        found = store.get_many([key(sort) for sort in reversed(sorts)])
        assert [record and record.key.sort for record in found] == sorts[::-1]

    def test_an_empty_commit_does_nothing(self, store: KeyValueStore) -> None:
        store.commit([])
        assert list(store.dump()) == []

    def test_an_empty_value_is_a_value(self, store: KeyValueStore) -> None:
        store.commit([Put(key("a"), b"", ABSENT)])
        assert value_of(store, key("a")) == b""

    def test_the_largest_value_comes_back_whole(self, store: KeyValueStore) -> None:
        value = bytes(range(256)) * (MAX_VALUE_BYTES // 256)
        store.commit([Put(key("a"), value, ABSENT)])
        assert value_of(store, key("a")) == value
        assert [record.value for record in store.scan("p", limit=5)] == [value]

    def test_a_scan_of_large_values_is_whole(self, store: KeyValueStore) -> None:
        for sort in "abcdefg":  # more than the megabyte that a DynamoDB page holds
            store.commit([Put(key(sort), sort.encode() * MAX_VALUE_BYTES, ABSENT)])
        assert sorts_of(store.scan("p", limit=10)) == list("abcdefg")
        assert sorts_of(store.scan("p", limit=10, reverse=True)) == list("gfedcba")

    def test_a_delete_removes(self, store: KeyValueStore) -> None:
        store.commit([Put(key("a"), b"1", ABSENT)])
        store.commit([Delete(key("a"), version_of(store, key("a")))])
        assert store.get(key("a")) is None
        store.commit([Delete(key("a"), ANY)])

    def test_another_handle_sees_the_same_records(self, open_store: OpenStore) -> None:
        first, second = open_store(), open_store()
        first.commit([Put(key("a"), b"1", ABSENT)])
        assert value_of(second, key("a")) == b"1"
        second.commit([Delete(key("a"), ANY)])
        assert first.get(key("a")) is None
        first.close()
        second.close()

    def test_closing_twice_is_fine(self, open_store: OpenStore) -> None:
        opened = open_store()
        opened.close()
        opened.close()

    # -- keys and their order ----------------------------------------------------------------

    def test_keys_hold_every_awkward_character(self, store: KeyValueStore) -> None:
        keys = [Key(part, sort) for part in AWKWARD[:8] for sort in AWKWARD[:8]]
        keys += [Key("p", sort) for sort in AWKWARD] + [Key(part, "s") for part in AWKWARD]
        for start in range(0, len(keys), MAX_OPERATIONS):
            chunk = keys[start : start + MAX_OPERATIONS]
            store.commit([Put(at, repr(at).encode(), ABSENT) for at in chunk])
        for at, record in zip(keys, store.get_many(keys), strict=True):
            assert record is not None, at
            assert (record.key, record.value) == (at, repr(at).encode())
        assert {record.key for record in store.dump()} == set(keys)

    def test_a_scan_is_ordered_by_utf8_bytes(self, store: KeyValueStore) -> None:
        put_all(store, AWKWARD)
        ordered = sorted(AWKWARD, key=str.encode)
        assert sorts_of(store.scan("p", limit=100)) == ordered
        assert sorts_of(store.scan("p", limit=100, reverse=True)) == ordered[::-1]

    @pytest.mark.parametrize("prefix", ["a", "\x00", "\U0010ffff", "\ud7ff", "é", "zz", "%", "_"])
    @pytest.mark.parametrize("reverse", [False, True])
    def test_a_prefix_is_taken_literally(
        self, store: KeyValueStore, prefix: str, reverse: bool
    ) -> None:
        put_all(store, AWKWARD)
        expected = sorted((s for s in AWKWARD if s.startswith(prefix)), reverse=reverse)
        assert sorts_of(store.scan("p", prefix, limit=100, reverse=reverse)) == expected

    @pytest.mark.parametrize("reverse", [False, True])
    def test_after_is_exclusive_and_may_lie_anywhere(
        self, store: KeyValueStore, reverse: bool
    ) -> None:
        names = ["a", "ab", "abc", "b", "ba", "c"]
        put_all(store, names)
        for prefix in ["", "a", "ab", "b", "x"]:
            for after in ["", "A", "a", "aa", "ab", "az", "b", "bb", "zz"]:
                matching = [n for n in names if n.startswith(prefix)]
                expected = [n for n in matching if (n < after if reverse else n > after)]
                expected.sort(reverse=reverse)
                found = store.scan("p", prefix, after=after, limit=10, reverse=reverse)
                assert sorts_of(found) == expected, (prefix, after)

    def test_a_scan_keeps_to_its_partition(self, store: KeyValueStore) -> None:
        put_all(store, ["a"], "p")
        put_all(store, ["b"], "pp")
        put_all(store, ["c"], "p\x00")
        assert sorts_of(store.scan("p", limit=10)) == ["a"]

    def test_a_scan_stops_at_its_limit(self, store: KeyValueStore) -> None:
        put_all(store, ["a", "b", "c"])
        assert sorts_of(store.scan("p", limit=2)) == ["a", "b"]
        assert sorts_of(store.scan("p", limit=2, reverse=True)) == ["c", "b"]

    @pytest.mark.parametrize("reverse", [False, True])
    def test_paging_under_inserts_neither_misses_nor_repeats(
        self, store: KeyValueStore, reverse: bool
    ) -> None:
        settled = [f"{n:03}" for n in range(0, 100, 2)]
        put_all(store, settled)
        seen: list[str] = []
        newcomers = iter(range(1, 100, 6))
        while page := store.scan("p", after=seen[-1] if seen else None, limit=7, reverse=reverse):
            seen += sorts_of(page)
            put_all(store, [f"{n:03}" for n in (next(newcomers, 99), next(newcomers, 99))])
        assert seen == sorted(set(seen), reverse=reverse)
        assert set(settled) <= set(seen)

    def test_paging_beside_a_busy_writer_misses_nothing(self, open_store: OpenStore) -> None:
        reader, writer = open_store(), open_store()
        settled = [f"{n:03}" for n in range(0, 60, 2)]
        put_all(reader, settled)
        stop = threading.Event()

        def insert() -> None:
            for n in range(1, 60, 2):
                if stop.is_set():
                    return
                writer.commit([Put(key(f"{n:03}"), b"", ANY)])

        thread = threading.Thread(target=insert)
        thread.start()
        try:
            for _ in range(5):
                seen: list[str] = []
                while page := reader.scan("p", after=seen[-1] if seen else None, limit=4):
                    seen += sorts_of(page)
                assert seen == sorted(set(seen))
                assert set(settled) <= set(seen)
        finally:
            stop.set()
            thread.join()
        reader.close()
        writer.close()

    # -- commits -----------------------------------------------------------------------------

    @pytest.mark.parametrize("make", [_new_put, Delete, Check])
    def test_expectations_hold_or_refuse(
        self, store: KeyValueStore, make: Callable[[Key, Expectation], Operation]
    ) -> None:
        def attempt(at: Key, expect: Expectation) -> bool:
            try:
                store.commit([make(at, expect)])
            except ConflictError as error:
                return (error.partition, error.sort) != (at.partition, at.sort)
            return True

        put_all(store, ["here1", "here2", "here3"])
        version = version_of(store, key("here1"))
        assert not attempt(key("here1"), ABSENT)
        assert not attempt(key("here1"), version ^ 1)
        assert value_of(store, key("here1")) == b"here1"
        assert not attempt(key("gone"), version)
        assert store.get(key("gone")) is None
        assert attempt(key("here1"), version)
        assert attempt(key("here2"), ANY)
        assert attempt(key("gone"), ABSENT)
        assert attempt(key("gone2"), ANY)

    def test_a_hundred_operations_are_all_or_nothing(self, store: KeyValueStore) -> None:
        put_all(store, [f"old{n:02}" for n in range(40)])
        deletes = [
            Delete(record.key, record.version) for record in store.scan("p", "old", limit=40)
        ]
        puts = [Put(key(f"new{n:02}"), b"n", ABSENT) for n in range(59)]
        operations: list[Operation] = [*puts, *deletes, Check(key("latch"), ABSENT)]
        assert len(operations) == MAX_OPERATIONS
        store.commit([Put(key("latch"), b"", ABSENT)])
        with pytest.raises(ConflictError) as caught:
            store.commit(operations)
        assert caught.value.sort == "latch"
        assert len(store.scan("p", "old", limit=99)) == 40
        assert list(store.scan("p", "new", limit=99)) == []
        store.commit([Delete(key("latch"), ANY)])
        store.commit(operations)
        assert len(store.scan("p", "new", limit=99)) == 59
        assert list(store.scan("p", "old", limit=99)) == []

    def test_the_first_failed_key_is_named(self, store: KeyValueStore) -> None:
        put_all(store, ["a", "b", "c"])
        with pytest.raises(ConflictError) as caught:
            store.commit(
                [Put(key("z"), b"", ANY), Check(key("b"), ABSENT), Delete(key("a"), 12345)]
            )
        assert caught.value.sort == "b"
        assert store.get(key("z")) is None

    def test_a_version_is_fresh_at_every_write(self, store: KeyValueStore) -> None:
        seen = set()
        for _ in range(5):
            store.commit([Put(key("a"), b"same", ANY)])
            seen.add(version_of(store, key("a")))
            store.commit([Delete(key("a"), ANY)])
            store.commit([Put(key("a"), b"same", ABSENT)])
            seen.add(version_of(store, key("a")))
        assert len(seen) == 10

    def test_a_stale_writer_is_refused_after_delete_and_re_create(
        self, store: KeyValueStore
    ) -> None:
        store.commit([Put(key("a"), b"same", ABSENT)])
        stale = version_of(store, key("a"))
        store.commit([Delete(key("a"), stale)])
        store.commit([Put(key("a"), b"same", ABSENT)])
        with pytest.raises(ConflictError):
            store.commit([Put(key("a"), b"stale", stale)])
        assert value_of(store, key("a")) == b"same"

    def test_one_of_sixteen_writers_wins(self, open_store: OpenStore) -> None:
        stores = [open_store() for _ in range(2)]
        stores[0].commit([Put(key("a"), b"", ABSENT)])
        for round_ in range(3):
            version = version_of(stores[0], key("a"))
            writes = [
                partial(stores[n % 2].commit, [Put(key("a"), f"{round_}/{n}".encode(), version)])
                for n in range(16)
            ]
            outcomes = together(writes)
            winners = [n for n, outcome in enumerate(outcomes) if outcome is None]
            assert len(winners) == 1
            assert all(isinstance(o, ConflictError | None) for o in outcomes), outcomes
            assert value_of(stores[0], key("a")) == f"{round_}/{winners[0]}".encode()
        for opened in stores:
            opened.close()

    def test_one_of_sixteen_creators_wins(self, store: KeyValueStore) -> None:
        creations = [
            [Put(key("a"), b"%d" % n, ABSENT), Put(key(f"mine{n}"), b"", ABSENT)] for n in range(16)
        ]
        outcomes = together([partial(store.commit, creation) for creation in creations])
        winners = [n for n, outcome in enumerate(outcomes) if outcome is None]
        assert len(winners) == 1, outcomes
        assert value_of(store, key("a")) == b"%d" % winners[0]
        assert sorts_of(store.scan("p", "mine", limit=99)) == [f"mine{winners[0]}"]

    def test_increments_are_never_lost(self, store: KeyValueStore) -> None:
        store.commit([Put(key("n"), b"0", ABSENT)])

        def add_five() -> None:
            done = 0
            while done < 5:
                record = store.get(key("n"))
                assert record is not None
                try:
                    raised = b"%d" % (int(record.value) + 1)
                    store.commit([Put(key("n"), raised, record.version)])
                except ConflictError:
                    continue
                done += 1

        assert together([add_five] * 4) == [None] * 4
        assert value_of(store, key("n")) == b"20"

    def test_crossing_absence_checks_cannot_both_pass(self, open_store: OpenStore) -> None:
        left, right = open_store(), open_store()
        for n in range(10):
            x, y = key(f"x{n}"), key(f"y{n}")
            outcomes = together(
                [
                    partial(left.commit, [Check(x, ABSENT), Put(y, b"", ABSENT)]),
                    partial(right.commit, [Check(y, ABSENT), Put(x, b"", ABSENT)]),
                ]
            )
            assert [type(o) for o in outcomes if o is not None] == [ConflictError], outcomes
        left.close()
        right.close()

    def test_guards_stop_write_skew(self, open_store: OpenStore) -> None:
        """Deleting an empty parent against creating its first child: never both."""
        left, right = open_store(), open_store()
        for n in range(8):
            parent, guard, child = key("parent", f"{n}"), key("guard", f"{n}"), key("c", f"{n}/kid")
            left.commit([Put(parent, b"", ABSENT), Put(guard, b"", ABSENT)])
            outcomes = together(
                [
                    partial(_delete_if_childless, left, parent, guard, child.partition),
                    partial(_create_child, right, parent, guard, child),
                ]
            )
            assert all(isinstance(o, ConflictError | None) for o in outcomes), outcomes
            orphaned = left.get(parent) is None and left.get(child) is not None
            assert not orphaned
        left.close()
        right.close()

    # -- expiry ------------------------------------------------------------------------------

    def test_an_expired_record_is_invisible_everywhere(
        self, store: KeyValueStore, clock: FakeClock
    ) -> None:
        store.commit(
            [
                Put(key("a"), b"", ABSENT, clock.now + timedelta(seconds=10)),
                Put(key("b"), b"", ABSENT, clock.now + timedelta(seconds=20)),
                Put(key("c"), b"", ABSENT),
            ]
        )
        assert sorts_of(store.scan("p", limit=9)) == ["a", "b", "c"]
        clock.advance(seconds=10)
        assert store.get(key("a")) is None
        assert [r and r.key.sort for r in store.get_many([key("a"), key("b")])] == [None, "b"]
        assert sorts_of(store.scan("p", limit=2)) == ["b", "c"]
        assert sorts_of(store.scan("p", limit=2, reverse=True)) == ["c", "b"]
        assert sorts_of(store.dump()) == ["b", "c"]

    def test_an_expired_record_is_absent_to_a_commit(
        self, store: KeyValueStore, clock: FakeClock
    ) -> None:
        soon = clock.now + timedelta(seconds=1)
        store.commit([Put(key(s), b"old", ABSENT, soon) for s in "abcd"])
        version = version_of(store, key("a"))
        clock.advance(seconds=1)
        for refused in (
            Put(key("a"), b"new", version),
            Delete(key("a"), version),
            Check(key("a"), version),
        ):
            with pytest.raises(ConflictError):
                store.commit([refused])
        store.commit([Check(key("a"), ABSENT), Delete(key("b"), ABSENT)])
        store.commit([Put(key("a"), b"new", ABSENT), Delete(key("c"), ANY)])
        assert value_of(store, key("a")) == b"new"

    def test_expiry_comes_back_exactly_and_can_be_lifted(
        self, store: KeyValueStore, clock: FakeClock
    ) -> None:
        later = clock.now + timedelta(days=300, microseconds=123457)
        store.commit([Put(key("a"), b"", ABSENT, later)])
        record = store.get(key("a"))
        assert record is not None
        assert record.expires_at == later
        store.commit([Put(key("a"), b"", record.version)])
        clock.advance(days=400)
        record = store.get(key("a"))
        assert record is not None
        assert record.expires_at is None

    def test_what_has_expired_already_is_never_seen(
        self, store: KeyValueStore, clock: FakeClock
    ) -> None:
        store.commit([Put(key("a"), b"", ABSENT, clock.now - timedelta(days=20_000))])
        assert store.get(key("a")) is None
        assert store.sweep(9) == 1

    def test_sweeping_removes_only_what_expired(
        self, store: KeyValueStore, clock: FakeClock
    ) -> None:
        soon = clock.now + timedelta(seconds=1)
        store.commit([Put(key(f"old{n}"), b"", ABSENT, soon) for n in range(5)])
        store.commit([Put(key("kept"), b"", ABSENT)])
        store.commit([Put(key("later"), b"", ABSENT, soon + timedelta(days=1))])
        assert store.sweep(9) == 0
        clock.advance(seconds=1)
        assert [store.sweep(3), store.sweep(3), store.sweep(3)] == [3, 2, 0]
        clock.advance(days=-1)  # what is still stored would show again
        assert sorts_of(store.scan("p", limit=99)) == ["kept", "later"]

    # -- the whole store -----------------------------------------------------------------------

    def test_a_dump_gives_each_partition_in_order(self, store: KeyValueStore) -> None:
        expected = {f"p{n}": [f"{m:02}" for m in range(7)] for n in range(5)}
        for partition, sorts in expected.items():
            put_all(store, sorts[::-1], partition)
        dumped: dict[str, list[str]] = {}
        previous = ""
        for record in store.dump():
            at = record.key
            assert at.partition == previous or at.partition not in dumped, "a partition was torn"
            previous = at.partition
            dumped.setdefault(previous, []).append(at.sort)
        assert dumped == expected

    def test_a_dump_resumes_after_any_of_its_keys(self, store: KeyValueStore) -> None:
        for partition in "xyz":
            put_all(store, ["1", "2", "3"], partition)
        everything = [record.key for record in store.dump()]
        for n, at in enumerate(everything):
            assert [record.key for record in store.dump(after=at)] == everything[n + 1 :]

    def test_a_dump_of_many_records_is_whole(self, store: KeyValueStore) -> None:
        sorts = [f"{n:04}" for n in range(600)]
        put_all(store, sorts)
        assert sorts_of(store.dump()) == sorts

    # -- limits --------------------------------------------------------------------------------

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
            lambda: store.scan("", limit=1),
            lambda: store.scan("\ud800", limit=1),
            lambda: store.scan("p", "\ud800", limit=1),
            lambda: store.scan("p", after="\ud800", limit=1),
            lambda: store.scan("p", "x" * (MAX_SORT_BYTES + 1), limit=1),
        ]
        for attempt in wrong:
            with pytest.raises(InvalidArgumentError):
                attempt()

    # -- reads that tear -----------------------------------------------------------------------

    def test_a_torn_read_never_shows_half_a_record(self, open_store: OpenStore) -> None:
        """Each record is read at one instant: its value and version belong together."""
        reader, writer = open_store(), open_store()
        written: dict[int, Record] = {}

        def write() -> None:
            for n in range(30):
                payload = b"%d" % n * 50
                writer.commit([Put(key("a"), payload, ANY), Put(key("b"), payload, ANY)])
                for record in writer.scan("p", limit=2):
                    written[record.version] = record

        thread = threading.Thread(target=write)
        thread.start()
        seen: list[Record] = []
        while thread.is_alive():
            seen += reader.scan("p", limit=2)
        thread.join()
        assert all(written[record.version] == record for record in seen)
        reader.close()
        writer.close()
