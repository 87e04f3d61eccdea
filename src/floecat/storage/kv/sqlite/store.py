"""The SQLite backend: each operation is one prepared statement that also tests its expectation."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

import apsw

from floecat.clock import Clock, utc_now
from floecat.storage.kv.limits import (
    EncodedKey,
    check_limit,
    check_scan,
    checked_key,
    checked_operations,
    checked_partition,
)
from floecat.storage.kv.port import ABSENT, ANY, Check, Delete, Key, Operation, Put, Record
from floecat.storage.kv.ranges import sort_range
from floecat.storage.kv.sqlite import statements as sql
from floecat.storage.kv.sqlite.connections import Connections, SqliteOptions
from floecat.storage.kv.sqlite.errors import Translation
from floecat.storage.kv.sqlite.layout import prepare
from floecat.storage.kv.sqlite.pages import PartitionPage, pages_of
from floecat.storage.kv.sqlite.reads import KeptReads, ScanBounds
from floecat.storage.kv.versions import conflict, fresh_version, from_micros, to_micros

_DUMP_PAGE: Final = 500


class SqliteKeyValueStore:
    """Records in one table, ordered by the bytes of their keys."""

    def __init__(
        self, path: Path, *, options: SqliteOptions | None = None, clock: Clock = utc_now
    ) -> None:
        self._clock = clock
        self._translated = Translation(str(path))
        chosen = options or SqliteOptions()
        with self._translated:
            self._connections = Connections(path, chosen)
            try:
                prepare(path, self._connections, chosen.busy_timeout / timedelta(seconds=1))
            except BaseException:
                self._connections.close()
                raise
        self._kept = KeptReads(self._connections, chosen.kept_bytes)

    def get(self, key: Key) -> Record | None:
        glanced = self._kept.find_glanced(key)
        if glanced is not None:
            return glanced
        with self._translated:
            version = self._kept.version()
            (kept,) = self._kept.find(version, (key,))
            if kept is not None:
                return kept
            self._kept.reading()
            record = self._get(key, checked_key(key))
            if record is not None:
                self._kept.keep(version, [record])
            return record

    def get_many(self, keys: Sequence[Key]) -> Sequence[Record | None]:
        with self._translated:
            version = self._kept.version()
            found = self._kept.find(version, keys)
            if None in found:
                missing = [place for place, record in enumerate(found) if record is None]
                self._kept.reading()
                read = self._get_many([keys[place] for place in missing])
                for place, record in zip(missing, read, strict=True):
                    found[place] = record
                self._kept.keep(version, [record for record in read if record is not None])
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
        bounds = ScanBounds(prefix, after, limit, reverse)
        with self._translated:
            version = self._kept.version()
            kept = self._kept.find_scan(version, partition, bounds)
            if kept:
                return kept
            self._kept.reading()
            records = self._scan(partition, bounds)
            self._kept.keep_scan(version, partition, bounds, records)
            return records

    def glance(self) -> AbstractContextManager[None]:
        return self._kept

    def commit(self, operations: Sequence[Operation]) -> None:
        keys = checked_operations(operations)
        if not operations:
            return
        committed = partial(self._kept.committed, operations=operations)
        with self._translated, self._connections.writing(committed) as connection:
            now = self._now()
            for key, operation in zip(keys, operations, strict=True):
                if not _apply(connection, key, operation, now):
                    raise conflict(operation.key, operation.expect)

    def dump(self, after: Key | None = None) -> Iterator[Record]:
        # A page at a time: one long read would keep the write-ahead log from being reset.
        partition, sort = checked_key(after) if after is not None else (b"", b"")
        while True:
            with self._translated:
                bindings = (partition, sort, self._now(), _DUMP_PAGE)
                reader = self._connections.reader()
                rows: list[Any] = reader.execute(sql.DUMP, bindings).fetchall()
            for row in rows:
                partition, sort = row[:2]
                yield _record(Key(partition.decode(), sort.decode()), row[2:])
            if len(rows) < _DUMP_PAGE:
                return

    def server_time(self) -> None:
        return None  # every process is on this machine

    def sweep(self, limit: int) -> int:
        check_limit(limit)
        # What it removes couldn't be read any more.
        committed = partial(self._kept.committed, operations=())
        with self._translated, self._connections.writing(committed) as connection:
            connection.execute(sql.SWEEP, (self._now(), limit))
            return connection.changes()

    def close(self) -> None:
        with self._translated:
            self._connections.close()

    def _now(self) -> int:
        return to_micros(self._clock())

    def _get(self, key: Key, encoded: EncodedKey) -> Record | None:
        cursor = self._connections.reader().execute(sql.GET, (*encoded, self._now()))
        rows = cursor.fetchall()  # read to its end, or it would keep its snapshot open
        return _record(key, rows[0]) if rows else None

    def _get_many(self, keys: Sequence[Key]) -> list[Record | None]:
        found: list[Record | None] = [None] * len(keys)
        for page in list(pages_of(keys)):
            rows = {row[0]: row[1:] for row in self._rows(page)}
            for place, sort in zip(page.places, page.sorts, strict=True):
                if sort in rows:
                    found[place] = _record(keys[place], rows[sort])
        return found

    def _scan(self, partition: str, bounds: ScanBounds) -> Sequence[Record]:
        encoded = checked_partition(partition)
        check_scan(bounds.prefix, bounds.after, bounds.limit)
        covered = sort_range(bounds.prefix, bounds.after, reverse=bounds.reverse)
        if covered.empty:
            return ()
        low, high = covered.encoded()
        bindings = (encoded, low, self._now(), high, bounds.limit)
        statement = sql.SCAN_REVERSE if bounds.reverse else sql.SCAN
        rows: list[Any] = self._connections.reader().execute(statement, bindings).fetchall()
        return tuple(_record(Key(partition, row[0].decode()), row[1:]) for row in rows)

    def _rows(self, page: PartitionPage) -> list[Any]:
        bindings = (page.partition, self._now(), *page.sorts)
        statement = sql.get_many(len(page.sorts))
        return self._connections.reader().execute(statement, bindings).fetchall()


def _apply(connection: apsw.Connection, key: EncodedKey, operation: Operation, now: int) -> bool:
    """Carry out one operation; whether its expectation held."""
    match operation:
        case Put():
            return _put(connection, key, operation, now)
        case Delete(expect=expect):
            if expect is ANY:
                connection.execute(sql.DELETE, key)
                return True
            if expect is ABSENT:
                return not connection.execute(sql.GET_VERSION, (*key, now)).fetchall()
            connection.execute(sql.DELETE_VERSION, (*key, now, expect))
            return connection.changes() == 1
        case Check(expect=expect):
            if expect is ANY:
                return True
            found = connection.execute(sql.GET_VERSION, (*key, now)).fetchall()
            return not found if expect is ABSENT else found == [(expect,)]


def _put(connection: apsw.Connection, key: EncodedKey, put: Put, now: int) -> bool:
    expires_at = None if put.expires_at is None else to_micros(put.expires_at)
    written = (*key, now, put.value, fresh_version(), expires_at)
    if put.expect is ANY:
        connection.execute(sql.PUT, written)
        return True
    if put.expect is ABSENT:
        connection.execute(sql.PUT_ABSENT, written)
    else:
        connection.execute(sql.PUT_VERSION, (*written, put.expect))
    return connection.changes() == 1


def _record(key: Key, row: tuple[Any, ...]) -> Record:
    value, version, expires_at = row
    return Record(key, value, version, None if expires_at is None else from_micros(expires_at))
