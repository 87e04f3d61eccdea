"""What captures need: blobs that no record names one by one, because there are too many.

A finalized snapshot names a blob that lists its *holdings*: the segments that know its files, each
with everything below its prefix, and the blobs of its index. A job has what it wrote under its last
lease, for as long as there is a record of it: until then somebody may still name that. What was
written under earlier leases nobody can name any more.
"""

from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.execution.stored_pb2 import SnapshotHoldings, StoredOverlay
from ai.floedb.floecat.reconciler.stored_pb2 import FinalSnapshot, StoredJob
from floecat.storage.blobs.port import BlobRef, BlobStore
from floecat.storage.kv.port import Record

CAPTURES: Final = "captures/"
_REMEMBERED: Final = 32


@dataclass(frozen=True, slots=True)
class Held:
    """Blobs by name: single ones, and all that lie below a prefix."""

    names: frozenset[str] = frozenset()
    prefixes: frozenset[str] = frozenset()


_NOTHING: Final = Held()


class Holdings:
    """What records need beside the blobs that they name themselves."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._known: OrderedDict[str, Held] = OrderedDict()

    def of(self, record: Record) -> Held:
        """What a record needs. An error if that can't be told: then nothing may be collected."""
        match record.key.partition.partition("/")[0]:
            case "final":
                final = FinalSnapshot.FromString(record.value)
                return self._read(final.segments) if final.segments.uri else _NOTHING
            case "overlay":
                return self._of_overlay(StoredOverlay.FromString(record.value))
            case "job":
                job = StoredJob.FromString(record.value)
                prefix = f"{CAPTURES}{job.account_id}/{job.job_id}/{job.epoch}/"
                return Held(prefixes=frozenset({prefix}))
            case _:
                return _NOTHING

    def _of_overlay(self, stored: StoredOverlay) -> Held:
        found = [self._read(layer.holdings) for layer in stored.layers if layer.holdings.uri]
        return Held(names=frozenset().union(*(held.names for held in found)))

    def _read(self, reference: BlobReference) -> Held:
        held = self._known.get(reference.sha256)
        if held is None:
            ref = BlobRef(reference.uri, reference.sha256, reference.size_bytes)
            listed = SnapshotHoldings.FromString(self._blobs.read(ref))
            held = Held(
                names=frozenset(_name(blob.uri) for blob in listed.blobs),
                prefixes=frozenset(f"{segment.blob_prefix}/" for segment in listed.segments),
            )
            self._known[reference.sha256] = held
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return held


class CapturedBlobs:
    """Some blobs of captures, and which of them are needed."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = sorted(name for name in names if name.startswith(CAPTURES))
        self._held: set[str] = set()

    def take(self, held: Held) -> None:
        """Learn that something is needed."""
        if not self._names:
            return
        self._held.update(held.names)
        for prefix in held.prefixes:
            place = bisect_left(self._names, prefix)
            while place < len(self._names) and self._names[place].startswith(prefix):
                self._held.add(self._names[place])
                place += 1

    def is_held(self, name: str) -> bool:
        """Whether anybody needs a blob."""
        return name in self._held


def _name(uri: str) -> str:
    """A blob's name by its URI, wherever the store was when that was written."""
    return uri[max(0, uri.rfind(CAPTURES)) :]
