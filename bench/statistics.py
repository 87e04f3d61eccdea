"""The scan index and the statistics of many files: built, opened, searched, listed, built again.

`FILES=1000000` in the environment measures what a large table takes; a tenth of it is the default.
Segments are made as a capture leaves them, 128 files each, without sketches: what is measured is
the index, not the sketches.
"""

import os
import resource
import time
from collections.abc import Iterator

import pyarrow.compute as pc

from ai.floedb.floecat.catalog.stats_pb2 import FC_DATA, FileIdentity, FileTargetStats
from ai.floedb.floecat.common import common_pb2
from ai.floedb.floecat.common.common_pb2 import BlobReference, ResourceId
from ai.floedb.floecat.execution.scan_pb2 import SFC_DATA, ScanFile
from ai.floedb.floecat.execution.stored_pb2 import (
    ColumnCoverage,
    CoverageShape,
    HeldSegment,
    SegmentFile,
    SegmentManifest,
    SegmentPart,
)
from ai.floedb.floecat.reconciler.stored_pb2 import FinalSnapshot
from ai.floedb.floecat.statistics.statistics_pb2 import STK_FILE
from bench.report import Measurement, Report
from floecat.artifacts.columns import ColumnRow
from floecat.artifacts.index.building import ScanIndexBuilder
from floecat.artifacts.index.covered import CoveredFiles
from floecat.artifacts.index.deletes import FileDeletes
from floecat.artifacts.index.reading import ScanIndexFile
from floecat.artifacts.index.rows import NewRow, SegmentUse
from floecat.artifacts.opened import OpenedSegments
from floecat.artifacts.payloads import reference
from floecat.artifacts.segments import write_columns, write_manifest
from floecat.artifacts.statistics import write_statistics
from floecat.artifacts.targets import StatsTargetIdentity
from floecat.catalog import keys
from floecat.catalog.records import CatalogStores
from floecat.statistics.merging import SnapshotMerge
from floecat.statistics.repository import StatsRepository
from floecat.statistics.store import SnapshotPlace, StatsQuery
from floecat.storage.blobs.memory import MemoryBlobStore
from floecat.storage.blobs.port import BlobStore
from floecat.storage.kv.memory import MemoryKeyValueStore
from floecat.storage.kv.port import ANY, Put
from floecat.types.logical import INT
from floecat.types.messages import to_message

FILES = int(os.environ.get("FILES", "100000"))
PER_SEGMENT = 128
COLUMNS = 3
PAGE = 1000
TABLE = ResourceId(account_id="acme", id="orders", kind=common_pb2.RK_TABLE)
SHAPE = CoverageShape(
    columns=[
        ColumnCoverage(column_id=number, name=f"c{number}", logical_type=to_message(INT))
        for number in range(1, COLUMNS + 1)
    ]
)


def identity(number: int) -> FileIdentity:
    # As writers name files: a partition, then something random.
    scattered = number * 2654435761 % 2**32
    path = f"s3://lake/orders/day={number % 365:03}/part-{scattered:08x}-{number:07}.parquet"
    return FileIdentity(file_path=path, size_bytes=1000 + number, format_mark="7")


def segments(blobs: BlobStore) -> list[tuple[range, HeldSegment]]:
    starts = range(0, FILES, PER_SEGMENT)
    groups = [range(start, min(start + PER_SEGMENT, FILES)) for start in starts]
    return [(numbers, segment(blobs, numbers)) for numbers in groups]


def new_rows(captured: list[tuple[range, HeldSegment]]) -> Iterator[NewRow]:
    for numbers, held in captured:
        for place, number in enumerate(numbers):
            named = identity(number)
            yield NewRow(
                identity=named,
                scan_file=ScanFile(
                    file_path=named.file_path,
                    file_size_bytes=named.size_bytes,
                    record_count=1000,
                    file_format="parquet",
                    content=SFC_DATA,
                    format_mark="7",
                ),
                row_count=1000,
                uses=[SegmentUse(held, place, SHAPE)],
            )


def segment(blobs: BlobStore, numbers: range) -> HeldSegment:
    prefix = f"captures/acme/{numbers[0]:08}/1"
    rows: list[ColumnRow | None] = [
        ColumnRow(value_count=1000, null_count=1, minimum=str(n), maximum=str(n + 1000))
        for n in numbers
    ]
    columns = dict.fromkeys(range(1, COLUMNS + 1), rows)
    part = SegmentPart(columns=reference(write_columns(blobs, f"{prefix}/parts/0", columns)))
    for number in numbers:
        stats = FileTargetStats(identity=identity(number), content=FC_DATA, row_count=1000)
        part.files.append(SegmentFile(stats=stats))
    total = ColumnRow(
        value_count=1000 * len(numbers),
        null_count=len(numbers),
        minimum=str(numbers[0]),
        maximum=str(numbers[-1] + 1000),
    )
    partials = {column: [total] for column in columns}
    manifest = SegmentManifest(
        segment_id=prefix, table_id=TABLE, blob_prefix=prefix, shapes=[SHAPE], parts=[part]
    )
    manifest.partials.CopyFrom(reference(write_columns(blobs, f"{prefix}/partials", partials)))
    written = write_manifest(blobs, manifest)
    return HeldSegment(segment_id=prefix, manifest=written.manifest, blob_prefix=prefix)


