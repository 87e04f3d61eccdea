"""The table inside the file, and how a new file gets it. Two processes may open it at once."""

import random
import time
from pathlib import Path
from typing import Final

import apsw

from floecat.errors import DataLossError, IncompatibleStoreError
from floecat.storage.folders import sync_folder
from floecat.storage.kv.sqlite.connections import Connections
from floecat.storage.kv.sqlite.statements import CREATE

APPLICATION_ID: Final = 0x464C4F45  # "FLOE": tells a store from any other SQLite file

_WAL_LIMIT_BYTES: Final = 64 * 1024 * 1024


def prepare(path: Path, connections: Connections, patience_seconds: float) -> None:
    """Make the file a store, if it isn't one already."""
    with connections.exclusive_writer() as writer:
        application = writer.pragma("application_id")
        if application == 0 and writer.execute("SELECT 1 FROM sqlite_schema").fetchall():
            raise IncompatibleStoreError(f"{path} is a SQLite file, but not a Floecat store")
        if application not in {0, APPLICATION_ID}:
            raise IncompatibleStoreError(f"{path} is another application's SQLite file")
        _use_write_ahead_log(writer, patience_seconds)
        writer.pragma("journal_size_limit", _WAL_LIMIT_BYTES)
    if application == 0:
        with connections.writing() as writer:
            writer.execute(CREATE)
            writer.pragma("application_id", APPLICATION_ID)
        sync_folder(path.parent)
    else:
        _require_table(path, connections)


def _use_write_ahead_log(writer: apsw.Connection, patience_seconds: float) -> None:
    # Switching asks for a lock that SQLite's busy handler doesn't wait for.
    deadline = time.monotonic() + patience_seconds
    while True:
        try:
            writer.pragma("journal_mode", "wal")
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(random.uniform(0.001, 0.02))  # noqa: S311 - jitter, not a secret
        else:
            return


def _require_table(path: Path, connections: Connections) -> None:
    with connections.exclusive_writer() as writer:
        found = writer.execute("SELECT 1 FROM sqlite_schema WHERE name = 'record'").fetchall()
    if not found:
        raise DataLossError(f"{path} was a Floecat store, but its records are gone")
