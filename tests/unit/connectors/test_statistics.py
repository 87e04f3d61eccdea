"""Statistics of columns and tables, merged from those of files, against doing it the long way."""

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from ai.floedb.floecat.catalog.stats_pb2 import (
    FileColumnStats,
    Ndv,
    NdvMethod,
    ScalarStats,
    TargetStatsRecord,
)
from ai.floedb.floecat.execution.scan_pb2 import ScanFile, ScanFileContent
from floecat.connectors.planner import StatisticsPlanner
from floecat.connectors.spi.columns import NumberedColumn, SourceColumn
from floecat.connectors.spi.emitter import StatsProtoEmitter
from floecat.connectors.spi.ndv import (
    ChainedNdvProvider,
    ColumnNdv,
    FilteringNdvProvider,
    NdvProvider,
    NdvSketch,
    StaticOnceNdvProvider,
)
from floecat.connectors.spi.records import ScanBundle
from floecat.connectors.spi.statistics import GenericStatsEngine
from floecat.connectors.spi.totals import CountedPositions, SnapshotTotals
from floecat.types import logical as types

SOURCE = SourceColumn(path=("n",), logical_type=types.INT, source_id=7)
COLUMN = NumberedColumn(7, SOURCE)


@dataclass
class Known:
    """A file's values, and what its metadata tells of them."""

    values: list[int | None]
    counts: bool = True
    bounds: bool = True
    tight: bool = True

    def file(self, number: int) -> ScanFile:
        present = [value for value in self.values if value is not None]
        scalar = ScalarStats()
        if self.counts:
            scalar.value_count = len(self.values)
            scalar.null_count = len(self.values) - len(present)
        if self.bounds and present:
            slack = 0 if self.tight else 5
            scalar.min, scalar.min_tight = str(min(present) - slack), self.tight
            scalar.max, scalar.max_tight = str(max(present) + slack), self.tight
        return ScanFile(
            file_path=f"file:/t/{number}",
            file_size_bytes=100,
            record_count=len(self.values),
            content=ScanFileContent.SFC_DATA,
            columns=[FileColumnStats(column_id=7, scalar=scalar)],
        )


def capture(
    files: Sequence[ScanFile], deletes: Sequence[ScanFile] = (), ndv: NdvProvider | None = None
) -> list[TargetStatsRecord]:
    bundle = ScanBundle(
        snapshot_id=1,
        schema_json="",
        columns=(SOURCE,),
        delete_files=tuple(deletes),
        data_files=list(files),
    )
    return list(GenericStatsEngine(StatsProtoEmitter("here", 1), ndv).capture(bundle, [COLUMN]))


values = st.lists(st.none() | st.integers(-20, 20), max_size=6)
known = st.builds(Known, values, st.booleans(), st.booleans(), st.booleans())


@given(st.lists(known, max_size=6))
def test_merged_bounds_contain_and_counts_add_up(files: list[Known]) -> None:
    *_, column, table = capture([known.file(number) for number, known in enumerate(files)])
    everything = [value for known in files for value in known.values]
    present = [value for value in everything if value is not None]
    filled = [known for known in files if known.values]
    assert table.table.row_count == table.table.live_row_count == len(everything)
    merged = column.scalar
    if merged.HasField("null_count"):
        assert merged.null_count == len(everything) - len(present)
    assert merged.HasField("null_count") == all(known.counts for known in filled)
    if merged.HasField("min"):
        assert int(merged.min) <= min(present)
        assert int(merged.max) >= max(present)
        assert not merged.min_tight or int(merged.min) == min(present)
        assert not merged.max_tight or int(merged.max) == max(present)
    complete = all(known.counts and known.bounds for known in filled)
    assert not complete or merged.HasField("min") == bool(present)


def delete(content: "ScanFileContent.ValueType", rows: int) -> ScanFile:
    return ScanFile(file_path="file:/d", file_size_bytes=10, content=content, record_count=rows)


def deleted_by(*indexes: int) -> ScanFile:
    file = Known([1, 2, 3, 4]).file(0)
    file.delete_file_indexes.extend(indexes)
    return file


def test_a_deletion_vector_makes_live_rows_exact() -> None:
    vector = delete(ScanFileContent.SFC_DELETION_VECTOR, 3)
    file, *_, table = capture([deleted_by(0)], [vector])
    assert file.file.live_row_count == 1
    assert (table.table.live_row_count, table.table.live_row_count_exact) == (1, True)
    assert (table.table.delete_file_count, table.table.delete_size_bytes) == (1, 10)


