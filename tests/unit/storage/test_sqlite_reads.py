"""What the SQLite backend keeps of what it read: never older than the file, and bounded."""

import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from tests.support.clock import FakeClock
from tests.support.threads import together

from floecat.storage.kv.port import ABSENT, ANY, Check, Delete, Key, Operation, Put, Record
from floecat.storage.kv.sqlite import SqliteKeyValueStore, SqliteOptions

COUNTER = Key("counter", "one")
UNSYNCED = SqliteOptions(synchronous="OFF")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteKeyValueStore]:
    opened = SqliteKeyValueStore(path, options=UNSYNCED)
    yield opened
    opened.close()


def by_get(store: SqliteKeyValueStore) -> Record | None:
    return store.get(COUNTER)


def by_get_many(store: SqliteKeyValueStore) -> Record | None:
    return store.get_many([Key("other", "x"), COUNTER])[1]


def by_scan(store: SqliteKeyValueStore) -> Record | None:
    return next(iter(store.scan(COUNTER.partition, limit=10)), None)


READS = [by_get, by_get_many, by_scan]
Read = Callable[[SqliteKeyValueStore], Record | None]


def put(store: SqliteKeyValueStore, value: int, key: Key = COUNTER) -> None:
    store.commit([Put(key, b"%d" % value, ANY)])


@pytest.mark.parametrize("read", [by_get, by_scan])
def test_a_glance_is_of_one_moment_until_the_file_is_read(
    store: SqliteKeyValueStore, path: Path, read: Read
) -> None:
    put(store, 1)
    kept = read(store)
    other = SqliteKeyValueStore(path, options=UNSYNCED)
    with store.glance():
        assert read(store) is kept
        put(other, 2)
        assert read(store) is kept
        store.get(Key("never", "read"))  # comes from the file, so what was kept is older
        seen = read(store)
        assert seen is not None
        assert seen.value == b"2"
    put(other, 3)
    with store.glance():
        seen = read(store)
        assert seen is not None
        assert seen.value == b"3"
    other.close()


@pytest.mark.parametrize("read", READS)
def test_what_was_read_is_kept_until_its_key_is_written(
    store: SqliteKeyValueStore, read: Read
) -> None:
    put(store, 1)
    first = read(store)
    put(store, 1, Key("elsewhere", "x"))
    read(store)
    assert read(store) is not None
    kept = read(store)
    assert read(store) is kept  # the very object: nothing was read
    put(store, 2, Key("elsewhere", "x"))
    assert read(store) is kept  # our own commit touched something else
    put(store, 2)
    seen = read(store)
    assert first is not None
    assert seen is not None
    assert (first.value, seen.value) == (b"1", b"2")
    store.commit([Delete(COUNTER, ANY)])
    assert read(store) is None
    store.commit([Put(COUNTER, b"3", ABSENT)])
    again = read(store)
    assert again is not None
    assert again.value == b"3"


