"""Folders: every new name is synced in the folder it stands in."""

import os
from pathlib import Path

import pytest

from floecat.storage.blobs.filesystem import FilesystemBlobStore
from floecat.storage.folders import make_folder
from floecat.storage.kv.sqlite import SqliteKeyValueStore


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files and folders that were synced, in order."""
    seen: list[Path] = []
    fsync = os.fsync

    def recorded(descriptor: int) -> None:
        seen.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", recorded)
    return seen


def test_every_missing_folder_is_synced_in_the_one_above(
    tmp_path: Path, synced: list[Path]
) -> None:
    make_folder(tmp_path / "a" / "b" / "c")
    assert synced == [tmp_path, tmp_path / "a", tmp_path / "a" / "b"]
    make_folder(tmp_path / "a" / "b" / "c")
    assert len(synced) == 3


def test_a_new_blob_store_is_durable_from_the_top(tmp_path: Path, synced: list[Path]) -> None:
    FilesystemBlobStore(tmp_path / "data" / "blobs")
    assert {tmp_path, tmp_path / "data", tmp_path / "data" / "blobs"} <= set(synced)


def test_a_new_sqlite_store_has_a_durable_name(tmp_path: Path, synced: list[Path]) -> None:
    SqliteKeyValueStore(tmp_path / "store.db").close()
    assert tmp_path in synced
