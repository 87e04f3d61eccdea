"""Commits: all or nothing, one winner, no write skew, no version twice."""

from collections.abc import Callable
from functools import partial

import pytest
from tests.contracts.kv_records import (
    OpenStore,
    key,
    put_all,
    sorts_of,
    value_of,
    version_of,
)
from tests.support.threads import together

from floecat.errors import ConflictError
from floecat.storage.kv.port import (
    ABSENT,
    ANY,
    MAX_OPERATIONS,
    Check,
    Delete,
    Expectation,
    Key,
    KeyValueStore,
    Operation,
    Put,
)


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


class CommitContract:
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