def test_position_deletes_give_an_estimate_and_equality_deletes_none() -> None:
    position = delete(ScanFileContent.SFC_POSITION_DELETES, 1)
    equality = delete(ScanFileContent.SFC_EQUALITY_DELETES, 2)
    file, *_, table = capture([deleted_by(0, 1)], [position, equality])
    assert not file.file.HasField("live_row_count")
    assert (table.table.live_row_count, table.table.live_row_count_exact) == (3, False)


def totals_of(deletes: Sequence[ScanFile]) -> SnapshotTotals:
    """Three files of four rows: one with every delete, one with the first, one with none."""
    totals = SnapshotTotals(deletes)
    for file in (deleted_by(*range(len(deletes))), deleted_by(0), deleted_by()):
        totals.add(file, 4)
    return totals


def counted(*numbers: int, taken: int, complete: bool) -> CountedPositions:
    return CountedPositions(delete_files=numbers, taken=taken, is_complete=complete)


def test_positions_that_were_counted_make_live_rows_exact() -> None:
    position = delete(ScanFileContent.SFC_POSITION_DELETES, 7)
    totals = totals_of([position, position])
    assert len(totals.unread()) == 2
    assert totals.unread({0, 1}) == []
    value = totals.result(counted(0, 1, taken=5, complete=True))
    assert (value.row_count, value.live_row_count, value.live_row_count_exact) == (12, 7, True)
    estimate = totals.result()
    assert (estimate.live_row_count, estimate.live_row_count_exact) == (0, False)


def test_what_wasnt_counted_is_taken_off_as_it_is_listed() -> None:
    positions = [delete(ScanFileContent.SFC_POSITION_DELETES, rows) for rows in (2, 3)]
    value = totals_of(positions).result(counted(0, taken=2, complete=False))
    assert (value.live_row_count, value.live_row_count_exact) == (7, False)
    equality = delete(ScanFileContent.SFC_EQUALITY_DELETES, 9)
    vector = delete(ScanFileContent.SFC_DELETION_VECTOR, 1)
    mixed = totals_of([vector, positions[0], equality])
    value = mixed.result(counted(1, taken=2, complete=False))
    assert (value.live_row_count, value.live_row_count_exact) == (8, False)


def test_live_rows_that_are_known_before_are_believed() -> None:
    totals = SnapshotTotals([delete(ScanFileContent.SFC_POSITION_DELETES, 9)])
    assert totals.add(deleted_by(0), 4, live=1) == 1
    assert totals.add(deleted_by(0), 4) is None
    value = totals.result(counted(0, taken=2, complete=True))
    assert (value.live_row_count, value.live_row_count_exact) == (3, True)


def test_deletes_that_apply_to_nothing_dont_count() -> None:
    *_, table = capture([Known([1]).file(0)], [delete(ScanFileContent.SFC_EQUALITY_DELETES, 2)])
    assert table.table.delete_file_count == 0
    assert table.table.live_row_count_exact


def test_ndv_comes_from_the_first_provider_that_knows() -> None:
    def exactly(count: int, sketch: NdvSketch | None = None) -> StaticOnceNdvProvider:
        ndv = Ndv(exact=count, method=NdvMethod.NM_PUFFIN)
        return StaticOnceNdvProvider({7: ColumnNdv(ndv, sketch)})

    chain = ChainedNdvProvider(
        [FilteringNdvProvider(exactly(1), {8}), exactly(2, NdvSketch("theta", b"xyz"))]
    )
    *_, column, _table = capture([Known([1]).file(0)], ndv=chain)
    assert column.scalar.ndv.exact == 2
    assert [(s.type, s.data, s.size_bytes) for s in column.scalar.sketches] == [
        ("theta", b"xyz", 3)
    ]
    assert chain.find_ndv(7) is None, "it was handed out once"


def test_the_planner_completes_files_from_records() -> None:
    with_stats, without = Known([1, 2]).file(0), ScanFile()
    without.CopyFrom(with_stats)
    del without.columns[:]
    bundle = ScanBundle(
        snapshot_id=1, schema_json="", columns=(SOURCE,), delete_files=(), data_files=[without]
    )
    record = StatsProtoEmitter("here", 1).file(with_stats)
    planned = StatisticsPlanner().plan(bundle, [record])
    assert list(planned.data_files) == list(planned.data_files) == [with_stats]
    elsewhere = ScanFile(file_path=with_stats.file_path, content=ScanFileContent.SFC_DATA)
    other = StatsProtoEmitter("here", 1).file(elsewhere)
    other.file.identity.size_bytes = 7
    assert list(StatisticsPlanner().plan(bundle, [other]).data_files) == [without]
