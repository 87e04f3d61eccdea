"""A full disk: a clear error, nothing lost, and stores that still open."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contracts.blob_contract import write

from floecat.errors import ResourceExhaustedError
from floecat.storage.blobs.filesystem import FilesystemBlobStore
from floecat.storage.kv.port import ABSENT, Key, Put
from floecat.storage.kv.sqlite import SqliteKeyValueStore

BALLAST_BYTES = 1024 * 1024


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Four megabytes, one of them taken by a file that can be removed."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(tmp_path)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("a small disk needs the right to mount a tmpfs")
    (tmp_path / "ballast").write_bytes(bytes(BALLAST_BYTES))
    yield tmp_path
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def fill(store: SqliteKeyValueStore) -> int:
    """Commit until the disk is full; how many commits were acknowledged."""
    for n in range(10_000):
        try:
            store.commit([Put(Key("p", f"{n:05}"), os.urandom(20_000), ABSENT)])
        except ResourceExhaustedError:
            return n
    pytest.fail("the disk was never full")


def test_sqlite_on_a_full_disk(small_disk: Path) -> None:
    store = SqliteKeyValueStore(small_disk / "store.db")
    acknowledged = fill(store)
    assert acknowledged > 10
    assert len(store.scan("p", limit=9999)) == acknowledged
    store.close()

    still_full = SqliteKeyValueStore(small_disk / "store.db")
    assert len(still_full.scan("p", limit=9999)) == acknowledged
    still_full.close()

    (small_disk / "ballast").unlink()
    with_room = SqliteKeyValueStore(small_disk / "store.db")
    with_room.commit([Put(Key("p", "more"), b"x", ABSENT)])
    assert len(with_room.scan("p", limit=9999)) == acknowledged + 1
    with_room.close()


def test_a_store_in_use_recovers_when_there_is_room_again(small_disk: Path) -> None:
    store = SqliteKeyValueStore(small_disk / "store.db")
    acknowledged = fill(store)
    (small_disk / "ballast").unlink()
    store.commit([Put(Key("p", "more"), b"x", ABSENT)])
    assert len(store.scan("p", limit=9999)) == acknowledged + 1
    store.close()


def test_blobs_on_a_full_disk(small_disk: Path) -> None:
    store = FilesystemBlobStore(small_disk / "blobs")
    kept = write(store, "kept", os.urandom(500_000))
    with pytest.raises(ResourceExhaustedError, match="no space left"):
        write(store, "large", *[os.urandom(100_000)] * 100)
    assert [info.name for info in store.list(limit=9)] == ["kept"]
    assert list((small_disk / "blobs" / ".tmp").iterdir()) == []
    reopened = FilesystemBlobStore(small_disk / "blobs")
    assert len(reopened.read(kept)) == 500_000
    assert reopened.read(write(reopened, "small", b"x")) == b"x"
