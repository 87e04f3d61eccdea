"""Commits and scans per second of every key-value backend there is, and SQLite against raw apsw.

The ratio is taken between short turns of both on the same disk, so that a busy machine slows both.
"""

import os
import secrets
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import apsw
from tests.support.postgres import NOT_FOUND, find_programs, running_postgres
from tests.support.servers.dynamodb_local import is_fetched, running_dynamodb_local

from bench.report import Measurement, Report
from floecat.storage.kv.dynamodb import DynamoDbKeyValueStore, DynamoDbOptions
from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.port import ABSENT, Key, KeyValueStore, Put
from floecat.storage.kv.postgres import PostgresKeyValueStore
from floecat.storage.kv.sqlite import SqliteKeyValueStore, SqliteOptions
from floecat.storage.kv.sqlite.statements import CREATE

SIZES = (1, 10, 100)
VALUE = b"v" * 300
PAGE = 100
TURN_SECONDS = 0.25
TURNS = 5
FLOOR = 0.5

PLAIN = SqliteOptions(kept_bytes=0)  # raw SQLite keeps nothing of what it read either


def rate(work: Callable[[], object], seconds: float = TURN_SECONDS) -> float:
    """How often a second something can be done."""
    started = time.perf_counter()
    for done in count(1):
        work()
        elapsed = time.perf_counter() - started
        if elapsed > seconds:
            return done / elapsed
    raise AssertionError


def committing(store: KeyValueStore, operations: int, partition: str) -> Callable[[], None]:
    numbers = count()

    def commit() -> None:
        n = next(numbers)
        store.commit(
            [Put(Key(partition, f"{n:08}/{m:03}"), VALUE, ABSENT) for m in range(operations)]
        )

    return commit


def scanning(store: KeyValueStore) -> Callable[[], object]:
    store.commit([Put(Key("scanned", f"{n:03}"), VALUE, ABSENT) for n in range(PAGE)])
    return lambda: store.scan("scanned", limit=PAGE)


class RawSqlite:
    """The same table and the same transactions, straight on apsw."""

    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(os.fspath(path))
        self._connection.pragma("journal_mode", "wal")
        self._connection.pragma("synchronous", "FULL")
        self._connection.execute(CREATE)

    def committing(self, operations: int, partition: str) -> Callable[[], None]:
        execute, numbers = self._connection.execute, count()

        def commit() -> None:
            n = next(numbers)
            execute("BEGIN IMMEDIATE")
            for m in range(operations):
                key = (partition.encode(), f"{n:08}/{m:03}".encode())
                execute(
                    "INSERT INTO record (partition, sort, value, version) VALUES (?, ?, ?, ?)",
                    (*key, VALUE, secrets.randbits(63)),
                )
            execute("COMMIT")

        return commit

    def scanning(self) -> Callable[[], object]:
        self.committing(PAGE, "scanned")()
        return lambda: self._connection.execute(
            "SELECT * FROM record WHERE partition = ? AND sort > ? ORDER BY sort LIMIT ?",
            (b"scanned", b"", PAGE),
        ).fetchall()


def ratio(ours: Callable[[], object], theirs: Callable[[], object]) -> float:
    return statistics.median(rate(ours) / rate(theirs) for _ in range(TURNS))


def against_raw_apsw(folder: Path) -> Iterator[Measurement]:
    store, raw = (
        SqliteKeyValueStore(folder / "ours.db", options=PLAIN),
        RawSqlite(folder / "raw.db"),
    )
    for size in SIZES:
        compared = ratio(committing(store, size, f"of {size}"), raw.committing(size, f"of {size}"))
        yield Measurement(f"sqlite / raw apsw, commits of {size}", compared, "ratio", FLOOR)
    yield Measurement(
        f"sqlite / raw apsw, scans of {PAGE}", ratio(scanning(store), raw.scanning()), "ratio"
    )
    store.close()


@contextmanager
def backends(folder: Path) -> Iterator[dict[str, KeyValueStore]]:
    """Every backend that can be had here, durable as in production."""
    with ExitStack() as stack:
        found: dict[str, KeyValueStore] = {
            "memory": MemoryKeyValueStore(),
            "sqlite": SqliteKeyValueStore(folder / "store.db", options=PLAIN),
        }
        programs = find_programs()
        if programs is not None:
            server = stack.enter_context(running_postgres(programs, "fsync=on"))
            found["postgres"] = PostgresKeyValueStore(server.dsn)
        else:
            print(f"without PostgreSQL: {NOT_FOUND}")
        if is_fetched():
            os.environ |= {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
            endpoint = stack.enter_context(running_dynamodb_local())
            options = DynamoDbOptions("bench", region="us-east-1", endpoint=endpoint)
            found["dynamodb local"] = DynamoDbKeyValueStore(options)
        else:
            print("without DynamoDB Local: make interop fetches it")
        yield found
        for store in found.values():
            store.close()


def measure() -> Report:
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name, backends(Path(name)) as stores:
        report: Report = []
        for backend, store in stores.items():
            for size in SIZES:
                speed = rate(committing(store, size, f"of {size}"), seconds=1)
                report.append(Measurement(f"{backend}, commits of {size}", speed, "per second"))
            speed = rate(scanning(store), seconds=1)
            report.append(Measurement(f"{backend}, scans of {PAGE}", speed, "per second"))
        return report + list(against_raw_apsw(Path(name)))
