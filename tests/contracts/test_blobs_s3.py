"""The S3 backend against moto."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import boto3
import obstore
import pytest
from tests.contracts.blob_contract import (
    LARGE,
    BlobStoreContract,
    Corrupt,
    OpenBlobs,
    names,
    write,
)
from tests.support.moto import Moto

from floecat.errors import UnavailableError
from floecat.storage.blobs.cache import BlobCache
from floecat.storage.blobs.s3 import S3BlobStore, S3Options

pytestmark = pytest.mark.slow


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

    def test_a_lost_answer_is_settled_by_comparing(self, store: S3BlobStore, moto: Moto) -> None:
        broken = moto.app.broken
        moto.app.breaks_next = lambda method, query: method == "PUT"
        ref = write(store, "a", b"x")
        assert moto.app.broken == broken + 1
        assert store.read(ref) == b"x"

    def test_a_lost_answer_to_a_large_upload_is_settled(
        self, store: S3BlobStore, moto: Moto
    ) -> None:
        finished = []

        def second_completion(method: str, query: str) -> bool:
            """The first completes the upload, the second the copy to its name."""
            if method == "POST" and query.startswith("uploadId="):
                finished.append(query)
            return len(finished) == 2

        broken = moto.app.broken
        moto.app.breaks_next = second_completion
        ref = write(store, "a", b"x" * LARGE)
        assert moto.app.broken == broken + 1
        assert names(store) == ["a"]
        assert ref.size == LARGE

    def test_abandoned_temporaries_are_invisible_and_swept(
        self, store: S3BlobStore, options: S3Options, tmp_path: Path
    ) -> None:
        obstore.put(store._store, ".tmp/abandoned", b"x")
        assert names(store) == []
        tomorrow = datetime.now(UTC) + timedelta(days=1, hours=1)
        S3BlobStore(options, BlobCache(tmp_path, 1 << 20))
        assert obstore.head(store._store, ".tmp/abandoned")["size"] == 1
        S3BlobStore(options, BlobCache(tmp_path, 1 << 20), clock=lambda: tomorrow)
        with pytest.raises(FileNotFoundError):
            obstore.head(store._store, ".tmp/abandoned")

    def test_uris_are_the_ones_that_other_programs_understand(
        self, store: S3BlobStore, options: S3Options
    ) -> None:
        assert write(store, "a b", b"x").uri == f"s3://{options.bucket}/some/where/a b"


def test_an_unreachable_server_is_unavailable(aws_environment: None, tmp_path: Path) -> None:
    options = S3Options("b", endpoint="http://127.0.0.1:1", patience=timedelta(seconds=0.2))
    with pytest.raises(UnavailableError, match="S3"):
        S3BlobStore(options, BlobCache(tmp_path, 1 << 20))
