"""A snapshot's scan index, opened for reading."""

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.execution.scan_pb2 import ScanFile
from ai.floedb.floecat.execution.stored_pb2 import HeldSegment, LivePart, ScanIndex
from floecat.artifacts.arrow import open_arrow
from floecat.artifacts.index.layout import DELETES, FORMAT_VERSION, KNOWN_DELETES
from floecat.artifacts.index.parts import IndexPartFile
from floecat.artifacts.index.rows import DeleteUse
from floecat.artifacts.payloads import blob_ref, read_message
from floecat.artifacts.targets import path_key
from floecat.artifacts.versions import require_version
from floecat.errors import DataLossError
from floecat.storage.blobs.frames import read_frames
from floecat.storage.blobs.port import BlobStore

_SLICE: Final = 1024

Bits = np.ndarray[Any, np.dtype[np.bool_]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]


class LiveFile(NamedTuple):
    """Where a live file lies. Ordered by path."""

    key: str
    part: int
    row: int


class Deleted(NamedTuple):
    """What deletes make of a file."""

    delete_files: list[int]
    live_row_count: int | None


class ScanIndexFile:
    """Live files by path, by place, one after another. Parts are opened when they are needed."""

    def __init__(self, blobs: BlobStore, index: ScanIndex) -> None:
        self._blobs = blobs
        self.index = index
        self._parts: dict[int, IndexPartFile] = {}
        self._live: dict[int, Bits] = {}

    def sketch_bytes(self) -> int:
        """What sketches of single files in its segments take up."""
        held = (segment for number in self.parts for segment in self.part(number).segments)
        sizes = {segment.manifest.sha256: segment.sketch_bytes for segment in held}
        return sum(sizes.values())

    @classmethod
    def open(cls, blobs: BlobStore, reference: BlobReference) -> "ScanIndexFile":
        """Open an index by its manifest."""
        index = read_message(blobs, reference, ScanIndex)
        require_version(f"the scan index {reference.uri}", index.format_version, FORMAT_VERSION)
        return cls(blobs, index)

    def __len__(self) -> int:
        return self.index.files

    @cached_property
    def names(self) -> Mapping[int, str]:
        """How the snapshot calls its columns; empty in an index that doesn't tell."""
        return {column.column_id: ".".join(column.path) for column in self.index.columns}

    @property
    def parts(self) -> range:
        """The numbers of its parts."""
        return range(len(self.index.parts))

    def part(self, number: int) -> IndexPartFile:
        """A part."""
        if number not in self._parts:
            if number not in self.parts:
                raise DataLossError(f"the scan index has no part {number}")
            reference = self.index.parts[number].part
            self._parts[number] = IndexPartFile.open(self._blobs, reference)
        return self._parts[number]

    def live(self, number: int) -> Bits:
        """Which rows of a part are live."""
        if number not in self._live:
            self._live[number] = live_rows(self.index.parts[number])
        return self._live[number]

    def files(self, after: str | None = None) -> Iterator[LiveFile]:
        """Live files behind a key, in order."""
        return heapq.merge(*(self._files_of(number, after) for number in self.parts))

    def find(self, path: str) -> LiveFile | None:
        """A live file by its path."""
        for number in self.parts:
            row = self.part(number).find(path)
            if row is not None and self.live(number)[row]:
                return LiveFile(path_key(path), number, row)
        return None

    def row_count(self, file: LiveFile) -> int | None:
        """How many rows a file has."""
        count: int | None = self.part(file.part).core.column("row_count")[file.row].as_py()
        return count

    def deleted(self, file: LiveFile) -> Deleted:
        """The deletes that apply to a file, and what they leave of it."""
        found = self.deleted_at(file.part, file.row)
        return Deleted([], self.row_count(file)) if found is None else found

    def deleted_at(self, part: int, row: int) -> Deleted | None:
        """The same of a row; None where no deletes apply."""
        deletes = self._deletes
        wanted = part << 32 | row
        at = int(np.searchsorted(deletes.places, wanted))
        if at == len(deletes.places) or deletes.places[at] != wanted:
            return None
        numbers = deletes.delete_files[deletes.offsets[at] : deletes.offsets[at + 1]]
        live = int(deletes.live_row_counts[at])
        return Deleted(numbers.tolist(), None if live < 0 else live)

    def delete_files(self) -> Iterator[ScanFile]:
        """The snapshot's delete files; files speak of them by number."""
        if self.index.HasField("delete_files"):
            for frame in read_frames(self._blobs, blob_ref(self.index.delete_files)):
                yield ScanFile.FromString(frame.content)

    def known_deletes(self) -> Mapping[int, DeleteUse]:
        """The delete files whose positions are known, by number."""
        if not self.index.HasField("known_deletes"):
            return {}
        reader = open_arrow(self._blobs, blob_ref(self.index.known_deletes))
        if not reader.schema.equals(KNOWN_DELETES):
            raise DataLossError(f"{self.index.known_deletes.uri} isn't laid out as known deletes")
        segments = list(self.index.delete_segments)
        numbers = (reader.read_all().column(name).to_pylist() for name in KNOWN_DELETES.names)
        return {
            delete_file: DeleteUse(segments[segment], file)
            for delete_file, segment, file in zip(*numbers, strict=True)
        }

    def segments(self) -> Iterator[HeldSegment]:
        """The segments that live files and the positions of deletes are known from, each once."""
        seen: set[str] = set()
        for held in self._held():
            if held.manifest.sha256 not in seen:
                seen.add(held.manifest.sha256)
                yield held

    def _held(self) -> Iterator[HeldSegment]:
        for number in self.parts:
            part = self.part(number)
            yield from (part.part.segments[used] for used in self._used(number))
        yield from self.index.delete_segments

    def blobs(self) -> Iterator[BlobReference]:
        """Every blob that the index consists of, besides its manifest."""
        for number in self.parts:
            yield self.index.parts[number].part
            yield from self.part(number).blobs()
        for name in ("delete_files", "deletes", "known_deletes"):
            if self.index.HasField(name):
                yield getattr(self.index, name)

    def _used(self, number: int) -> list[int]:
        lists = self.part(number).core.column("segments").filter(pa.array(self.live(number)))
        used = lists.flatten().field("segment").to_numpy(zero_copy_only=False)
        return [int(number) for number in np.unique(used)]

    def _files_of(self, number: int, after: str | None) -> Iterator[LiveFile]:
        part = self.part(number)
        live = self.live(number)
        paths = part.core.column("path")
        for start in range(part.after(after), part.part.rows, _SLICE):
            for row, path in enumerate(paths.slice(start, _SLICE).to_pylist(), start):
                if live[row]:
                    yield LiveFile(path_key(path), number, row)

    @cached_property
    def _deletes(self) -> "_Deletes":
        table = DELETES.empty_table()
        if self.index.HasField("deletes"):
            table = open_arrow(self._blobs, blob_ref(self.index.deletes)).read_all()
        return _Deletes.of(table.combine_chunks())


