"""Opening stores from their configuration."""

import sys
from pathlib import Path

import pytest
from tests.support.moto import Moto
from tests.support.postgres import Postgres

from floecat.errors import FailedPreconditionError, IncompatibleStoreError
from floecat.storage.blobs.opening import (
    BlobConfig,
    FilesystemBlobConfig,
    MemoryBlobConfig,
    S3BlobConfig,
    open_blob_store,
)
from floecat.storage.kv.port import ABSENT, Key, Put
from floecat.storage.kv.schema import SCHEMA_KEY, Migrations, open_schema
from floecat.storage.kv.sqlite import SqliteKeyValueStore
from floecat.storage.open import (
    DynamoDbKeyValueConfig,
    KeyValueConfig,
    MemoryKeyValueConfig,
    PostgresKeyValueConfig,
    SqliteKeyValueConfig,
    open_key_value_store,
)


def check_key_value_store(config: KeyValueConfig) -> None:
    store = open_key_value_store(config)
    assert store.get(SCHEMA_KEY) is not None
    store.commit([Put(Key("p", "s"), b"v", ABSENT)])
    store.close()


def check_blob_store(config: BlobConfig) -> None:
    store = open_blob_store(config)
    with store.writer("a") as writer:
        writer.write(b"x")
    with store.materialize(writer.ref) as file:
        assert file.read() == b"x"
    store.close()


def test_memory() -> None:
    check_key_value_store(MemoryKeyValueConfig())
    check_blob_store(MemoryBlobConfig())


def test_local_files(tmp_path: Path) -> None:
    check_key_value_store(SqliteKeyValueConfig(tmp_path / "store.db"))
    check_blob_store(FilesystemBlobConfig(tmp_path / "blobs"))


@pytest.mark.postgres
def test_postgres(postgres: Postgres) -> None:
    check_key_value_store(PostgresKeyValueConfig(postgres.new_schema()))


def test_aws(moto: Moto, aws_environment: None, tmp_path: Path) -> None:
    import boto3

    client = boto3.client("s3", endpoint_url=moto.endpoint)
    client.create_bucket(Bucket="opened")
    client.close()
    check_key_value_store(DynamoDbKeyValueConfig("opened", endpoint=moto.endpoint))
    check_blob_store(S3BlobConfig("opened", cache=tmp_path, endpoint=moto.endpoint))


def test_a_store_of_a_newer_floecat_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = SqliteKeyValueStore(path)
    open_schema(store, Migrations("Floecat 9.9", [lambda _: None]))
    store.close()
    with pytest.raises(IncompatibleStoreError, match=r"made by Floecat 9\.9"):
        open_key_value_store(SqliteKeyValueConfig(path))


@pytest.mark.parametrize(
    ("library", "extra", "config"),
    [
        ("psycopg", "postgres", PostgresKeyValueConfig("host=/nowhere")),
        ("boto3", "aws", DynamoDbKeyValueConfig("t")),
    ],
)
def test_a_missing_library_is_named_by_its_extra(
    monkeypatch: pytest.MonkeyPatch, library: str, extra: str, config: KeyValueConfig
) -> None:
    for name in [name for name in sys.modules if name.startswith("floecat.storage.kv.")]:
        if name.split(".")[3] in {"postgres", "dynamodb"}:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(FailedPreconditionError, match=rf"floecat\[{extra}\]"):
        open_key_value_store(config)


def test_a_missing_s3_library_is_named_by_its_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in [name for name in sys.modules if name.startswith("floecat.storage.blobs.s3")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(FailedPreconditionError, match=r"floecat\[aws\]"):
        open_blob_store(S3BlobConfig("b", cache=tmp_path))


def test_a_password_is_not_shown() -> None:
    assert "hunter2" not in repr(PostgresKeyValueConfig("password=hunter2"))
