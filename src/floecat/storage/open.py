"""Opening the stores that the configuration names. Heavy libraries are imported only for their own.

Must not know where the configuration comes from.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias, assert_never

from floecat.clock import Clock, utc_now
from floecat.errors import FailedPreconditionError
from floecat.storage.blobs.cache import BlobCache
from floecat.storage.blobs.filesystem import FilesystemBlobStore
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.blobs.port import BlobStore
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


@dataclass(frozen=True, slots=True)
class MemoryBlobConfig:
    """Forgets everything when the process ends."""


@dataclass(frozen=True, slots=True)
class FilesystemBlobConfig:
    """A folder, on a file system with hard links."""

    root: Path


@dataclass(frozen=True, slots=True)
class S3BlobConfig:
    """A prefix in a bucket, and the folder and size of the local cache."""

    bucket: str
    cache: Path
    prefix: str = ""
    region: str | None = None
    endpoint: str | None = None
    cache_bytes: int = 4 * 1024**3


BlobConfig: TypeAlias = MemoryBlobConfig | FilesystemBlobConfig | S3BlobConfig


def open_key_value_store(config: KeyValueConfig, *, clock: Clock = utc_now) -> KeyValueStore:
    """Open a store that this version of Floecat understands, or make a new one."""
    store = _key_value_backend(config, clock)
    try:
        open_schema(store, Migrations(f"Floecat {version('floecat')}"))
    except BaseException:
        store.close()
        raise
    return store


def open_blob_store(config: BlobConfig, *, clock: Clock = utc_now) -> BlobStore:
    """Open a store of blobs, or make a new one."""
    match config:
        case MemoryBlobConfig():
            return MemoryBlobStore(clock=clock)
        case FilesystemBlobConfig(root):
            return FilesystemBlobStore(root)
        case S3BlobConfig():
            return _s3(config, clock)
        case _:
            assert_never(config)


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
    with _extra("postgres"):
        from floecat.storage.kv.postgres import PostgresKeyValueStore  # noqa: PLC0415 - optional
    return PostgresKeyValueStore(
        config.dsn, clock=clock, connections=config.connections, patience=config.patience
    )


def _dynamodb(config: DynamoDbKeyValueConfig, clock: Clock) -> KeyValueStore:
    with _extra("aws"):
        from floecat.storage.kv.dynamodb import (  # noqa: PLC0415 - optional
            DynamoDbKeyValueStore,
            DynamoDbOptions,
        )
    options = DynamoDbOptions(
        config.table, region=config.region, endpoint=config.endpoint, patience=config.patience
    )
    return DynamoDbKeyValueStore(options, clock=clock)


def _s3(config: S3BlobConfig, clock: Clock) -> BlobStore:
    with _extra("aws"):
        from floecat.storage.blobs.s3 import S3BlobStore, S3Options  # noqa: PLC0415 - optional
    options = S3Options(
        config.bucket, prefix=config.prefix, region=config.region, endpoint=config.endpoint
    )
    return S3BlobStore(options, BlobCache(config.cache, config.cache_bytes), clock=clock)


@contextmanager
def _extra(name: str) -> Iterator[None]:
    """Say what to install when a backend's library isn't."""
    try:
        yield
    except ImportError as error:
        raise FailedPreconditionError(
            f"this store needs a library that isn't installed: pip install 'floecat[{name}]'",
            reason="MISSING_EXTRA",
            metadata={"extra": name},
        ) from error
