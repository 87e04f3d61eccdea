"""What every StatsStore promises. A store of another package runs this class as well."""

from typing import Any

import pytest

from ai.floedb.floecat.catalog.stats_pb2 import (
    FileColumnStats,
    FileIdentity,
    FileTargetStats,
    FrequentItem,
    Ndv,
    NdvApprox,
    ScalarStats,
    Sketch,
    StatsMetadata,
    TableValueStats,
    TargetStatsRecord,
)
from ai.floedb.floecat.statistics.statistics_pb2 import (
    STK_COLUMN,
    STK_EXPRESSION,
    STK_FILE,
    STK_TABLE,
    ColumnStatsTarget,
    ExpressionStatsTarget,
    FileStatsTarget,
    StatsTarget,
    TableStatsTarget,
)
from floecat.artifacts.targets import StatsTargetIdentity
from floecat.errors import InvalidArgumentError, NotFoundError
from floecat.statistics.store import SnapshotPlace, StatsQuery, StatsStore

PLACE = SnapshotPlace("acme", "orders", 1)
SKETCHED = ScalarStats(null_count=2, sketches=[Sketch(type="theta", data=b"hashes")])


def table(rows: int) -> TargetStatsRecord:
    return TargetStatsRecord(
        target=StatsTarget(table=TableStatsTarget()), table=TableValueStats(row_count=rows)
    )


def column(number: int, scalar: ScalarStats = SKETCHED) -> TargetStatsRecord:
    return TargetStatsRecord(
        target=StatsTarget(column=ColumnStatsTarget(column_id=number)), scalar=scalar
    )


def file(path: str, *columns: int) -> TargetStatsRecord:
    return TargetStatsRecord(
        target=StatsTarget(file=FileStatsTarget(file_path=path)),
        file=FileTargetStats(
            identity=FileIdentity(file_path=path),
            columns=[FileColumnStats(column_id=number, scalar=SKETCHED) for number in columns],
        ),
    )


def scalar(**told: Any) -> TargetStatsRecord:
    return column(1, ScalarStats(**told))


def file_of(rows: int) -> TargetStatsRecord:
    record = file("a")
    record.file.row_count = rows
    return record


def expression(key: bytes) -> TargetStatsRecord:
    target = ExpressionStatsTarget(engine_kind="duckdb", engine_expression_key=key)
    return TargetStatsRecord(target=StatsTarget(expression=target), scalar=ScalarStats())


