"""Expiry: what has run out is gone for everybody at once."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from tests.contracts.kv_records import (
    key,
    sorts_of,
    value_of,
    version_of,
)
from tests.support.clock import FakeClock
from tests.support.threads import together

from floecat.errors import ConflictError
from floecat.storage.kv.port import (
    ABSENT,
    ANY,
    Check,
    Delete,
    KeyValueStore,
    Put,
)


class ExpiryContract:
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

    def test_sweeping_never_removes_what_was_written_anew(
        self, store: KeyValueStore, clock: FakeClock
    ) -> None:
        for n in range(10):
            store.commit([Put(key(f"{n}"), b"old", ABSENT, clock.now + timedelta(seconds=1))])
            clock.advance(seconds=1)
            calls: list[Callable[[], object]] = [
                partial(store.sweep, 9),
                partial(store.commit, [Put(key(f"{n}"), b"new", ABSENT)]),
            ]
            swept, written = together(calls)
            assert (swept in {0, 1}, written) == (True, None)
            assert value_of(store, key(f"{n}")) == b"new"

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
