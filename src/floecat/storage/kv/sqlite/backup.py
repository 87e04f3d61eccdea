"""Copying a SQLite store while others use it, and looking at copies before they are trusted."""

import os
from pathlib import Path

import apsw

from floecat.errors import DataLossError, FailedPreconditionError, IncompatibleStoreError
from floecat.storage.kv.sqlite.errors import Translation
from floecat.storage.kv.sqlite.layout import APPLICATION_ID


def copy_database(source: Path, target: Path) -> None:
    """A copy of the store as of one moment: every commit acknowledged before, none in part.

    Writers go on meanwhile. The copy is one file, on the disk when this returns.
    """
    with Translation(str(source)):
        original = _open(source, apsw.SQLITE_OPEN_READWRITE)
        try:
            copy = _open(target, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
            try:
                with copy.backup("main", original, "main") as backup:
                    backup.step(-1)  # in one step: in several, every write would start it anew
                copy.pragma("journal_mode", "delete")
            finally:
                copy.close()
        finally:
            original.close()
    with target.open("rb") as file:
        os.fsync(file.fileno())


def check_database(path: Path) -> None:
    """Raise unless the file is a sound store of ours."""
    with Translation(str(path)):
        connection = _open(path, apsw.SQLITE_OPEN_READWRITE)
        try:
            if connection.pragma("application_id") != APPLICATION_ID:
                raise IncompatibleStoreError(f"{path} isn't a Floecat store")
            verdict = connection.pragma("integrity_check")
        finally:
            connection.close()
    if verdict != "ok":
        raise DataLossError(f"{path} is damaged: {verdict}")


def require_unused(path: Path) -> None:
    """Raise if another process has the store open."""
    with Translation(str(path)):
        connection = _open(path, apsw.SQLITE_OPEN_READWRITE)
        try:
            # Leaving the write-ahead log needs the file for oneself; whoever opens it enters again.
            connection.pragma("journal_mode", "delete")
        except apsw.BusyError as error:
            raise FailedPreconditionError(
                f"{path} is in use: stop the service first", reason="STORE_IN_USE"
            ) from error
        finally:
            connection.close()


def _open(path: Path, flags: int) -> apsw.Connection:
    return apsw.Connection(os.fspath(path), flags=flags)
