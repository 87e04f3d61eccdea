"""The cache of local copies: bounded, verified, shared between lives."""

import hashlib
import io
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pytest
from tests.support.threads import together

from floecat.errors import DataLossError, NotFoundError, ResourceExhaustedError
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
def cache(tmp_path: Path) -> BlobCache:
    return BlobCache(tmp_path, 350)


@pytest.fixture
def get(cache: BlobCache, source: Source) -> Callable[[str], bytes]:
    """The bytes of a letter's copy, read to the end and closed."""

    def read(letter: str) -> bytes:
        with cache.materialize(source.ref(letter), source.open) as file:
            return file.read()

    return read


def copies(folder: Path, source: Source, letters: str) -> str:
    """The letters whose copies are in a folder."""
    return "".join(letter for letter in letters if (folder / source.ref(letter).sha256).exists())


def test_a_copy_is_fetched_once(get: Callable[[str], bytes], source: Source) -> None:
    assert together([partial(get, "a")] * 8) == [b"a" * 100] * 8
    assert source.fetched == ["a"]


def test_the_least_recently_used_copy_goes_first(
    tmp_path: Path, get: Callable[[str], bytes], source: Source
) -> None:
    for letter in "abcad":
        get(letter)
    assert copies(tmp_path, source, "abcd") == "acd"


def test_an_open_copy_outlives_its_place(
    tmp_path: Path, cache: BlobCache, get: Callable[[str], bytes], source: Source
) -> None:
    with cache.materialize(source.ref("a"), source.open) as file:
        for letter in "bcdef":
            get(letter)
        assert copies(tmp_path, source, "a") == ""
        assert file.read() == b"a" * 100


def test_a_copy_is_readable_however_busy_the_others_are(get: Callable[[str], bytes]) -> None:
    """Threads that evict each other's copies all the time still read what they asked for."""

    def read_many(letters: str) -> bool:
        return all(get(letter) == letter.encode() * 100 for letter in letters * 50)

    orders = ("abcdef", "fedcba", "cdabef")
    assert together([partial(read_many, letters) for letters in orders]) == [True, True, True]


def test_what_can_never_fit_is_refused(tmp_path: Path, source: Source) -> None:
    with pytest.raises(ResourceExhaustedError, match="takes 99"):
        BlobCache(tmp_path, 99).materialize(source.ref("a"), source.open)


def test_wrong_bytes_are_not_kept(
    tmp_path: Path, cache: BlobCache, get: Callable[[str], bytes], source: Source
) -> None:
    with pytest.raises(DataLossError):
        cache.materialize(source.ref("a"), lambda ref: io.BytesIO(b"b" * 100))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert get("a") == b"a" * 100


def test_the_next_process_keeps_what_is_sound(
    tmp_path: Path, get: Callable[[str], bytes], source: Source
) -> None:
    assert get("a") + get("b") == b"a" * 100 + b"b" * 100
    (tmp_path / source.ref("b").sha256).write_bytes(b"torn")
    (tmp_path / ".tmp" / "killed").write_bytes(b"half")
    second = BlobCache(tmp_path, 1000)
    for letter in "ab":
        with second.materialize(source.ref(letter), source.open) as file:
            assert file.read() == letter.encode() * 100
    assert source.fetched == ["a", "b", "b"]
    assert list((tmp_path / ".tmp").iterdir()) == []


def test_another_process_leaves_a_copy_under_way_alone(
    tmp_path: Path, cache: BlobCache, source: Source
) -> None:
    class Interrupted(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            BlobCache(tmp_path, 350)  # starts just now, and cleans up what nobody writes
            return super().read(size)

    with cache.materialize(source.ref("a"), lambda _: Interrupted(b"a" * 100)) as file:
        assert file.read() == b"a" * 100


def test_processes_that_share_a_folder_share_its_bound(tmp_path: Path, source: Source) -> None:
    caches = [BlobCache(tmp_path, 350) for _ in range(3)]
    for number, letter in enumerate("abcdefghi"):
        caches[number % 3].materialize(source.ref(letter), source.open).close()
    assert copies(tmp_path, source, "abcdefghi") == "ghi"


def test_a_smaller_cache_shrinks_what_it_finds(tmp_path: Path, source: Source) -> None:
    large = BlobCache(tmp_path, 1000)
    for letter in "abcdef":
        large.materialize(source.ref(letter), source.open).close()
    BlobCache(tmp_path, 250)
    assert copies(tmp_path, source, "abcdef") == "ef"


def test_a_copy_that_someone_removed_is_fetched_again(
    tmp_path: Path, get: Callable[[str], bytes], source: Source
) -> None:
    get("a")
    (tmp_path / source.ref("a").sha256).unlink()
    assert get("a") == b"a" * 100
    assert source.fetched == ["a", "a"]


def test_a_folder_that_went_away_is_told(tmp_path: Path, get: Callable[[str], bytes]) -> None:
    shutil.rmtree(tmp_path)
    with pytest.raises(NotFoundError):
        get("a")