@dataclass(frozen=True, slots=True)
class _Deletes:
    """The files that deletes apply to, in the order of their places."""

    places: Numbers
    offsets: Numbers
    delete_files: Numbers
    live_row_counts: Numbers
    """Below zero where it isn't known."""

    @classmethod
    def of(cls, table: pa.Table) -> "_Deletes":
        parts = table.column("part").to_numpy().astype(np.int64)
        sizes = pc.list_value_length(table.column("delete_files")).to_numpy()
        return cls(
            places=parts << 32 | table.column("row").to_numpy(),
            offsets=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
            delete_files=pc.list_flatten(table.column("delete_files")).to_numpy(),
            live_row_counts=table.column("live_row_count").fill_null(-1).to_numpy(),
        )


def live_rows(part: LivePart) -> Bits:
    """The rows that a snapshot sees of a part."""
    if not part.live:
        return np.ones(part.rows, np.bool_)
    packed = np.frombuffer(part.live, np.uint8)
    if len(packed) * 8 < part.rows:
        raise DataLossError("the live rows of an index part aren't all told")
    return np.unpackbits(packed, count=part.rows, bitorder="little").astype(np.bool_)


def live_part(part: BlobReference, live: Bits) -> LivePart:
    """A part as a snapshot sees it."""
    everything = bool(live.all())
    return LivePart(
        part=part,
        rows=len(live),
        live_rows=int(live.sum()),
        live=b"" if everything else np.packbits(live, bitorder="little").tobytes(),
    )
