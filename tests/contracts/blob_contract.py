"""What every BlobStore promises. A backend subclasses this and says how to open it.

Its fixture `open_store` opens the same blobs whenever it is called, as more processes would, and
`corrupt(name, bytes)` changes a blob behind the store's back.
"""

import hashlib
import mmap
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TypeAlias

import pytest
from tests.support.threads import together

from floecat.errors import (
    AlreadyExistsError,
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    LimitExceededError,
    NotFoundError,
)
from floecat.storage.blobs.port import BlobRef, BlobStore

OpenBlobs: TypeAlias = Callable[[], BlobStore]
Corrupt: TypeAlias = Callable[[str, bytes], None]

LARGE = 20 * 1024 * 1024 + 17  # more than two parts of a multipart upload

AWKWARD = [
    "space in name",
    "ünïcödé/日本語/😀",
    "100%/a%20b",
    "q?x=1&y=2#frag",
    "plus+semi;colon,eq=",
    "quote'\"",
    "back\\slash",
    "tilde~caret^pipe|",
    "[brackets]{braces}<angles>",
    "star*",
    "a-b",
    "a/b",
    "trailing.dot.",
    "e\u0301/é",
]


def write(store: BlobStore, name: str, *chunks: bytes) -> BlobRef:
    with store.writer(name) as writer:
        for chunk in chunks:
            writer.write(chunk)
    return writer.ref


def names(
    store: BlobStore, prefix: str = "", after: str | None = None, limit: int = 99
) -> list[str]:
    return [info.name for info in store.list(prefix, after=after, limit=limit)]


