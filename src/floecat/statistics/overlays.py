"""Overlays: records that clients wrote about a snapshot, in layers; the newest one wins.

A stream of any length becomes one sorted layer, and visible with one small row. Layers are merged
when the newer ones have at least half as many records as the one below them, so that there are
few, and a record is written again only when its layer grows by half.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import chain, groupby
from typing import Final
from uuid import uuid4

from ai.floedb.floecat.common.common_pb2 import BlobReference
from ai.floedb.floecat.execution.stored_pb2 import (
    OverlayLayer,
    SnapshotHoldings,
    SortedEntry,
    StoredOverlay,
)
from floecat.artifacts.payloads import blob_ref, read_message, reference
from floecat.artifacts.sorted import SortedRecord, SortedRecords, write_sorted
from floecat.catalog.records import CatalogStores, first_meta, next_meta
from floecat.statistics.store import PreparedPut
from floecat.storage.blobs.port import BlobStore
from floecat.storage.kv.port import ABSENT, Key, Put

_INLINE_BYTES: Final = 64 * 1024
"""All layers together: what is in the row instead of in blobs."""
_RUN_BYTES: Final = 16 * 1024 * 1024
"""Records that are sorted in memory."""


class Layer:
    """One layer, opened."""

    def __init__(self, blobs: BlobStore, layer: OverlayLayer) -> None:
        self.stored = layer
        self.records = (
            SortedRecords.in_blob(blobs, blob_ref(layer.blob))
            if layer.HasField("blob")
            else SortedRecords.in_memory(layer.content)
        )


@dataclass(frozen=True, slots=True)
class LayeredEntry:
    """An entry, and the records that it is one of."""

    entry: SortedEntry
    records: SortedRecords


class Overlay:
    """What clients wrote about one snapshot."""

    def __init__(self, blobs: BlobStore, stored: StoredOverlay) -> None:
        self.stored = stored
        self.layers = [Layer(blobs, layer) for layer in stored.layers]

    def find(self, key: str) -> LayeredEntry | None:
        """The newest record of a key."""
        for layer in reversed(self.layers):
            entry = layer.records.find(key)
            if entry is not None:
                return LayeredEntry(entry, layer.records)
        return None

    def entries(self, after: str | None = None, start: str = "") -> Iterator[LayeredEntry]:
        """The newest record of each key, in order."""
        return newest([layer.records for layer in self.layers], after, start)


def newest(
    layers: Sequence[SortedRecords], after: str | None = None, start: str = ""
) -> Iterator[LayeredEntry]:
    """The records of several layers as one; of the same key the last layer's."""
    marked = [_marked(-place, records, after, start) for place, records in enumerate(layers)]
    ordered = heapq.merge(*marked, key=lambda found: (found[1].entry.key, found[0]))
    for _, same in groupby(ordered, key=lambda found: found[1].entry.key):
        yield next(same)[1]


def _marked(
    rank: int, records: SortedRecords, after: str | None, start: str
) -> Iterator[tuple[int, LayeredEntry]]:
    for entry in records.entries(after, start):
        yield rank, LayeredEntry(entry, records)


