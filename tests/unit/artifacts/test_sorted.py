"""Sorted records: found by key, paged through, and never taken for what they aren't."""

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floecat.artifacts.sorted import SortedRecord, SortedRecords, write_sorted
from floecat.errors import DataLossError
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.blobs.port import BlobRef

KEYS = st.lists(st.text(max_size=8), unique=True, max_size=40).map(sorted)


def written(records: list[SortedRecord]) -> bytes:
    sink = BytesIO()
    write_sorted(sink, records)
    return sink.getvalue()


@given(KEYS, st.text(max_size=4))
def test_what_was_written_is_found_and_nothing_else(keys: list[str], other: str) -> None:
    records = [SortedRecord(key, key.encode() * 3, b"x" * (len(key) % 3)) for key in keys]
    read = SortedRecords.in_memory(written(records))
    assert len(read) == len(keys)
    assert [entry.key for entry in read.entries()] == keys
    assert [e.key for e in read.entries(after=other)] == [key for key in keys if key > other]
    assert [e.key for e in read.entries(start=other)] == [key for key in keys if key >= other]
    for record in records:
        entry = read.find(record.key)
        assert entry is not None
        assert (entry.record, read.read_extra(entry)) == (record.record, record.extra)
    assert (read.find(other) is not None) == (other in keys)


def test_many_blocks_are_searched_through() -> None:
    records = [SortedRecord(f"{number:06}", bytes(1000), bytes(10)) for number in range(2000)]
    read = SortedRecords.in_memory(written(records))
    for number in (0, 1, 64, 65, 66, 999, 1999):
        assert read.find(f"{number:06}") is not None
    assert next(read.entries(after="001234")).key == "001235"
    assert len(list(read.entries(after="000500"))) == 1499


def test_keys_must_rise() -> None:
    with pytest.raises(ValueError, match="behind"):
        written([SortedRecord("b", b""), SortedRecord("a", b"")])


def test_changed_bytes_are_noticed_wherever_they_are() -> None:
    content = written([SortedRecord("a", b"record", b"extra"), SortedRecord("b", b"other")])
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1
        with pytest.raises(DataLossError):  # noqa: PT012 - whichever read comes to it
            read = SortedRecords.in_memory(bytes(damaged))
            for entry in read.entries():
                read.read_extra(entry)
    for size in range(len(content)):
        with pytest.raises(DataLossError):
            list(SortedRecords.in_memory(content[:size]).entries())


def test_only_what_is_asked_for_is_read() -> None:
    blobs = _CountingBlobs()
    with blobs.writer("records") as writer:
        write_sorted(writer, (SortedRecord(f"{n:06}", bytes(1000)) for n in range(5000)))
    read = SortedRecords.in_blob(blobs, writer.ref)
    assert read.find("002500") is not None
    assert blobs.read_bytes < 100_000 < writer.ref.size


class _CountingBlobs(MemoryBlobStore):
    read_bytes = 0

    def read(self, ref: BlobRef, *, offset: int = 0, length: int | None = None) -> bytes:
        content = super().read(ref, offset=offset, length=length)
        self.read_bytes += len(content)
        return content
