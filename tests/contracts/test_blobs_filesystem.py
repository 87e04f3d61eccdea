"""The filesystem backend, and what it leaves in its folder."""

import os
from pathlib import Path

import pytest
from tests.contracts.blob_contract import BlobStoreContract, Corrupt, OpenBlobs, names, write

from floecat.errors import InvalidArgumentError
from floecat.storage.blobs.filesystem import FilesystemBlobStore


class TestFilesystem(BlobStoreContract):
    @pytest.fixture
    def open_store(self, tmp_path: Path) -> OpenBlobs:
        return lambda: FilesystemBlobStore(tmp_path / "blobs")

    @pytest.fixture
    def corrupt(self, tmp_path: Path) -> Corrupt:
        def change(name: str, content: bytes) -> None:
            (tmp_path / "blobs" / name).write_bytes(content)

        return change


def test_temporaries_are_invisible_and_swept_once_their_writer_is_gone(tmp_path: Path) -> None:
    store = FilesystemBlobStore(tmp_path)
    leftover = tmp_path / ".tmp" / "left-by-a-killed-writer"
    leftover.write_bytes(b"half")
    with store.writer("a") as writer:
        writer.write(b"x")
        assert names(store) == []
        FilesystemBlobStore(tmp_path)  # sweeps what isn't being written, and only that
        assert not leftover.exists()
    assert store.read(writer.ref) == b"x"
    assert list((tmp_path / ".tmp").iterdir()) == []


def test_empty_folders_are_removed(tmp_path: Path) -> None:
    store = FilesystemBlobStore(tmp_path)
    write(store, "a/b/c", b"x")
    write(store, "a/d", b"x")
    store.delete("a/b/c")
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["d"]


def test_a_blob_below_a_blob_is_refused(tmp_path: Path) -> None:
    store = FilesystemBlobStore(tmp_path)
    write(store, "a", b"x")
    with pytest.raises(InvalidArgumentError):
        write(store, "a/b", b"x")


def test_uris_are_the_ones_that_other_programs_understand(tmp_path: Path) -> None:
    ref = write(FilesystemBlobStore(tmp_path), "a b/ü%", b"x")
    assert ref.uri == (tmp_path / "a b" / "ü%").as_uri()


def test_the_content_is_synced_before_the_name_and_every_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No test can pull the plug on a file system, so this one watches what would save it."""
    store = FilesystemBlobStore(tmp_path)
    events: list[str] = []
    real_fsync, real_link = os.fsync, os.link

    def fsync(descriptor: int) -> None:
        events.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        real_fsync(descriptor)

    def link(source: Path, target: Path) -> None:
        events.append("link")
        real_link(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "link", link)
    write(store, "a/b/c", b"x")
    content, *rest = events
    assert Path(content).parent == tmp_path / ".tmp"
    assert rest == ["link", *(str(tmp_path / folder) for folder in ("a/b", "a", ""))]