class StatsStoreContract:
    @pytest.fixture
    def store(self) -> StatsStore:
        raise NotImplementedError

    def ids(self, store: StatsStore, query: StatsQuery, after: str | None = None) -> list[str]:
        found = store.list(PLACE, query, after)
        return [StatsTargetIdentity.storage_id(record.target) for record in found]

    def test_what_was_put_is_got_with_its_metadata(self, store: StatsStore) -> None:
        record = table(3)
        record.metadata.CopyFrom(StatsMetadata(producer="us", attributes={"a": "b"}))
        store.put(PLACE, [record])
        found = store.get(PLACE, record.target)
        assert found.table.row_count == 3
        assert found.metadata == record.metadata
        assert found.table_id == PLACE.table
        assert found.snapshot_id == 1

    def test_what_nobody_put_isnt_found(self, store: StatsStore) -> None:
        for target in (
            table(1).target,
            column(1).target,
            file("a").target,
            expression(b"a").target,
        ):
            with pytest.raises(NotFoundError):
                store.get(PLACE, target)
        assert self.ids(store, StatsQuery()) == []
        assert store.count(PLACE) == 0
        assert store.metadata(PLACE) is None
        assert not store.delete(PLACE)

    def test_snapshots_tables_and_accounts_are_told_apart(self, store: StatsStore) -> None:
        places = [
            PLACE,
            SnapshotPlace("acme", "orders", 11),
            SnapshotPlace("acme", "items", 1),
            SnapshotPlace("other", "orders", 1),
            SnapshotPlace("acme", "orders", -1),
        ]
        for rows, place in enumerate(places):
            store.put(place, [table(rows)])
        for rows, place in enumerate(places):
            assert store.get(place, table(0).target).table.row_count == rows
            assert store.count(place) == 1
        assert store.delete(places[1])
        assert store.count(places[1]) == 0
        assert all(store.count(place) for place in (*places[:1], *places[2:]))

    def test_the_newest_record_of_a_target_counts(self, store: StatsStore) -> None:
        store.put(PLACE, [table(1), column(1)])
        store.put(PLACE, [table(2)])
        store.put(PLACE, [table(3), table(4)])
        assert store.get(PLACE, table(0).target).table.row_count == 4
        assert store.count(PLACE) == 2
        first = store.metadata(PLACE)
        store.put(PLACE, [table(4)])
        again = store.metadata(PLACE)
        assert first is not None
        assert again is not None
        assert again.version > first.version
        assert store.count(PLACE) == 2

    def test_records_come_in_the_order_of_their_targets(self, store: StatsStore) -> None:
        records = [file("b"), table(1), column(10), file("a"), expression(b"x"), column(2)]
        store.put(PLACE, records[:3])
        store.put(PLACE, records[3:])
        everything = self.ids(store, StatsQuery())
        assert everything == sorted(everything)
        assert len(everything) == 6
        for number, key in enumerate(everything):
            assert self.ids(store, StatsQuery(), key) == everything[number + 1 :]
        kinds = {STK_TABLE: 1, STK_COLUMN: 2, STK_FILE: 2, STK_EXPRESSION: 1}
        for kind, count in kinds.items():
            assert len(self.ids(store, StatsQuery(kind=kind))) == count
            assert store.count(PLACE, kind) == count
        files = self.ids(store, StatsQuery(kind=STK_FILE))
        assert self.ids(store, StatsQuery(kind=STK_FILE), files[0]) == files[1:]
        assert self.ids(store, StatsQuery(kind=STK_FILE), everything[0]) == files
        assert self.ids(store, StatsQuery(kind=STK_FILE), "table") == []

    def test_columns_are_chosen(self, store: StatsStore) -> None:
        store.put(PLACE, [table(1), column(1), column(2), file("a", 1, 2, 3)])
        query = StatsQuery(column_ids=frozenset({2, 3}))
        found = list(store.list(PLACE, query))
        assert [
            record.target.column.column_id for record in found if record.HasField("scalar")
        ] == [2]
        of_file = next(record for record in found if record.HasField("file"))
        assert [part.column_id for part in of_file.file.columns] == [2, 3]
        assert any(record.HasField("table") for record in found)

    def test_sketches_come_when_they_are_asked_for(self, store: StatsStore) -> None:
        store.put(PLACE, [column(1), file("a", 1)])
        for wanted in (False, True):
            data = b"hashes" if wanted else b""
            got = store.get(PLACE, column(1).target, sketches=wanted)
            assert [sketch.data for sketch in got.scalar.sketches] == [data]
            listed = list(store.list(PLACE, StatsQuery(sketches=wanted)))
            assert [s.data for s in listed[0].scalar.sketches] == [data]
            assert [s.data for s in listed[1].file.columns[0].scalar.sketches] == [data]
            assert listed[1].file.columns[0].scalar.sketches[0].size_bytes in (0, 6)

    @pytest.mark.parametrize(
        "record",
        [
            TargetStatsRecord(),
            TargetStatsRecord(table=TableValueStats()),
            TargetStatsRecord(target=table(1).target),
            TargetStatsRecord(target=table(1).target, scalar=ScalarStats()),
            TargetStatsRecord(target=column(1).target, table=TableValueStats()),
            TargetStatsRecord(target=expression(b"a").target, file=FileTargetStats()),
            TargetStatsRecord(target=file("a").target, scalar=ScalarStats()),
            TargetStatsRecord(target=file("a").target, file=file("b").file),
            TargetStatsRecord(target=file("a").target, file=FileTargetStats()),
            file(""),
            column(0),
            column(-1),
        ],
    )
    def test_a_record_whose_value_isnt_of_its_target_is_refused(
        self, store: StatsStore, record: TargetStatsRecord
    ) -> None:
        with pytest.raises(InvalidArgumentError):
            store.put(PLACE, [column(7), record])
        assert store.count(PLACE) == 0, "nothing of it is kept"

    @pytest.mark.parametrize(
        ("record", "field"),
        [
            (scalar(null_count=-5), "records.scalar.null_count"),
            (scalar(value_count=3, null_count=2, nan_count=2), "records.scalar.value_count"),
            (scalar(average_width_bytes=float("nan")), "records.scalar.average_width_bytes"),
            (scalar(ndv=Ndv(exact=-1)), "records.scalar.ndv.exact"),
            (
                scalar(ndv=Ndv(approx=NdvApprox(estimate=-0.5))),
                "records.scalar.ndv.approx.estimate",
            ),
            (
                scalar(frequent_items=[FrequentItem(value="a", count_upper_bound=-1)]),
                "records.scalar.frequent_items.count_upper_bound",
            ),
            (table(-1), "records.table.row_count"),
            (file_of(-1), "records.file.row_count"),
        ],
    )
    def test_counts_that_cannot_be_are_refused(
        self, store: StatsStore, record: TargetStatsRecord, field: str
    ) -> None:
        with pytest.raises(InvalidArgumentError) as refused:
            store.put(PLACE, [column(7), record])
        assert refused.value.field == field
        assert store.count(PLACE) == 0, "nothing of it is kept"

    def test_a_record_of_another_snapshot_is_refused(self, store: StatsStore) -> None:
        other = table(1)
        other.snapshot_id = 2
        with pytest.raises(InvalidArgumentError):
            store.put(PLACE, [other])
        other = table(1)
        other.table_id.CopyFrom(SnapshotPlace("acme", "items", 1).table)
        with pytest.raises(InvalidArgumentError):
            store.put(PLACE, [other])

    def test_many_records_are_paged_through_while_others_are_put(self, store: StatsStore) -> None:
        store.put(PLACE, (file(f"{number:05}", 1) for number in range(0, 3000, 2)))
        seen: list[str] = []
        after: str | None = None
        step = 0
        while True:
            page = [
                StatsTargetIdentity.storage_id(record.target)
                for record, _ in zip(
                    store.list(PLACE, StatsQuery(kind=STK_FILE), after), range(500), strict=False
                )
            ]
            if not page:
                break
            seen += page
            after = page[-1]
            step += 1
            store.put(PLACE, [file(f"{step:05}x", 1)])
        assert len(seen) == len(set(seen))
        assert {f"file/{number:05}" for number in range(0, 3000, 2)} <= set(seen)