def measure() -> Report:
    return list(_measured())


def _measured() -> Iterator[Measurement]:
    blobs = MemoryBlobStore()
    opened = OpenedSegments(blobs)
    captured = segments(blobs)
    before = _peak_mb()
    start = time.perf_counter()
    builder = ScanIndexBuilder(blobs, "captures/acme/first/1", opened.open)
    for row in new_rows(captured):
        builder.add(row, FileDeletes())
    first = builder.finish(TABLE, 1, [])
    yield Measurement("build, files/s", FILES / (time.perf_counter() - start), "files/s")
    yield Measurement("build, memory", _peak_mb() - before, "MB")
    start = time.perf_counter()
    index = ScanIndexFile.open(blobs, first)
    merged = list(SnapshotMerge(index, opened.open).columns())
    yield Measurement("merge columns by partials", time.perf_counter() - start, "s")
    assert merged[0].row.value_count == 1000 * FILES
    yield from _comparing(blobs, first)
    yield from _covering(blobs, first)
    yield from _listing(blobs, first)
    yield from _appending(blobs, opened, first)
    blobs.close()


def _comparing(blobs: BlobStore, first: BlobReference) -> Iterator[Measurement]:
    """What pruning by one column takes: which files may have a number."""
    index = ScanIndexFile.open(blobs, first)
    start = time.perf_counter()
    opened = [index.part(number).bounds(1) for number in index.parts]
    yield Measurement("open a column's bounds", 1000 * (time.perf_counter() - start), "ms")
    start = time.perf_counter()
    found = 0
    for bounds in opened:
        assert bounds is not None
        fits = pc.and_(
            pc.less_equal(bounds.field("minimum"), FILES // 2),
            pc.greater_equal(bounds.field("maximum"), FILES // 2),
        )
        found += pc.sum(fits).as_py()
    yield Measurement("compare all of them", 1000 * (time.perf_counter() - start), "ms")
    assert found == 1001


def _covering(blobs: BlobStore, first: BlobReference) -> Iterator[Measurement]:
    start = time.perf_counter()
    covered = CoveredFiles.open(blobs, first)
    yield Measurement("open for reuse", 1000 * (time.perf_counter() - start), "ms")
    sample = [identity(number) for number in range(0, FILES, max(1, FILES // 20_000))]
    start = time.perf_counter()
    assert all(covered.find(one) for one in sample)
    yield Measurement("find by identity", 1e6 * (time.perf_counter() - start) / len(sample), "µs")


def _listing(blobs: BlobStore, first: BlobReference) -> Iterator[Measurement]:
    stores = CatalogStores(MemoryKeyValueStore(), blobs)
    stats = write_statistics(blobs, "captures/acme/first/1/statistics", [])
    final = FinalSnapshot(index=first, stats=reference(stats))
    key = keys.final("acme", "orders", 1)
    stores.kv.commit([Put(key, final.SerializeToString(), ANY)])
    place = SnapshotPlace("acme", "orders", 1)
    repository = StatsRepository(stores)
    start = time.perf_counter()
    assert repository.count(place, STK_FILE) == FILES
    yield Measurement("count files", 1000 * (time.perf_counter() - start), "ms")
    for columns, name in ((frozenset({1}), "one column"), (frozenset[int](), "every column")):
        query = StatsQuery(kind=STK_FILE, column_ids=columns)
        after = None
        times = []
        for _ in range(5):
            start = time.perf_counter()
            page = _page(repository, place, query, after)
            times.append(time.perf_counter() - start)
            after = page[-1]
        yield Measurement(f"a page of {PAGE} files, {name}", 1000 * min(times), "ms")
        middle = f"file/{sorted(identity(n).file_path for n in range(1000))[500]}"
        start = time.perf_counter()
        _page(repository, place, query, middle)
        yield Measurement(
            f"the same from the middle, {name}", 1000 * (time.perf_counter() - start), "ms"
        )


def _page(
    repository: StatsRepository, place: SnapshotPlace, query: StatsQuery, after: str | None
) -> list[str]:
    found = []
    for record in repository.list(place, query, after):
        found.append(StatsTargetIdentity.storage_id(record.target))
        if len(found) == PAGE:
            break
    return found


def _appending(
    blobs: BlobStore, opened: OpenedSegments, first: BlobReference
) -> Iterator[Measurement]:
    base = ScanIndexFile.open(blobs, first)
    covered = CoveredFiles(base)
    start = time.perf_counter()
    builder = ScanIndexBuilder(blobs, "captures/acme/second/1", opened.open, base)
    for number in range(FILES - 20):
        named = identity(number)
        found = covered.find(named)
        assert found is not None
        builder.keep(named, found.part, found.row, FileDeletes())
    builder.finish(TABLE, 2, [])
    yield Measurement("build again, 20 files less", time.perf_counter() - start, "s")
    yield Measurement("… written anew", _size(blobs) / 1024, "KiB")


def _size(blobs: BlobStore) -> int:
    return sum(blob.size for blob in blobs.list("captures/acme/second", limit=1_000_000))


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
