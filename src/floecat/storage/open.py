"""Opening the key-value store that the configuration names.

Heavy libraries are imported only for their own. Must not know where the configuration comes from.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias, assert_never

from floecat.clock import Clock, utc_now
from floecat.storage.extras import extra
from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.port import KeyValueStore
from floecat.storage.kv.schema import Migrations, open_schema
from floecat.storage.kv.sqlite import SqliteKeyValueStore


@dataclass(frozen=True, slots=True)
class MemoryKeyValueConfig:
    """Forgets everything when the process ends."""


@dataclass(frozen=True, slots=True)
class SqliteKeyValueConfig:
    """One file, on a local disk."""

    path: Path


@dataclass(frozen=True, slots=True)
class PostgresKeyValueConfig:
    """A connection string, which may hold a password and so isn't shown."""

    dsn: str = field(repr=False)
    connections: int = 8
    patience: timedelta = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class DynamoDbKeyValueConfig:
    """A table, made if it isn't there; region and endpoint default to AWS's own settings."""

    table: str
    region: str | None = None
    endpoint: str | None = None
    patience: timedelta = timedelta(seconds=30)


KeyValueConfig: TypeAlias = (
    MemoryKeyValueConfig | SqliteKeyValueConfig | PostgresKeyValueConfig | DynamoDbKeyValueConfig
)


def open_key_value_store(config: KeyValueConfig, *, clock: Clock = utc_now) -> KeyValueStore:
    """Open a store that this version of Floecat understands, or make a new one."""
    store = _key_value_backend(config, clock)
    try:
        open_schema(store, Migrations(f"Floecat {version('floecat')}"))
    except BaseException:
        store.close()
        raise
    return store


def _key_value_backend(config: KeyValueConfig, clock: Clock) -> KeyValueStore:
    match config:
        case MemoryKeyValueConfig():
            return MemoryKeyValueStore(clock=clock)
        case SqliteKeyValueConfig(path):
            return SqliteKeyValueStore(path, clock=clock)
        case PostgresKeyValueConfig():
            return _postgres(config, clock)
        case DynamoDbKeyValueConfig():
            return _dynamodb(config, clock)
        case _:
            assert_never(config)


def _postgres(config: PostgresKeyValueConfig, clock: Clock) -> KeyValueStore:
    with extra("postgres"):
        from floecat.storage.kv.postgres import PostgresKeyValueStore  # noqa: PLC0415 - optional
    return PostgresKeyValueStore(
        config.dsn, clock=clock, connections=config.connections, patience=config.patience
    )


def _dynamodb(config: DynamoDbKeyValueConfig, clock: Clock) -> KeyValueStore:
    with extra("aws"):
        from floecat.storage.kv.dynamodb import (  # noqa: PLC0415 - optional
            DynamoDbKeyValueStore,
            DynamoDbOptions,
        )
    options = DynamoDbOptions(
        config.table, region=config.region, endpoint=config.endpoint, patience=config.patience
    )
    return DynamoDbKeyValueStore(options, clock=clock)
