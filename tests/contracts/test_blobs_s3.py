"""The S3 backend against moto."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import boto3
import obstore
import pytest
from tests.contracts.blob_contract import BlobStoreContract, Corrupt, OpenBlobs
from tests.support.moto import Moto

from floecat.storage.blobs.cache import BlobCache
from floecat.storage.blobs.s3 import S3BlobStore, S3Options


class TestS3(BlobStoreContract):
    @pytest.fixture
    def options(self, moto: Moto, aws_environment: None) -> Iterator[S3Options]:
        client = boto3.client("s3", endpoint_url=moto.endpoint)
        bucket = f"b{uuid4().hex}"
        client.create_bucket(Bucket=bucket)
        yield S3Options(bucket, prefix="some/where", endpoint=moto.endpoint)
        client.close()

    @pytest.fixture
    def open_store(self, options: S3Options, tmp_path: Path) -> OpenBlobs:
        cache = BlobCache(tmp_path, 1 << 30)
        return lambda: S3BlobStore(options, cache)

    @pytest.fixture
    def corrupt(self, store: S3BlobStore) -> Corrupt:
        def change(name: str, content: bytes) -> None:
            obstore.put(store._store, name, content)

        return change
