"""Records of statistics in the order of their targets; the bytes of sketches lie apart."""

from collections.abc import Iterable, Iterator

from ai.floedb.floecat.catalog.stats_pb2 import Sketch, TargetStatsRecord
from ai.floedb.floecat.execution.stored_pb2 import SortedEntry
from floecat.artifacts.sorted import SortedRecord, SortedRecords, write_sorted
from floecat.artifacts.targets import StatsTargetIdentity
from floecat.storage.blobs.port import BlobRef, BlobStore


def to_sorted(record: TargetStatsRecord) -> SortedRecord:
    """A record under its storage id; with its sketches' bytes it lies apart, and whole."""
    key = StatsTargetIdentity.storage_id(record.target)
    whole = record.SerializeToString(deterministic=True)
    bare = without_sketches(record)
    return SortedRecord(key, whole) if bare is record else SortedRecord(key, _bytes(bare), whole)


def from_sorted(
    records: SortedRecords, entry: SortedEntry, *, sketches: bool = False
) -> TargetStatsRecord:
    """The record again, with the bytes of its sketches if they are wanted."""
    wanted = records.read_extra(entry) if sketches and entry.extra_length else entry.record
    return TargetStatsRecord.FromString(wanted)


def without_sketches(record: TargetStatsRecord) -> TargetStatsRecord:
    """The record without the bytes of its sketches: a copy, or itself if it has none."""
    if not any(sketch.data for sketch in _sketches(record)):
        return record
    bare = TargetStatsRecord()
    bare.CopyFrom(record)
    for sketch in _sketches(bare):
        sketch.size_bytes = len(sketch.data) or sketch.size_bytes
        sketch.ClearField("data")
    return bare


def _sketches(record: TargetStatsRecord) -> Iterator[Sketch]:
    yield from record.scalar.sketches
    for column in record.file.columns:
        yield from column.scalar.sketches


def _bytes(record: TargetStatsRecord) -> bytes:
    return record.SerializeToString(deterministic=True)


def write_statistics(blobs: BlobStore, name: str, records: Iterable[TargetStatsRecord]) -> BlobRef:
    """Write the records of a snapshot; of each target one, in any order."""
    ordered = sorted(records, key=lambda record: StatsTargetIdentity.storage_id(record.target))
    with blobs.writer(name) as writer:
        write_sorted(writer, map(to_sorted, ordered))
    return writer.ref


class StatisticsFile:
    """The captured statistics of a snapshot's table and columns."""

    def __init__(self, blobs: BlobStore, ref: BlobRef) -> None:
        self.records = SortedRecords.in_blob(blobs, ref)

    def find(self, storage_id: str, *, sketches: bool = False) -> TargetStatsRecord | None:
        """What is known of a target."""
        entry = self.records.find(storage_id)
        return None if entry is None else from_sorted(self.records, entry, sketches=sketches)

    def list(self, *, sketches: bool = False) -> Iterator[TargetStatsRecord]:
        """Everything, in order."""
        for entry in self.records.entries():
            yield from_sorted(self.records, entry, sketches=sketches)
