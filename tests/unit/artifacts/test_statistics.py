"""The statistics of a snapshot in one blob: found by target, sketches only when asked for."""

from ai.floedb.floecat.catalog.stats_pb2 import (
    FileColumnStats,
    FileTargetStats,
    ScalarStats,
    Sketch,
    TableValueStats,
    TargetStatsRecord,
)
from ai.floedb.floecat.statistics.statistics_pb2 import (
    ColumnStatsTarget,
    FileStatsTarget,
    StatsTarget,
    TableStatsTarget,
)
from floecat.artifacts.statistics import StatisticsFile, write_statistics
from floecat.artifacts.targets import StatsTargetIdentity
from floecat.storage.blobs.memory import MemoryBlobStore

SCALAR = ScalarStats(null_count=1, sketches=[Sketch(type="theta", data=bytes(1000))])
TABLE = TargetStatsRecord(
    target=StatsTarget(table=TableStatsTarget()), table=TableValueStats(row_count=3)
)
COLUMNS = [
    TargetStatsRecord(target=StatsTarget(column=ColumnStatsTarget(column_id=number)), scalar=SCALAR)
    for number in (11, 2, 100)
]
FILE = TargetStatsRecord(
    target=StatsTarget(file=FileStatsTarget(file_path="a")),
    file=FileTargetStats(columns=[FileColumnStats(column_id=1, scalar=SCALAR)]),
)


def test_records_are_found_and_listed_by_target() -> None:
    blobs = MemoryBlobStore()
    read = StatisticsFile(blobs, write_statistics(blobs, "stats", [TABLE, *COLUMNS, FILE]))
    order = [COLUMNS[1], COLUMNS[0], COLUMNS[2], FILE, TABLE]
    assert list(read.list(sketches=True)) == order
    for record in order:
        key = StatsTargetIdentity.storage_id(record.target)
        assert read.find(key, sketches=True) == record
    assert read.find("column/0000000003") is None


def test_without_being_asked_sketches_say_only_how_large_they_are() -> None:
    blobs = MemoryBlobStore()
    read = StatisticsFile(blobs, write_statistics(blobs, "stats", [TABLE, *COLUMNS, FILE]))
    column = read.find("column/0000000002")
    file = read.find("file/a")
    assert column is not None
    assert file is not None
    for scalar in (column.scalar, file.file.columns[0].scalar):
        assert scalar.null_count == 1
        assert [(s.type, s.data, s.size_bytes) for s in scalar.sketches] == [("theta", b"", 1000)]
    assert COLUMNS[1].scalar.sketches[0].data, "what was written isn't changed"
