"""KeyValueStore in a PostgreSQL table, shared by any number of processes. Needs `psycopg`."""

from floecat.storage.kv.postgres.store import PostgresKeyValueStore

__all__ = ["PostgresKeyValueStore"]
