"""Opening the blob store that the configuration names, without knowing of key-value stores.

Tasks on other machines write blobs and nothing else.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, assert_never

from floecat.clock import Clock, utc_now
from floecat.storage.blobs.cache import BlobCache
from floecat.storage.blobs.filesystem import FilesystemBlobStore
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.blobs.port import BlobStore
from floecat.storage.extras import extra


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


def _s3(config: S3BlobConfig, clock: Clock) -> BlobStore:
    with extra("aws"):
        from floecat.storage.blobs.s3 import S3BlobStore, S3Options  # noqa: PLC0415 - optional
    options = S3Options(
        config.bucket, prefix=config.prefix, region=config.region, endpoint=config.endpoint
    )
    return S3BlobStore(options, BlobCache(config.cache, config.cache_bytes), clock=clock)
