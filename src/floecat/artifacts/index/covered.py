"""CoveredFiles: what an index already knows, for whoever plans what is still to be read."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ai.floedb.floecat.catalog.stats_pb2 import FileIdentity
from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.execution.scan_pb2 import SFC_POSITION_DELETES, ScanFile
from ai.floedb.floecat.execution.stored_pb2 import CoverageShape, HeldSegment
from floecat.artifacts.index.layout import identity_hash
from floecat.artifacts.index.reading import ScanIndexFile
from floecat.artifacts.index.rows import DeleteUse
from floecat.storage.blobs.port import BlobStore


class Covered(NamedTuple):
    """A file that something is known of: where it lies in the index, and what is known."""

    part: int
    row: int
    segments: Sequence[str]
    """Their ids, oldest first."""
    shapes: Sequence[CoverageShape]
    """What each of them learnt. Most files share them, so they can be told apart by identity."""


class CoveredFiles:
    """Finds files by identity. Sixteen bytes per file are in memory; the rest is mapped."""

    def __init__(self, index: ScanIndexFile) -> None:
        self._index = index
        hashes: list[np.ndarray[Any, np.dtype[np.uint64]]] = []
        places: list[np.ndarray[Any, np.dtype[np.int64]]] = []
        for number in index.parts:
            core = index.part(number).core
            known = index.live(number) & core.column("failure").is_null().to_numpy(False)
            rows = np.nonzero(known)[0].astype(np.int64)
            hashes.append(core.column("identity").to_numpy()[rows])
            places.append(np.int64(number) << 32 | rows)
        joined = np.concatenate(hashes) if hashes else np.empty(0, np.uint64)
        order = np.argsort(joined, kind="stable")
        self._hashes = joined[order]
        self._places = (np.concatenate(places) if places else np.empty(0, np.int64))[order]
        self._shapes: dict[int, list[CoverageShape]] = {}

    @classmethod
    def open(cls, blobs: BlobStore, index: BlobReference) -> "CoveredFiles":
        """What the index at a reference knows."""
        return cls(ScanIndexFile.open(blobs, index))

    def __len__(self) -> int:
        return len(self._hashes)

    def find(self, identity: FileIdentity) -> Covered | None:
        """What is known of a file; None of one that is new, or couldn't be read before."""
        wanted = np.uint64(identity_hash(identity))
        at = int(self._hashes.searchsorted(wanted))
        while at < len(self._hashes) and self._hashes[at] == wanted:
            place = int(self._places[at])
            part, row = place >> 32, place & 0xFFFFFFFF
            # Size and mark are in the hash; paths are compared, for hashes may be equal by chance.
            if self._index.part(part).path(row) == identity.file_path:
                return self._covered(part, row)
            at += 1
        return None

    def uses(self, found: Covered) -> Iterator[tuple[HeldSegment, int]]:
        """The segments that know a file, oldest first, each with the file's number there."""
        part = self._index.part(found.part)
        return ((part.segment(use), use.file) for use in part.uses(found.row))

    def _covered(self, number: int, row: int) -> Covered:
        part = self._index.part(number)
        if number not in self._shapes:
            self._shapes[number] = list(part.part.shapes)
        uses = part.uses(row)
        return Covered(
            part=number,
            row=row,
            segments=[part.segment(use).segment_id for use in uses],
            shapes=[self._shapes[number][use.shape] for use in uses],
        )


IdentityKey = tuple[str, int, str]


def identity_of(file: ScanFile) -> FileIdentity:
    """What tells a file from every other."""
    return FileIdentity(
        file_path=file.file_path, size_bytes=file.file_size_bytes, format_mark=file.format_mark
    )


def identity_key(identity: FileIdentity) -> IdentityKey:
    """The same, to look it up by."""
    return identity.file_path, identity.size_bytes, identity.format_mark


class CoveredDeletes:
    """Finds files of position deletes by identity. They are all in memory, as plans have them."""

    def __init__(self, index: ScanIndexFile) -> None:
        self._numbers = {
            identity_key(identity_of(file)): number
            for number, file in enumerate(index.delete_files())
            if file.content == SFC_POSITION_DELETES
        }
        self._known = index.known_deletes()

    def find(self, identity: FileIdentity) -> DeleteUse | None:
        """The segment that knows a delete file's positions; None if none does."""
        return self._known.get(self._numbers.get(identity_key(identity), -1))

    def number(self, identity: FileIdentity) -> int | None:
        """What number the delete file has in the index, whether its positions are known or not."""
        return self._numbers.get(identity_key(identity))