@pytest.mark.parametrize("read", READS)
def test_another_process_is_seen_at_once(
    path: Path, store: SqliteKeyValueStore, read: Read
) -> None:
    program = (
        "import sys; from pathlib import Path;"
        "from floecat.storage.kv.port import ANY, Key, Put;"
        "from floecat.storage.kv.sqlite import SqliteKeyValueStore;"
        "store = SqliteKeyValueStore(Path(sys.argv[1]));"
        "[(store.commit([Put(Key('counter', 'one'), line.strip().encode(), ANY)]),"
        " print('done', flush=True)) for line in sys.stdin]"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        for value in range(1, 40):
            if value % 3 == 0:
                put(store, value, Key("elsewhere", "x"))  # ours come between theirs
            if value % 4 == 0:
                put(store, -value)
            read(store)
            other.stdin.write(f"{value}\n")
            other.stdin.flush()
            assert other.stdout.readline() == "done\n"
            seen = read(store)
            assert seen is not None
            assert int(seen.value) == value
        other.stdin.close()


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("writers", [1, 2])
def test_a_commit_that_has_returned_is_seen_by_every_thread(
    path: Path, store: SqliteKeyValueStore, read: Read, writers: int
) -> None:
    put(store, 0)
    others = [SqliteKeyValueStore(path, options=UNSYNCED) for _ in range(writers - 1)]
    acknowledged = [0]
    turn = threading.Lock()
    stopped = threading.Event()

    def write(through: SqliteKeyValueStore) -> None:
        for _ in range(300):
            with turn:
                put(through, acknowledged[0] + 1)
                acknowledged[0] += 1

    def writing() -> None:
        together([lambda s=s: write(s) for s in (store, *others)])  # type: ignore[misc]
        stopped.set()

    def reading() -> int:
        reads = 0
        while not stopped.is_set():
            at_least = acknowledged[0]
            seen = read(store)
            assert seen is not None
            assert int(seen.value) >= at_least
            reads += 1
        return reads

    outcomes = together([writing, reading, reading])
    for opened in others:
        opened.close()
    assert outcomes[0] is None
    assert all(isinstance(reads, int) and reads > 0 for reads in outcomes[1:])


def a_scan(chance: random.Random) -> Callable[[SqliteKeyValueStore], Sequence[Record]]:
    partition = chance.choice(["p", "q"])
    prefix = chance.choice(["", "a", "ab", "zz"])
    after = chance.choice([None, "a", "ab", "abc", "b"])
    limit = chance.choice([1, 2, 3, 100])
    reverse = chance.random() < 0.5
    return lambda store: store.scan(partition, prefix, after=after, limit=limit, reverse=reverse)


def an_operation(chance: random.Random, key: Key) -> Operation:
    value = b"%d" % chance.randrange(1000)
    operations: list[Operation] = [Put(key, value, ANY), Delete(key, ANY), Check(key, ANY)]
    return chance.choices(operations, weights=[2, 1, 1])[0]


@pytest.mark.parametrize("seed", range(5))
def test_reads_answer_as_a_store_without_memory_does(path: Path, seed: int) -> None:
    """Two that keep and one that can't, in random turns on one file."""
    chance = random.Random(seed)
    keys = [Key(p, s) for p in "pq" for s in ("a", "ab", "aba", "abc", "b", "c", "zz\U0010ffff")]
    stores = [SqliteKeyValueStore(path, options=UNSYNCED) for _ in range(2)]
    plain = SqliteKeyValueStore(path, options=SqliteOptions(synchronous="OFF", kept_bytes=0))
    for _ in range(400):
        touched = chance.sample(keys, chance.randrange(1, 4))
        if chance.random() < 0.3:
            chance.choice(stores).commit([an_operation(chance, key) for key in touched])
        scan, asked = a_scan(chance), chance.choices(keys, k=3)
        for store in stores:
            assert list(scan(store)) == list(scan(plain))
            assert store.get_many(asked) == plain.get_many(asked)
            assert store.get(asked[0]) == plain.get(asked[0])
    for store in (*stores, plain):
        store.close()


def test_what_expires_is_gone_in_time(path: Path) -> None:
    clock = FakeClock()
    store = SqliteKeyValueStore(path, options=UNSYNCED, clock=clock)
    store.commit([Put(COUNTER, b"1", ANY, clock() + timedelta(seconds=10))])
    assert all(read(store) for read in READS)
    clock.advance(seconds=11)
    assert not any(read(store) for read in READS)
    store.close()


def test_memory_is_bounded(path: Path) -> None:
    limit = 200_000
    options = SqliteOptions(synchronous="OFF", kept_bytes=limit)
    store = SqliteKeyValueStore(path, options=options)
    keys = [Key("p", f"{number:04}") for number in range(200)]
    for start in range(0, 200, 50):
        store.commit([Put(key, b"x" * 4000, ANY) for key in keys[start : start + 50]])
    for key in keys:
        store.get(key)
        store.scan("p", after=key.sort, limit=5)
        kept = store._kept
        scans = [r for of_one in kept._scans.values() for rows in of_one.values() for r in rows]
        held = sum(len(r.value) for r in (*kept._records.values(), *scans))
        assert 0 < held <= limit
    store.close()
