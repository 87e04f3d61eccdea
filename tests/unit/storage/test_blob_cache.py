"""The cache of local copies: bounded, verified, shared between lives."""

import hashlib
import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pytest
from tests.support.threads import together

from floecat.errors import DataLossError, ResourceExhaustedError
from floecat.storage.blobs.cache import BlobCache
from floecat.storage.blobs.port import BlobRef


class Source:
    """Blobs of a hundred bytes, and how often each was fetched."""

    def __init__(self) -> None:
        self.fetched: list[str] = []

    def ref(self, letter: str) -> BlobRef:
        content = letter.encode() * 100
        return BlobRef(f"test:{letter}", hashlib.sha256(content).hexdigest(), 100)

    def open(self, ref: BlobRef) -> BinaryIO:
        letter = ref.uri.removeprefix("test:")
        self.fetched.append(letter)
        return io.BytesIO(letter.encode() * 100)


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def get(tmp_path: Path, source: Source) -> Callable[[str], Path]:
    cache = BlobCache(tmp_path, 350)
    return lambda letter: cache.materialize(source.ref(letter), source.open)


def test_a_copy_is_fetched_once(get: Callable[[str], Path], source: Source) -> None:
    assert together([partial(get, "a")] * 8) == [get("a")] * 8
    assert source.fetched == ["a"]


def test_the_least_recently_used_copy_goes_first(
    tmp_path: Path, get: Callable[[str], Path], source: Source
) -> None:
    paths = {letter: get(letter) for letter in "abc"}
    get("a")
    get("d")
    assert [letter for letter, path in paths.items() if path.exists()] == ["a", "c"]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 350


def test_an_open_copy_outlives_its_place(get: Callable[[str], Path]) -> None:
    with get("a").open("rb") as file:
        for letter in "bcdef":
            get(letter)
        assert not Path(file.name).exists()
        assert file.read() == b"a" * 100


def test_what_can_never_fit_is_refused(tmp_path: Path, source: Source) -> None:
    with pytest.raises(ResourceExhaustedError, match="takes 99"):
        BlobCache(tmp_path, 99).materialize(source.ref("a"), source.open)


def test_wrong_bytes_are_not_kept(tmp_path: Path, source: Source) -> None:
    cache = BlobCache(tmp_path, 1000)
    with pytest.raises(DataLossError):
        cache.materialize(source.ref("a"), lambda ref: io.BytesIO(b"b" * 100))
    assert list(tmp_path.iterdir()) == []
    assert cache.materialize(source.ref("a"), source.open).read_bytes() == b"a" * 100


def test_the_next_process_keeps_what_is_sound(tmp_path: Path, source: Source) -> None:
    first = BlobCache(tmp_path, 1000)
    paths = [first.materialize(source.ref(letter), source.open) for letter in "ab"]
    paths[1].write_bytes(b"torn")
    (tmp_path / "killed.unfinished").write_bytes(b"half")
    second = BlobCache(tmp_path, 1000)
    for letter in "ab":
        assert (
            second.materialize(source.ref(letter), source.open).read_bytes()[:1] == letter.encode()
        )
    assert source.fetched == ["a", "b", "b"]
    assert not (tmp_path / "killed.unfinished").exists()


def test_a_smaller_cache_shrinks_what_it_finds(tmp_path: Path, source: Source) -> None:
    large = BlobCache(tmp_path, 1000)
    for letter in "abcdef":
        large.materialize(source.ref(letter), source.open)
    BlobCache(tmp_path, 250)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_copy_that_someone_removed_is_fetched_again(
    get: Callable[[str], Path], source: Source
) -> None:
    get("a").unlink()
    assert get("a").read_bytes() == b"a" * 100
    assert source.fetched == ["a", "a"]