class Overlays:
    """Reads and writes overlays of one sort: statistics, or index artifacts."""

    def __init__(self, stores: CatalogStores) -> None:
        self._stores = stores
        self._blobs = stores.blobs

    def find(self, key: Key) -> Overlay | None:
        """What clients wrote, if they did."""
        record = self._stores.kv.get(key)
        return None if record is None else self._opened(record.value)

    def layer(
        self,
        account: str,
        records: Iterable[SortedRecord],
        needed: Iterable[BlobReference] = (),
    ) -> OverlayLayer:
        """Write records as a layer, in any order; of the same key the last one counts."""
        runs = [self._written(account, run) for run in _runs(records)]
        layer = runs[0] if len(runs) == 1 else self._merged(account, runs)
        holdings = SnapshotHoldings(blobs=needed)
        if holdings.blobs:
            layer.holdings.CopyFrom(self._held(account, holdings))
        return layer

    def laid(self, account: str, key: Key, layer: OverlayLayer) -> PreparedPut:
        """Put a layer over what is there, once the operations are committed."""
        record = self._stores.kv.get(key)
        before = StoredOverlay() if record is None else self._opened(record.value).stored
        stored = StoredOverlay(layers=self._compacted(account, [*before.layers, layer]))
        self._spill(account, stored)
        now = self._stores.now()
        meta = first_meta(stored, now) if record is None else next_meta(before.meta, stored, now)
        stored.meta.CopyFrom(meta)
        expected = ABSENT if record is None else record.version
        return PreparedPut(meta, (Put(key, stored.SerializeToString(), expected),))

    def _opened(self, value: bytes) -> Overlay:
        return Overlay(self._blobs, StoredOverlay.FromString(value))

    def _compacted(self, account: str, layers: list[OverlayLayer]) -> list[OverlayLayer]:
        taken = 1
        records = layers[-1].records
        while taken < len(layers) and layers[-taken - 1].records <= 2 * records:
            records += layers[-taken - 1].records
            taken += 1
        if taken == 1:
            return layers
        return [*layers[:-taken], self._merged(account, layers[-taken:])]

    def _merged(self, account: str, layers: Sequence[OverlayLayer]) -> OverlayLayer:
        """Layers as one, the newest last."""
        opened = [Layer(self._blobs, layer).records for layer in layers]
        found = (
            SortedRecord(one.entry.key, one.entry.record, one.records.read_extra(one.entry))
            for one in newest(opened)
        )
        merged = self._written(account, found)
        holdings = SnapshotHoldings()
        for layer in layers:
            if layer.HasField("holdings"):
                read = read_message(self._blobs, layer.holdings, SnapshotHoldings)
                holdings.blobs.extend(read.blobs)
        if holdings.blobs:
            merged.holdings.CopyFrom(self._held(account, holdings))
        return merged

    def _written(self, account: str, records: Iterable[SortedRecord]) -> OverlayLayer:
        """Sorted records: a few are kept as they are, many become a blob as they come."""
        waiting = iter(records)
        first: list[SortedRecord] = []
        size = 0
        for record in waiting:
            first.append(record)
            size += len(record.key) + len(record.record) + len(record.extra)
            if size > _INLINE_BYTES:
                return self._streamed(account, chain(first, waiting))
        content = BytesIO()
        count = write_sorted(content, first)
        return OverlayLayer(content=content.getvalue(), records=count)

    def _streamed(self, account: str, records: Iterable[SortedRecord]) -> OverlayLayer:
        with self._blobs.writer(f"records/{account}/{uuid4().hex}") as writer:
            count = write_sorted(writer, records)
        return OverlayLayer(blob=reference(writer.ref), records=count)

    def _spill(self, account: str, stored: StoredOverlay) -> None:
        """Move layers into blobs until the row is small."""
        for layer in stored.layers:
            if sum(len(other.content) for other in stored.layers) <= _INLINE_BYTES:
                return
            if layer.content:
                layer.blob.CopyFrom(self._stores.codec.spill(account, [layer.content]))
                layer.ClearField("content")

    def _held(self, account: str, holdings: SnapshotHoldings) -> BlobReference:
        content = holdings.SerializeToString(deterministic=True)
        return self._stores.codec.spill(account, [content])


def _runs(records: Iterable[SortedRecord]) -> Iterator[list[SortedRecord]]:
    """Records in pieces that fit into memory, each sorted; at least one."""
    held: dict[str, SortedRecord] = {}
    size = 0
    for record in records:
        held[record.key] = record
        size += len(record.key) + len(record.record) + len(record.extra)
        if size >= _RUN_BYTES:
            yield [held[key] for key in sorted(held)]
            held, size = {}, 0
    yield [held[key] for key in sorted(held)]
