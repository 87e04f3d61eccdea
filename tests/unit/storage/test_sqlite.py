"""What is particular to SQLite: its version, its file, its connections."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import apsw
import pytest
from tests.support.threads import together

from floecat.errors import (
    DataLossError,
    IncompatibleStoreError,
    InvalidArgumentError,
    PermissionDeniedError,
    UnavailableError,
)
from floecat.storage.kv.port import ABSENT, ANY, Key, Put
from floecat.storage.kv.sqlite import SqliteKeyValueStore, SqliteOptions
from floecat.storage.kv.sqlite.connections import check_sqlite_version
from floecat.storage.kv.sqlite.errors import translate


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteKeyValueStore]:
    opened = SqliteKeyValueStore(path)
    yield opened
    opened.close()


@pytest.mark.parametrize("version", ["3.51.2", "3.50.9", "3.9.99", "2.99.99"])
def test_a_library_that_corrupts_logs_is_refused(version: str) -> None:
    with pytest.raises(IncompatibleStoreError, match=r"3\.51\.3"):
        check_sqlite_version(version)


@pytest.mark.parametrize("version", ["3.51.3", "3.51.10", "3.52.0", "4.0.0"])
def test_newer_libraries_are_fine(version: str) -> None:
    check_sqlite_version(version)


def test_commits_are_synced_and_logged_ahead(path: Path, store: SqliteKeyValueStore) -> None:
    with store._connections.exclusive_writer() as writer:
        assert writer.pragma("synchronous") == 2  # FULL
        assert writer.pragma("journal_mode") == "wal"


def test_another_sqlite_file_is_refused(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(IncompatibleStoreError, match="not a Floecat store"):
        SqliteKeyValueStore(path)


def test_another_applications_file_is_refused(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.pragma("application_id", 42)
    connection.close()
    with pytest.raises(IncompatibleStoreError, match="another application"):
        SqliteKeyValueStore(path)


def test_a_file_that_is_no_database_is_said_to_be_damaged(path: Path) -> None:
    path.write_bytes(b"not a database, but long enough to be looked at" * 100)
    with pytest.raises(DataLossError):
        SqliteKeyValueStore(path)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="missing"):
        SqliteKeyValueStore(tmp_path / "missing" / "store.db")


def test_a_lock_held_for_too_long_is_unavailable(path: Path, store: SqliteKeyValueStore) -> None:
    options = SqliteOptions(busy_timeout=timedelta(milliseconds=50))
    impatient = SqliteKeyValueStore(path, options=options)
    with (
        store._connections.writing(),
        pytest.raises(UnavailableError, match="locked by another writer"),
    ):
        impatient.commit([Put(Key("p", "s"), b"", ANY)])
    impatient.commit([Put(Key("p", "s"), b"", ABSENT)])
    impatient.close()


def test_a_refused_commit_leaves_the_writer_usable(store: SqliteKeyValueStore) -> None:
    with pytest.raises(InvalidArgumentError):
        store.commit([Put(Key("", "s"), b"", ANY)])
    store.commit([Put(Key("p", "s"), b"", ANY)])


def test_readers_do_not_wait_for_a_writer(store: SqliteKeyValueStore) -> None:
    store.commit([Put(Key("p", "s"), b"before", ABSENT)])
    found = []
    with store._connections.writing() as writer:
        writer.execute("DELETE FROM record")
        thread = threading.Thread(target=lambda: found.append(store.get(Key("p", "s"))))
        thread.start()
        thread.join(timeout=10)
        assert [record and record.value for record in found] == [b"before"]


def test_threads_that_ended_leave_no_connection(store: SqliteKeyValueStore) -> None:
    for _ in range(20):
        thread = threading.Thread(target=lambda: store.get(Key("p", "s")))
        thread.start()
        thread.join()
    assert len(store._connections._opened) <= 2


def test_a_closed_store_says_so(store: SqliteKeyValueStore) -> None:
    store.get(Key("p", "s"))
    store.close()
    with pytest.raises(UnavailableError, match="closed"):
        store.get(Key("p", "s"))
    with pytest.raises(UnavailableError, match="closed"):
        store.commit([Put(Key("p", "s"), b"", ANY)])


def test_closing_ends_the_work_of_other_threads(store: SqliteKeyValueStore) -> None:
    """A connection in use can't be closed from outside; its thread must still be told."""
    store.commit([Put(Key("p", f"{n:03}"), b"x" * 1000, ABSENT) for n in range(100)])
    reading = threading.Event()

    def read_for_ever() -> None:
        while store.scan("p", limit=100):
            reading.set()

    def write_for_ever() -> None:
        while True:
            store.commit([Put(Key("p", "x"), b"", ANY)])

    def close() -> None:
        assert reading.wait(timeout=30)
        store.close()

    *worked, closed = together([read_for_ever, read_for_ever, write_for_ever, close])
    assert [type(outcome) for outcome in worked] == [UnavailableError] * 3
    assert closed is None


def test_a_full_disk_behind_the_shared_memory_is_a_full_disk() -> None:
    error = apsw.exception_for(apsw.SQLITE_IOERR_SHMSIZE)
    assert isinstance(error, apsw.Error)
    assert "no space left" in str(translate(error, "store.db"))


def test_errors_of_ours_alone_are_not_translated() -> None:
    assert translate(apsw.SQLError("no such table"), "store.db") is None
    assert isinstance(translate(apsw.ReadOnlyError("no"), "store.db"), PermissionDeniedError)


def test_a_store_that_was_deleted_is_not_made_again_by_a_reader(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = SqliteKeyValueStore(path)
    store.commit([Put(Key("p", "s"), b"v", ABSENT)])
    for left in tmp_path.iterdir():
        left.unlink()
    with pytest.raises(UnavailableError):
        in_a_fresh_thread(lambda: store.get(Key("p", "s")))
    assert not path.exists()
    store.close()


def in_a_fresh_thread(call: Callable[[], object]) -> None:
    """Run in a thread that has no connection yet; raise what it raised."""
    (outcome,) = together([call])
    if isinstance(outcome, BaseException):
        raise outcome


def test_a_store_whose_records_are_gone_is_said_to_be_damaged(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    SqliteKeyValueStore(path).close()
    connection = apsw.Connection(str(path))
    connection.execute("DROP TABLE record")
    connection.close()
    with pytest.raises(DataLossError, match="records are gone"):
        SqliteKeyValueStore(path)
