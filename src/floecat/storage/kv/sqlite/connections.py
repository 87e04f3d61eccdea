"""Connections to one SQLite file: a writer behind a lock, and a reader for every thread."""

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Literal

import apsw

from floecat.errors import IncompatibleStoreError, UnavailableError

MINIMUM_SQLITE: Final = (3, 51, 3)
"""Older ones can corrupt a write-ahead log when several connections write."""


@dataclass(frozen=True, slots=True)
class SqliteOptions:
    """How to open the file. `OFF` gives up durability, for tests that don't look at it."""

    synchronous: Literal["FULL", "OFF"] = "FULL"
    busy_timeout: timedelta = timedelta(seconds=30)
    vfs: str | None = None
    kept_bytes: int = 32 * 1024 * 1024
    """How much of what was read is kept in memory, about."""


def check_sqlite_version(version: str) -> None:
    """Refuse a library that can damage the store."""
    if tuple(int(part) for part in version.split(".")) < MINIMUM_SQLITE:
        needed = ".".join(str(part) for part in MINIMUM_SQLITE)
        raise IncompatibleStoreError(
            f"SQLite {version} can corrupt a store that several connections write; "
            f"Floecat needs {needed} or newer (pip install --upgrade apsw)"
        )


class Connections:
    """Hands out connections; every method may be called from any thread."""

    def __init__(self, path: Path, options: SqliteOptions) -> None:
        check_sqlite_version(apsw.sqlite_lib_version())
        self._path = path
        self._options = options
        self._closed = False
        self._opened: weakref.WeakSet[apsw.Connection] = weakref.WeakSet()
        self._opening = threading.Lock()
        self._writing = threading.Lock()
        self._watching = threading.Lock()
        self._local = threading.local()
        self._writer = self._open(apsw.SQLITE_OPEN_CREATE)
        self._watcher = self._open()

    def reader(self) -> apsw.Connection:
        """This thread's own connection."""
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if self._closed:
            self._local.connection = None  # `close` couldn't take it while we were reading
            raise self._was_closed()
        if connection is None:
            connection = self._open()
            connection.pragma("query_only", True)
            self._local.connection = connection
        return connection

    def data_version(self) -> int:
        """A number that is another whenever anybody has committed since it was asked for."""
        with self._watching:
            if self._closed:
                raise self._was_closed()
            rows: list[Any] = self._watcher.execute("PRAGMA data_version").fetchall()
            version: int = rows[0][0]
            return version

    @contextmanager
    def between_commits(self) -> Iterator[bool]:
        """Whether no commit of ours is under way; if so, none begins inside. Waits for nothing."""
        quiet = self._writing.acquire(blocking=False)
        try:
            yield quiet
        finally:
            if quiet:
                self._writing.release()

    @contextmanager
    def writing(
        self, committed: Callable[[apsw.Connection], None] | None = None
    ) -> Iterator[apsw.Connection]:
        """A transaction that holds the file's write lock: committed at the end, or rolled back.

        `committed` is called after the commit, before the next one begins.
        """
        with self._writing:
            if self._closed:
                raise self._was_closed()
            connection = self._writer
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # SQLite may have rolled back by itself, as it does when the disk is full.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            if committed is not None:
                committed(connection)

    @contextmanager
    def exclusive_writer(self) -> Iterator[apsw.Connection]:
        """The writer outside a transaction, for what SQLite doesn't do inside one."""
        with self._writing:
            yield self._writer

    def close(self) -> None:
        with self._opening, self._writing, self._watching:
            self._closed = True
            for connection in list(self._opened):
                with suppress(apsw.ThreadingViolationError):  # in use; its thread will let go of it
                    connection.close()

    def _open(self, flags: int = 0) -> apsw.Connection:
        with self._opening:
            if self._closed:
                raise self._was_closed()
            connection = apsw.Connection(
                os.fspath(self._path),
                flags=apsw.SQLITE_OPEN_READWRITE | flags,
                vfs=self._options.vfs,
            )
            connection.set_busy_timeout(self._options.busy_timeout // timedelta(milliseconds=1))
            connection.pragma("synchronous", self._options.synchronous)
            connection.pragma("fullfsync", True)  # on macOS plain fsync doesn't reach the disk
            connection.pragma("checkpoint_fullfsync", True)
            self._opened.add(connection)
            return connection

    def _was_closed(self) -> UnavailableError:
        return UnavailableError(f"the store {self._path} was closed")
