"""Records of columns: how much of the snapshot they were made from."""

import numpy as np
from google.protobuf.timestamp_pb2 import Timestamp

from ai.floedb.floecat.catalog.stats_pb2 import NM_ESTIMATE, TargetStatsRecord
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.execution.stored_pb2 import ColumnCoverage
from floecat.artifacts.columns import ColumnRow
from floecat.sketches.frequencies import FrequencySketch
from floecat.sketches.hashing import hash_integers
from floecat.sketches.theta import ThetaSketch
from floecat.statistics.merging import MergedColumn
from floecat.statistics.records import CaptureOrigin, FilesSeen, SnapshotRecords

ORIGIN = CaptureOrigin(
    table_id=ResourceId(id="t"), snapshot_id=1, generation=1, job_id="j", captured_at=Timestamp()
)


def row(values: int, seen: int | None = None) -> ColumnRow:
    """A column with so many values, all different, of which some were seen."""
    hashes = hash_integers(np.arange(values if seen is None else seen, dtype=np.int64), 8)
    return ColumnRow(
        value_count=values,
        null_count=0,
        rows_seen=values if seen is None else seen,
        theta=ThetaSketch.of(hashes).to_bytes(),
        frequencies=FrequencySketch.of({"1": 1}).to_bytes(),
    )


def record(column: ColumnRow, *, failed: int = 0) -> TargetStatsRecord:
    """Of a snapshot of ten rows that can be read, and some that can't."""
    seen = FilesSeen()
    seen.add(10, failed=False)
    if failed:
        seen.add(failed, failed=True)
    merged = MergedColumn(ColumnCoverage(column_id=1, name="c"), column)
    [found] = SnapshotRecords(ORIGIN, seen).columns([merged])
    return found


def rows_seen(record: TargetStatsRecord) -> tuple[int, int]:
    return record.metadata.coverage.rows_seen, record.metadata.coverage.rows_total


def test_a_column_with_a_value_in_every_row() -> None:
    assert rows_seen(record(row(10))) == (10, 10)
    assert rows_seen(record(row(10, seen=4))) == (4, 10)
    partly = record(row(10), failed=5)
    assert rows_seen(partly) == (10, 15)
    assert (partly.scalar.ndv.rows_seen, partly.scalar.ndv.rows_total) == (10, 15)


def test_rows_are_no_values_where_a_row_has_many() -> None:
    for values in (35, 3):
        found = record(row(values))
        assert rows_seen(found) == (10, 10)
        assert found.scalar.value_count == values
        assert (found.scalar.ndv.rows_seen, found.scalar.ndv.rows_total) == (values, values)
    sampled = record(row(35, seen=7))
    assert not sampled.metadata.coverage.HasField("rows_seen")


def test_lists_in_files_that_cant_be_read_have_nobody_knows_how_many_values() -> None:
    found = record(row(35), failed=5)
    assert rows_seen(found) == (10, 15)
    assert not found.scalar.HasField("value_count")
    ndv = found.scalar.ndv
    assert ndv.method == NM_ESTIMATE
    assert ndv.approx.lower_bound == 35
    assert not ndv.approx.HasField("upper_bound")
    assert not found.scalar.frequent_items
