"""Reading, scanning, dumping: what every KeyValueStore shows, and in which order."""

import threading
from datetime import timedelta

import pytest
from tests.contracts.kv_records import (
    AWKWARD,
    OpenStore,
    key,
    put_all,
    sorts_of,
    value_of,
    version_of,
)

from floecat.clock import utc_now
from floecat.storage.kv.port import (
    ABSENT,
    ANY,
    MAX_OPERATIONS,
    MAX_VALUE_BYTES,
    Delete,
    Key,
    KeyValueStore,
    Put,
    Record,
)


class ReadingContract:
    def test_what_was_committed_is_read(self, store: KeyValueStore) -> None:
        store.commit([Put(key("a"), b"one", ABSENT)])
        record = store.get(key("a"))
        assert record is not None
        assert (record.key, record.value, record.expires_at) == (key("a"), b"one", None)
        assert 0 <= record.version < 2**63

    def test_a_server_tells_its_time(self, store: KeyValueStore) -> None:
        before = utc_now()
        told = store.server_time()
        if told is not None:  # its server runs beside the test, by the same clock
            assert before - told.precision <= told.moment <= utc_now()
            assert told.precision <= timedelta(seconds=1)

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

    def test_a_glance_sees_what_was_committed_before_it(self, open_store: OpenStore) -> None:
        reader, writer = open_store(), open_store()
        for turn in (b"1", b"2"):
            writer.commit([Put(key("a"), turn, ANY)])
            with reader.glance():
                assert value_of(reader, key("a")) == turn
                assert value_of(reader, key("a")) == turn
        writer.commit([Put(key("a"), b"3", ANY)])
        assert value_of(reader, key("a")) == b"3"
        reader.close()
        writer.close()

    def test_a_glance_never_goes_back(self, open_store: OpenStore) -> None:
        reader, writer = open_store(), open_store()
        put_all(writer, ["a", "b"])
        reader.get_many([key("a"), key("b")])
        with reader.glance():
            assert value_of(reader, key("a")) == b"a"
            writer.commit([Put(key(sort), b"later", ANY) for sort in ("a", "b", "c")])
            if value_of(reader, key("c")) == b"later":
                assert value_of(reader, key("a")) == b"later"
                assert [r and r.value for r in reader.get_many([key("b")])] == [b"later"]
                assert {r.value for r in reader.scan("p", limit=10)} == {b"later"}
        reader.close()
        writer.close()

    def test_what_is_committed_in_a_glance_is_seen_in_it(self, store: KeyValueStore) -> None:
        put_all(store, ["a"])
        with store.glance():
            assert value_of(store, key("a")) == b"a"
            store.commit([Put(key("a"), b"own", ANY)])
            assert value_of(store, key("a")) == b"own"

    def test_closing_twice_is_fine(self, open_store: OpenStore) -> None:
        opened = open_store()
        opened.close()
        opened.close()

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
