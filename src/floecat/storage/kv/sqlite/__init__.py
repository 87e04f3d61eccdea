"""KeyValueStore in one SQLite file, which several processes may share."""

from floecat.storage.kv.sqlite.connections import SqliteOptions
from floecat.storage.kv.sqlite.store import SqliteKeyValueStore

__all__ = ["SqliteKeyValueStore", "SqliteOptions"]
