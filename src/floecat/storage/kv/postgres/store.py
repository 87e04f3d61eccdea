"""The PostgreSQL backend: a table, a pool of connections, and reads of what is committed."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import Any, Final, TypeVar

import psycopg
from psycopg_pool import ConnectionPool

from floecat.clock import Clock, utc_now
from floecat.errors import UnavailableError
from floecat.storage.kv.limits import (
    check_limit,
    check_scan,
    checked_key,
    checked_operations,
    checked_partition,
)
from floecat.storage.kv.port import Key, Operation, Record, ServerTime
from floecat.storage.kv.postgres import statements as sql
from floecat.storage.kv.postgres.commits import Committer, Connection, Pool
from floecat.storage.kv.postgres.errors import is_lost, translated
from floecat.storage.kv.postgres.plan import CommitPlan, index_key, partition_digest
from floecat.storage.kv.ranges import sort_range
from floecat.storage.kv.versions import from_micros, to_micros

T = TypeVar("T")

_DUMP_PAGE: Final = 500
_CLOCK_PRECISION: Final = timedelta(microseconds=1)


class PostgresKeyValueStore:
    """Records in one table. The server's role must keep `synchronous_commit` on."""

    def __init__(
        self,
        dsn: str,
        *,
        clock: Clock = utc_now,
        connections: int = 8,
        patience: timedelta = timedelta(seconds=30),
    ) -> None:
        self._clock = clock
        self._pool: Pool = ConnectionPool(
            dsn,
            min_size=1,
            max_size=connections,
            timeout=patience.total_seconds(),
            configure=_configured(patience),
            kwargs={"autocommit": True, "application_name": "floecat"},
            open=False,
        )
        self._patience = patience
        self._committer = Committer(self._pool, clock, patience)
        try:
            with translated():
                # First alone: a pool only says that it couldn't connect, not why.
                psycopg.connect(dsn, connect_timeout=int(patience.total_seconds()) or 1).close()
                self._pool.open(wait=True, timeout=patience.total_seconds())
                self._read(_set_up)
        except BaseException:
            self._pool.close()
            raise

    def get(self, key: Key) -> Record | None:
        digest, sort = index_key(checked_key(key))
        rows = self._rows(sql.GET, (digest, sort, self._now()))
        return _record(rows[0]) if rows else None

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        indexed = [index_key(checked_key(key)) for key in keys]
        digests, sorts = [digest for digest, _ in indexed], [sort for _, sort in indexed]
        rows = self._rows(sql.GET_MANY, (digests, sorts, self._now())) if keys else []
        found: list[Record | None] = [None] * len(keys)
        for position, *row in rows:
            found[position - 1] = _record(row)
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
        digest = partition_digest(checked_partition(partition))
        check_scan(prefix, after, limit)
        low, high = sort_range(prefix, after, reverse=reverse).encoded()
        statement = sql.SCAN_REVERSE if reverse else sql.SCAN
        rows = self._rows(statement, (digest, low, high, self._now(), limit))
        return [_record(row) for row in rows]

    def glance(self) -> AbstractContextManager[None]:
        return nullcontext()  # nothing is remembered, so nothing needs to be asked

    def commit(self, operations: Sequence[Operation]) -> None:
        keys = checked_operations(operations)
        if operations:
            with translated():
                self._committer.run(CommitPlan.of(keys, operations))

    def dump(self, after: Key | None = None) -> Iterator[Record]:
        digest, sort = index_key(checked_key(after)) if after is not None else (b"", b"")
        while True:
            rows = self._rows(sql.DUMP, (digest, sort, self._now(), _DUMP_PAGE))
            page = [_record(row) for row in rows]
            yield from page
            if len(page) < _DUMP_PAGE:
                return
            digest, sort = index_key(checked_key(page[-1].key))

    def server_time(self) -> ServerTime:
        [[moment]] = self._rows(sql.SERVER_TIME, ())
        return ServerTime(moment, _CLOCK_PRECISION)

    def sweep(self, limit: int) -> int:
        check_limit(limit)
        bindings = (self._now(), limit)
        with translated():
            return self._read(lambda connection: connection.execute(sql.SWEEP, bindings).rowcount)

    def close(self) -> None:
        self._pool.close()

    def _now(self) -> int:
        return to_micros(self._clock())

    def _rows(self, statement: str, bindings: tuple[object, ...]) -> list[tuple[Any, ...]]:
        with translated():
            return self._read(
                lambda connection: connection.execute(
                    statement,
                    bindings,
                    binary=True,
                ).fetchall()
            )

    def _read(self, work: Callable[[Connection], T]) -> T:
        """Do something that may be done twice; again while connections turn out dead."""
        until = time.monotonic() + self._patience.total_seconds()
        while True:
            with self._pool.connection() as connection:
                try:
                    return work(connection)
                except psycopg.Error as error:
                    if not is_lost(error, connection):
                        raise
                    lost = error
            if time.monotonic() > until:
                raise UnavailableError("PostgreSQL closes every connection") from lost
            self._pool.check()  # when one is gone, so probably are the others


def _configured(patience: timedelta) -> Callable[[Connection], None]:
    # A client that vanishes in the middle must not keep its locks until TCP notices.
    milliseconds = f"{int(patience.total_seconds() * 1000)}ms"

    def configure(connection: Connection) -> None:
        connection.execute(sql.CONFIGURE, {"idle": milliseconds, "lock": milliseconds})

    return configure


def _set_up(connection: Connection) -> None:
    with connection.transaction():
        connection.execute(sql.SETUP)


def _record(row: Sequence[Any]) -> Record:
    partition, sort, value, version, expires_at = row
    return Record(Key(partition.decode(), sort.decode()), value, version, from_micros(expires_at))
