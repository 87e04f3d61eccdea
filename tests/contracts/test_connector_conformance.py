"""The conformance suite notices connectors that are wrong, each in its own way."""

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from examples.parquet_folder_connector import ParquetFolderConnector
from typing_extensions import override

from ai.floedb.floecat.catalog.stats_pb2 import ScalarStats, TargetStatsRecord
from floecat.connectors.spi.capabilities import Capabilities
from floecat.connectors.spi.columns import ColumnScope
from floecat.connectors.spi.records import (
    Namespace,
    SnapshotBundle,
    SnapshotEnumerationOptions,
)
from floecat.connectors.testing import ConnectorConformance, Upstream
from floecat.security.guard import OutboundRules

Spoil = Callable[[TargetStatsRecord], None]
ROWS = "test_statistics_agree_with_the_rows"
MERGE = "test_statistics_agree_with_each_other"


class WrongStatistics(ParquetFolderConnector):
    """Spoils every record of statistics."""

    def __init__(self, root: Path, spoil: Spoil) -> None:
        super().__init__(root, OutboundRules(file_roots=(root,)))
        self._spoil = spoil

    @override
    def capture_snapshot_target_stats(
        self, namespace: Namespace, name: str, snapshot_id: int, columns: ColumnScope
    ) -> Iterator[TargetStatsRecord]:
        records = super().capture_snapshot_target_stats(namespace, name, snapshot_id, columns)
        for record in records:
            self._spoil(record)
            yield record


class ChildrenFirst(ParquetFolderConnector):
    """Lists a namespace before the one that it is in."""

    capabilities = Capabilities(time_travel=False, nested_namespaces=True)

    @override
    def list_namespaces(self) -> Iterable[Namespace]:
        return [("sales", "inner"), ("sales",)]


class ChildrenOnly(ChildrenFirst):
    """Doesn't list a namespace that others are in."""

    @override
    def list_namespaces(self) -> Iterable[Namespace]:
        return [("sales", "inner")]


class ParentsLast(ParquetFolderConnector):
    """Enumerates a snapshot before the one that it came from."""

    @override
    def enumerate_snapshots(
        self, namespace: Namespace, name: str, options: SnapshotEnumerationOptions
    ) -> Iterator[SnapshotBundle]:
        for bundle in super().enumerate_snapshots(namespace, name, options):
            yield replace(bundle, snapshot_id=1, parent_id=bundle.snapshot_id)
            yield bundle


class RestlessRevisions(ParquetFolderConnector):
    """Says that tables have changed each time it is opened."""

    @override
    def table_revisions(self, namespace: Namespace, names: Collection[str]) -> Mapping[str, str]:
        return {name: str(id(self)) for name in names}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "sales" / "orders"
    folder.mkdir(parents=True)
    for number in range(3):
        rows = {"id": [number * 2, number * 2 + 1], "name": ["a", None], "part": [0.5, 2.5]}
        pq.write_table(pa.table(rows), folder / f"{number}.parquet")
    return tmp_path


def complaints(open_one: Callable[[], ParquetFolderConnector]) -> set[str]:
    """Which tests of the suite fail."""
    upstream = Upstream(open=open_one, namespace=("sales",), table="orders")
    suite = ConnectorConformance()
    found: set[str] = set()
    for name, test in inspect.getmembers(suite, inspect.ismethod):
        if not name.startswith("test_") or name == "test_nothing_is_left_open":
            continue
        with upstream.open() as connector:
            given = {"upstream": upstream, "connector": connector}
            wanted = inspect.signature(test).parameters
            try:
                test(**{key: value for key, value in given.items() if key in wanted})
            except (AssertionError, pytest.fail.Exception):
                found.add(name)
    return found


def files(spoil: Callable[[ScalarStats], None]) -> Spoil:
    def on(record: TargetStatsRecord) -> None:
        for column in record.file.columns:
            spoil(column.scalar)

    return on


def columns(spoil: Callable[[ScalarStats], None]) -> Spoil:
    return lambda record: spoil(record.scalar) if record.HasField("scalar") else None


def minimum_too_high(stats: ScalarStats) -> None:
    stats.min = stats.max


def maximum_too_low(stats: ScalarStats) -> None:
    stats.max = stats.min


def tight_without_a_row(stats: ScalarStats) -> None:
    if stats.display_name == "id":
        stats.min, stats.min_tight = "-7", True


def no_nulls(stats: ScalarStats) -> None:
    stats.null_count = 0


def a_null_too_many(stats: ScalarStats) -> None:
    stats.null_count += 1


def more_values(stats: ScalarStats) -> None:
    stats.value_count += 100


def said_to_be_tight(stats: ScalarStats) -> None:
    stats.min_tight = True


def more_rows(record: TargetStatsRecord) -> None:
    if record.HasField("file"):
        record.file.row_count += 7


def more_live_rows(record: TargetStatsRecord) -> None:
    if record.HasField("table"):
        record.table.live_row_count = 10**9


def more_live_rows_in_a_file(record: TargetStatsRecord) -> None:
    if record.HasField("file"):
        record.file.live_row_count = 10**9


@pytest.mark.parametrize(
    ("spoil", "noticed"),
    [
        (files(minimum_too_high), ROWS),
        (files(maximum_too_low), ROWS),
        (files(tight_without_a_row), ROWS),
        (files(no_nulls), ROWS),
        (files(a_null_too_many), ROWS),
        (files(more_values), ROWS),
        (more_rows, ROWS),
        (columns(minimum_too_high), MERGE),
        (columns(maximum_too_low), MERGE),
        (columns(no_nulls), MERGE),
        (columns(more_values), MERGE),
        (columns(said_to_be_tight), MERGE),
        (more_live_rows, MERGE),
        (more_live_rows_in_a_file, MERGE),
    ],
)
def test_wrong_statistics_are_noticed(root: Path, spoil: Spoil, noticed: str) -> None:
    assert noticed in complaints(lambda: WrongStatistics(root, spoil))


def test_right_ones_pass(root: Path) -> None:
    assert complaints(lambda: WrongStatistics(root, lambda _record: None)) == set()


@pytest.mark.parametrize(
    ("kind", "noticed"),
    [
        (ChildrenFirst, "test_namespaces_come_once_and_parents_first"),
        (ChildrenOnly, "test_namespaces_come_once_and_parents_first"),
        (ParentsLast, "test_snapshots_say_when_and_whence"),
        (RestlessRevisions, "test_revisions_stay_while_nothing_changes"),
    ],
)
def test_wrong_answers_are_noticed(
    root: Path, kind: type[ParquetFolderConnector], noticed: str
) -> None:
    assert noticed in complaints(lambda: kind(root, OutboundRules(file_roots=(root,))))
