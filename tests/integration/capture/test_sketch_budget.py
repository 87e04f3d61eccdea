"""Tables with more files than may keep sketches of their own: those of groups of files stand in."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pyiceberg.types import StringType
from tests.support.lake import (
    Lake,
    capture,
    connected,
    create_connector,
    mirroring,
    worker_of,
)

import floecat
from ai.floedb.floecat.catalog.directory_pb2 import ResolveTableRequest
from ai.floedb.floecat.catalog.stats_pb2 import (
    ListTargetStatsRequest,
    ScalarStats,
    TargetStatsRecord,
)
from ai.floedb.floecat.connector.connector_pb2 import Connector
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.statistics.statistics_pb2 import STK_COLUMN, STK_FILE, StatsTargetKind
from floecat.client.names import parse_relation

TABLE = "sales.orders"
ROWS = 100


def rows(number: int) -> pa.Table:
    """Of the n-th file: ids of its own, its number, and names that every file has."""
    ids = range(number * ROWS, (number + 1) * ROWS)
    tags = [[] if number == 0 else [f"tag {n}", f"tag {n + 1}"] for n in ids]
    return pa.table(
        {
            "id": list(ids),
            "file": [number] * ROWS,
            "name": [f"name {n % 10}" for n in ids],
            "tags": pa.array(tags, pa.list_(pa.string())),
        }
    )


class Budgeted:
    """A table that is captured by a service with some budget for sketches."""

    def __init__(self, clients: floecat.GrpcClients, lake: Lake, connector: Connector) -> None:
        self._clients = clients
        self._connector = connector
        self._upstream = lake.catalog.load_table(TABLE)

    def append(self, number: int) -> None:
        self._upstream.append(rows(number))

    def delete(self, number: int) -> None:
        """The n-th file, without a look into it."""
        first = number * ROWS
        self._upstream.delete(f"id >= {first} and id < {first + ROWS}")

    def add_column(self, name: str) -> None:
        with self._upstream.update_schema() as change:
            change.add_column(name, StringType())

    def capture(self) -> messages.ReconcileCounters:
        job = capture(self._clients, self._connector)
        assert job.state == messages.RJS_SUCCEEDED, job
        return job.counters

    def columns(self) -> dict[str, ScalarStats]:
        found = self._records(STK_COLUMN)
        return {record.scalar.display_name: record.scalar for record in found}

    def sketched(self) -> list[bool]:
        """Of every file, in the order of their ids, whether its own values are counted."""
        files = [
            {column.scalar.display_name: column.scalar for column in record.file.columns}
            for record in self._records(STK_FILE)
        ]
        assert all(file["id"].value_count == ROWS for file in files)
        return [
            file["id"].HasField("ndv") for file in sorted(files, key=lambda f: int(f["id"].min))
        ]

    def _records(self, kind: "StatsTargetKind.ValueType") -> list[TargetStatsRecord]:
        name = parse_relation(f"lake.{TABLE}")
        table = self._clients.directory.ResolveTable(ResolveTableRequest(name=name)).resource_id
        request = ListTargetStatsRequest(table_id=table, target_kinds=[kind])
        return list(self._clients.statistics.ListTargetStats(request).records)


@contextmanager
def budgeted(folder: Path, budget: int, **settings: str) -> Iterator[Budgeted]:
    folder.mkdir(exist_ok=True)
    lake = Lake(folder)
    lake.catalog.create_namespace("sales")
    lake.catalog.create_table(TABLE, rows(0).schema)
    settings["capture_sketch_budget"] = str(budget)
    with (
        mirroring(lake, folder, **settings) as service,
        connected(service) as clients,
        worker_of(service, lake, folder, capture_engine="inline"),
    ):
        yield Budgeted(clients, lake, create_connector(clients, lake))


def test_without_a_budget_groups_of_files_are_as_good_until_one_goes(tmp_path: Path) -> None:
    with budgeted(tmp_path / "none", 0) as table, budgeted(tmp_path / "much", 1 << 40) as other:
        for number in range(4):
            table.append(number)
            other.append(number)
        assert table.capture().files_completed == other.capture().files_completed == 4
        assert table.sketched() == [False] * 4
        assert other.sketched() == [True] * 4
        for name, scalar in other.columns().items():
            found = table.columns()[name]
            assert found.ndv == scalar.ndv
            assert list(found.frequent_items) == list(scalar.frequent_items)
            assert found.HasField("quantiles") == scalar.HasField("quantiles")
            for field in ("value_count", "null_count", "min", "max", "average_width_bytes"):
                assert getattr(found, field) == getattr(scalar, field)
        table.delete(1)
        assert table.capture().files_completed == 0, "what is known of the others is enough"
        found = table.columns()["id"]
        assert found.value_count == 3 * ROWS
        assert found.ndv.approx.upper_bound_only
        assert found.ndv.approx.upper_bound == 3 * ROWS, "no more than there are"
        assert not found.HasField("quantiles"), "they can't be taken apart"
        assert table.columns()["file"].ndv.approx.upper_bound == 4, "of a file that is gone"
        tags = table.columns()["tags.element"]
        assert tags.value_count == 4 * ROWS
        assert tags.ndv.approx.upper_bound == 3 * ROWS + 1, "though the first file has none"


def test_files_keep_sketches_until_the_budget_is_spent(tmp_path: Path) -> None:
    """Groups of one file, so that what is left shows file by file."""
    one_file = 4 * (200 + 40 * ROWS)
    settings = {"reconciler_file_group_max_files": "1"}
    with budgeted(tmp_path / "one", 2 * one_file + 1, **settings) as table:
        for number in range(3):
            table.append(number)
        assert table.capture().file_groups_completed == 3
        assert sorted(table.sketched()) == [False, True, True]
        assert table.columns()["id"].ndv.exact == 3 * ROWS
    with budgeted(tmp_path / "another", one_file + 1, **settings) as table:
        table.append(0)
        table.capture()
        table.append(1)
        assert table.capture().files_completed == 1
        assert table.sketched() == [True, False], "what earlier captures keep counts, too"
        assert table.columns()["id"].ndv.exact == 2 * ROWS


def test_a_column_that_is_added_takes_nothing_from_the_others(tmp_path: Path) -> None:
    """Old files are read for the new column only, in one group with files that are read whole."""
    with budgeted(tmp_path, 0) as table:
        table.append(0)
        table.append(1)
        table.capture()
        table.add_column("extra")
        table.append(2)
        assert table.capture().files_completed == 3
        found = table.columns()
        assert found["id"].ndv.exact == 3 * ROWS
        assert found["name"].ndv.exact == 10
        assert found["id"].HasField("quantiles")
        assert found["extra"].null_count == 3 * ROWS


def test_a_group_of_its_own_is_gone_without_a_trace(tmp_path: Path) -> None:
    """Segments whose files are all gone, or all there, are exact whatever they keep."""
    with budgeted(tmp_path, 0) as table:
        for number in range(3):
            table.append(number)
            assert table.capture().files_completed == 1
        table.delete(1)
        assert table.capture().files_completed == 0
        assert table.columns()["id"].ndv.exact == 2 * ROWS
        assert table.columns()["name"].ndv.exact == 10