class BlobStoreContract:
    @pytest.fixture
    def store(self, open_store: OpenBlobs) -> Iterator[BlobStore]:
        opened = open_store()
        yield opened
        opened.close()

    # -- writing -----------------------------------------------------------------------------

    def test_a_blob_is_read_as_it_was_written(self, store: BlobStore) -> None:
        ref = write(store, "a/b", b"hello ", memoryview(b"world"))  # type: ignore[arg-type]  # a view is as good
        assert ref.sha256 == hashlib.sha256(b"hello world").hexdigest()
        assert ref.size == 11
        assert ref.uri.endswith("a/b")
        assert store.read(ref) == b"hello world"
        with store.open(ref) as stream:
            assert stream.read() == b"hello world"

    def test_an_empty_blob_is_a_blob(self, store: BlobStore) -> None:
        ref = write(store, "empty")
        assert (ref.size, store.read(ref)) == (0, b"")
        with store.open(ref) as stream:
            assert stream.read() == b""
        with store.materialize(ref) as file:
            assert file.read() == b""
        assert names(store) == ["empty"]

    def test_a_large_blob_is_streamed(self, store: BlobStore) -> None:
        chunk = bytes(range(256)) * 1024
        digest = hashlib.sha256()
        with store.writer("large") as writer:
            for _ in range(LARGE // len(chunk) + 1):
                writer.write(chunk)
                digest.update(chunk)
        ref = writer.ref
        assert ref.sha256 == digest.hexdigest()
        read = hashlib.sha256()
        with store.open(ref) as stream:
            while piece := stream.read(1_000_003):
                read.update(piece)
        assert read.hexdigest() == ref.sha256
        assert names(store) == ["large"]

    def test_the_reference_is_known_only_after_the_commit(self, store: BlobStore) -> None:
        with store.writer("a") as writer:
            writer.write(b"x")
            with pytest.raises(FailedPreconditionError):
                _ = writer.ref
            assert names(store) == []
        assert writer.ref.size == 1

    @pytest.mark.parametrize("size", [10, LARGE])
    def test_an_exception_discards_everything(self, store: BlobStore, size: int) -> None:
        def fail() -> None:
            with store.writer("a") as writer:
                writer.write(b"x" * size)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert names(store) == []
        assert store.read(write(store, "a", b"other")) == b"other"

    @pytest.mark.parametrize("size", [10, LARGE])
    def test_the_same_bytes_again_are_fine(self, store: BlobStore, size: int) -> None:
        content = b"x" * size
        assert write(store, "a", content) == write(store, "a", content)
        assert names(store) == ["a"]

    @pytest.mark.parametrize("size", [10, LARGE])
    def test_other_bytes_under_a_name_are_refused(self, store: BlobStore, size: int) -> None:
        first = write(store, "a", b"x" * size)
        for other in (b"y" * size, b"x" * (size - 1), b""):
            with pytest.raises(AlreadyExistsError):
                write(store, "a", other)
        assert store.read(first) == b"x" * size
        assert names(store) == ["a"]

    @pytest.mark.parametrize("size", [100, LARGE // 2])
    def test_one_of_many_creators_wins(self, open_store: OpenBlobs, size: int) -> None:
        stores = [open_store(), open_store()]
        outcomes = together(
            [partial(write, stores[n % 2], "d/a", bytes([n]) * size) for n in range(6)]
        )
        refs = [outcome for outcome in outcomes if isinstance(outcome, BlobRef)]
        assert len(refs) == 1, outcomes
        assert sum(isinstance(outcome, AlreadyExistsError) for outcome in outcomes) == 5, outcomes
        assert hashlib.sha256(stores[0].read(refs[0])).hexdigest() == refs[0].sha256
        assert names(stores[0]) == ["d/a"]

    def test_creators_of_the_same_bytes_all_win(self, store: BlobStore) -> None:
        refs = together([partial(write, store, "d/e/a", b"same" * 1000)] * 8)
        assert len(set(refs)) == 1, refs

    # -- names -------------------------------------------------------------------------------

    def test_names_hold_awkward_characters(self, store: BlobStore) -> None:
        refs = {name: write(store, name, name.encode()) for name in AWKWARD}
        assert names(store) == sorted(AWKWARD, key=str.encode)
        for name, ref in refs.items():
            assert store.read(ref) == name.encode()
            assert names(store, name) == [name]
            assert store.delete(name)
        assert names(store) == []

    @pytest.mark.parametrize(
        "name",
        [
            "",
            "/a",
            "a/",
            "a//b",
            "..",
            "a/../b",
            ".",
            "a/./b",
            ".tmp/x",
            "a/.b",
            "a\0b",
            "a\nb",
            "\ud800",
        ],
    )
    def test_names_that_lead_elsewhere_are_refused(self, store: BlobStore, name: str) -> None:
        with pytest.raises(InvalidArgumentError), store.writer(name):
            pytest.fail("the name was taken")
        with pytest.raises(InvalidArgumentError):
            store.delete(name)

    @pytest.mark.parametrize("name", ["x" * 256, "é" * 128, "/".join(["x" * 200] * 5)])
    def test_names_that_are_too_long_are_refused(self, store: BlobStore, name: str) -> None:
        with pytest.raises(LimitExceededError):
            store.delete(name)

    def test_the_longest_names_are_taken(self, store: BlobStore) -> None:
        for name in ("x" * 255, "/".join(["é" * 75] * 5)):
            assert store.read(write(store, name, b"1")) == b"1"

    def test_references_to_elsewhere_are_refused(self, store: BlobStore) -> None:
        ref = write(store, "a", b"x")
        for uri in ("ftp://x/a", ref.uri.removesuffix("a") + "../a", "file:///etc/passwd", "a"):
            with pytest.raises(InvalidArgumentError):
                store.read(replace(ref, uri=uri))

    # -- reading -----------------------------------------------------------------------------

    def test_ranges_are_clipped_at_the_end(self, store: BlobStore) -> None:
        ref = write(store, "a", b"0123456789")
        assert store.read(ref, offset=3, length=4) == b"3456"
        assert store.read(ref, offset=8, length=99) == b"89"
        assert store.read(ref, offset=4) == b"456789"
        assert store.read(ref, length=2) == b"01"
        assert store.read(ref, offset=10) == b""
        assert store.read(ref, offset=99, length=1) == b""
        assert store.read(ref, offset=5, length=0) == b""
        with pytest.raises(InvalidArgumentError):
            store.read(ref, offset=-1)
        with pytest.raises(InvalidArgumentError):
            store.read(ref, length=-1)

    def test_a_stream_can_be_searched(self, store: BlobStore) -> None:
        ref = write(store, "a", bytes(range(256)) * 100)
        with store.open(ref) as stream:
            assert stream.seek(-3, 2) == 25_597
            assert stream.read() == bytes([253, 254, 255])
            stream.seek(256)
            assert stream.read(2) == bytes([0, 1])
            assert stream.tell() == 258
            stream.seek(0)
            assert hashlib.sha256(stream.read()).hexdigest() == ref.sha256

    def test_what_is_missing_is_not_found(self, store: BlobStore) -> None:
        ref = write(store, "a", b"x")
        store.delete("a")
        for attempt in (store.read, store.open, store.materialize):
            with pytest.raises(NotFoundError):
                attempt(ref)

    @pytest.mark.parametrize("damage", [b"other", b"shor", b"longer", b"", b"bytes and more"])
    def test_changed_bytes_are_noticed(
        self, store: BlobStore, corrupt: Corrupt, damage: bytes
    ) -> None:
        ref = write(store, "a", b"bytes")
        corrupt("a", damage)
        with pytest.raises(DataLossError):
            store.read(ref)
        with pytest.raises(DataLossError):
            store.materialize(ref)
        with pytest.raises(DataLossError), store.open(ref) as stream:
            stream.read()

    # -- listing and deleting ------------------------------------------------------------------

    def test_a_listing_is_ordered_by_the_bytes_of_whole_names(self, store: BlobStore) -> None:
        every = ["a-b", "a/b", "a/b-c/d", "a/b.d", "a/c/d", "a0", "b", "é/x", "z/a", "z-"]
        for name in every:
            write(store, name, b"x")
        ordered = sorted(every, key=str.encode)
        assert names(store) == ordered
        for prefix in ["", "a", "a/", "a/b", "a/b-", "a/c/d", "é", "z/", "x", "zz/y"]:
            for after in [None, "", "A", "a/b", "a/b-c", "a/b-c/d", "a/z", "zzz"]:
                expected = [
                    n for n in ordered if n.startswith(prefix) and (after is None or n > after)
                ]
                assert names(store, prefix, after) == expected, (prefix, after)

    def test_a_listing_is_paged(self, store: BlobStore) -> None:
        every = [f"d{n % 3}/f{n:02}" for n in range(20)]
        for name in every:
            write(store, name, b"x")
        seen: list[str] = []
        while page := names(store, "d", seen[-1] if seen else None, limit=3):
            assert len(page) <= 3
            seen += page
        assert seen == sorted(every)

    def test_wrong_listings_are_refused(self, store: BlobStore) -> None:
        wrong: list[Callable[[], object]] = [
            lambda: store.list(limit=0),
            lambda: store.list("../", limit=1),
            lambda: store.list("a//b", limit=1),
            lambda: store.list("a\n", limit=1),
            lambda: store.list(after="..", limit=1),
        ]
        for attempt in wrong:
            with pytest.raises(InvalidArgumentError):
                attempt()

    def test_a_listing_tells_size_and_age(self, store: BlobStore) -> None:
        ref = write(store, "a/b", b"12345")
        (info,) = store.list(limit=5)
        assert (info.name, info.uri, info.size) == ("a/b", ref.uri, 5)
        assert abs(info.modified_at - datetime.now(UTC)) < timedelta(hours=1)

    def test_deleting_tells_whether_there_was_one(self, store: BlobStore) -> None:
        write(store, "a/b", b"x")
        assert store.delete("a/b")
        assert not store.delete("a/b")
        assert names(store) == []
        assert store.read(write(store, "a/b", b"other bytes")) == b"other bytes"

    # -- local copies ----------------------------------------------------------------------------

    def test_a_local_copy_can_be_mapped_even_after_the_blob_is_gone(self, store: BlobStore) -> None:
        ref = write(store, "a", b"mapped")
        with (
            store.materialize(ref) as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
        ):
            store.delete("a")
            assert mapped[:] == b"mapped"

    def test_a_local_copy_is_made_once(self, store: BlobStore) -> None:
        ref = write(store, "a", b"x" * 100_000)
        opened = together([partial(store.materialize, ref)] * 8)
        files = [file for file in opened if not isinstance(file, BaseException)]
        assert len({os.fstat(file.fileno()).st_ino for file in files}) == 1
        assert [file.read() for file in files] == [b"x" * 100_000] * 8
        for file in files:
            file.close()

    def test_closing_twice_is_fine(self, open_store: OpenBlobs) -> None:
        opened = open_store()
        opened.close()
        opened.close()
