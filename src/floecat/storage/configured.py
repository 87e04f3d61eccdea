"""What the settings say of stores, as the configurations that open them."""

from pathlib import Path
from typing import assert_never

from floecat.settings.model import BlobBackend, BlobSettings, KeyValueBackend, KeyValueSettings
from floecat.storage.blobs.opening import (
    BlobConfig,
    FilesystemBlobConfig,
    MemoryBlobConfig,
    S3BlobConfig,
)
from floecat.storage.open import (
    DynamoDbKeyValueConfig,
    KeyValueConfig,
    MemoryKeyValueConfig,
    PostgresKeyValueConfig,
    SqliteKeyValueConfig,
)


def key_value_config(settings: KeyValueSettings, data_dir: Path) -> KeyValueConfig:
    """Where records are."""
    match settings.backend:
        case KeyValueBackend.MEMORY:
            return MemoryKeyValueConfig()
        case KeyValueBackend.SQLITE:
            path = settings.sqlite_path or data_dir / "floecat.db"
            return SqliteKeyValueConfig(path)
        case KeyValueBackend.POSTGRES:
            return PostgresKeyValueConfig(settings.postgres_url or "")
        case KeyValueBackend.DYNAMODB:
            return DynamoDbKeyValueConfig(
                settings.dynamodb_table, settings.dynamodb_region, settings.dynamodb_endpoint
            )
        case _:
            assert_never(settings.backend)


def blob_config(settings: BlobSettings, data_dir: Path) -> BlobConfig:
    """Where blobs are."""
    match settings.backend:
        case BlobBackend.MEMORY:
            return MemoryBlobConfig()
        case BlobBackend.FILESYSTEM:
            return FilesystemBlobConfig(settings.filesystem_path or data_dir / "blobs")
        case BlobBackend.S3:
            return S3BlobConfig(
                bucket=settings.s3_bucket or "",
                cache=data_dir / "cache",
                prefix=settings.s3_prefix,
                region=settings.s3_region,
                endpoint=settings.s3_endpoint,
                cache_bytes=settings.cache_max_bytes,
            )
        case _:
            assert_never(settings.backend)
