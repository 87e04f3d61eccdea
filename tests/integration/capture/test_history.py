"""Snapshots are captured with the columns that they had, whatever became of these since."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from tests.support.lake import (
    DeltaLake,
    Lake,
    capture,
    connected,
    create_connector,
    mirroring,
    worker_of,
)

import floecat
from ai.floedb.floecat.catalog.directory_pb2 import ResolveTableRequest
from ai.floedb.floecat.catalog.stats_pb2 import ListTargetStatsRequest
from ai.floedb.floecat.catalog.table_pb2 import GetTableRequest
from ai.floedb.floecat.common.common_pb2 import ResourceId
from ai.floedb.floecat.connector.connector_pb2 import Connector
from ai.floedb.floecat.reconciler import reconciler_pb2 as messages
from ai.floedb.floecat.statistics.statistics_pb2 import STK_COLUMN
from floecat.client.names import parse_relation

ALL = messages.SnapshotSelection(all=True)
VERSIONS = (
    pa.table({"id": [1, 2], "x": [10, 20]}),
    pa.table({"id": [3]}),
    pa.table({"id": [4, 5], "x": [70, 80]}),
)
"""A column, dropped, and another of its name."""


class Followed:
    """A lake that is captured, and what is known of the columns of a snapshot."""

    def __init__(self, clients: floecat.GrpcClients, connector: Connector) -> None:
        self.clients = clients
        self.connector = connector

    def capture(self, **run: object) -> None:
        job = capture(self.clients, self.connector, **run)  # type: ignore[arg-type]
        assert job.state == messages.RJS_SUCCEEDED, job
        assert not job.degraded, job

    @property
    def table_id(self) -> ResourceId:
        name = parse_relation("lake.sales.orders")
        return self.clients.directory.ResolveTable(ResolveTableRequest(name=name)).resource_id

    def columns(self, snapshot_id: int) -> dict[str, tuple[int, str, str]]:
        """By name: id and bounds."""
        request = ListTargetStatsRequest(table_id=self.table_id, target_kinds=[STK_COLUMN])
        request.snapshot.snapshot_id = snapshot_id
        return {
            r.scalar.display_name: (r.target.column.column_id, r.scalar.min, r.scalar.max)
            for r in self.clients.statistics.ListTargetStats(request).records
        }

    def ids(self) -> list[int]:
        """Of every column that the table has or had."""
        request = GetTableRequest(table_id=self.table_id)
        table = self.clients.tables.GetTable(request).table
        return [column.column_id for column in table.column_ids]


@contextmanager
def following(lake: Lake | DeltaLake, folder: Path) -> Iterator[Followed]:
    with (
        mirroring(lake, folder) as service,
        connected(service) as clients,
        worker_of(service, lake, folder, capture_engine="inline"),
    ):
        yield Followed(clients, create_connector(clients, lake))


def assert_told_apart(followed: Followed) -> None:
    """Every version has its own columns, and the two of one name aren't mistaken for each other."""
    first, second, third = (followed.columns(version) for version in range(3))
    assert [list(found) for found in (first, second, third)] == [["id", "x"], ["id"], ["id", "x"]]
    assert first["id"][0] == second["id"][0] == third["id"][0]
    assert first["x"][1:] == ("10", "20")
    assert third["x"][1:] == ("70", "80")
    assert first["x"][0] != third["x"][0]
    assert sorted(followed.ids()) == [1, 2, 3]


def test_a_delta_history_at_once(tmp_path: Path) -> None:
    lake = DeltaLake(tmp_path)
    for rows in VERSIONS:
        lake.overwrite("sales.orders", rows)
    with following(lake, tmp_path) as followed:
        followed.capture(snapshots=ALL)
        assert_told_apart(followed)
        ids = followed.ids()
        followed.capture(snapshots=ALL, full=True)
        assert_told_apart(followed)
        assert followed.ids() == ids


def test_a_delta_history_as_it_happens(tmp_path: Path) -> None:
    lake = DeltaLake(tmp_path)
    lake.overwrite("sales.orders", VERSIONS[0])
    with following(lake, tmp_path) as followed:
        followed.capture()
        for rows in VERSIONS[1:]:
            lake.overwrite("sales.orders", rows)
            followed.capture()
        assert_told_apart(followed)
        followed.capture(snapshots=ALL, full=True)
        assert_told_apart(followed)


def test_a_delta_history_after_the_fact(tmp_path: Path) -> None:
    lake = DeltaLake(tmp_path)
    for rows in VERSIONS:
        lake.overwrite("sales.orders", rows)
    with following(lake, tmp_path) as followed:
        followed.capture()
        followed.capture(snapshots=ALL)
        assert_told_apart(followed)


def test_a_run_may_name_a_column_that_only_older_snapshots_have(tmp_path: Path) -> None:
    lake = DeltaLake(tmp_path)
    for rows in VERSIONS[:2]:
        lake.overwrite("sales.orders", rows)
    with following(lake, tmp_path) as followed:
        scope = messages.CaptureScope(connector_id=followed.connector.resource_id, columns=["x"])
        for selection, degraded in ((ALL, False), (messages.SnapshotSelection(current=True), True)):
            scope.snapshots.CopyFrom(selection)
            request = messages.CaptureNowRequest(
                scope=scope, mode=messages.METADATA_AND_CAPTURE, full_rescan=True
            )
            request.max_wait.seconds = 25
            answer = followed.clients.reconcile.CaptureNow(request)
            assert answer.finished
            assert answer.job.degraded == degraded, answer.job
        assert followed.columns(0).keys() == {"x"}


@pytest.mark.parametrize("at_once", [True, False])
def test_an_iceberg_history(at_once: bool, tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.catalog.create_namespace("sales")
    table = lake.catalog.create_table("sales.orders", VERSIONS[0].schema)
    table.append(VERSIONS[0])
    with following(lake, tmp_path) as followed:
        if not at_once:
            followed.capture()
        with table.update_schema() as update:
            update.delete_column("x")
        with table.update_schema() as update:
            update.add_column("x", table.schema().find_field("id").field_type)
        table.append(VERSIONS[2])
        followed.capture(snapshots=ALL, full=True)
        first, last = (followed.columns(s.snapshot_id) for s in table.snapshots())
        assert first == {"id": (1, "1", "2"), "x": (2, "10", "20")}
        assert last == {"id": (1, "1", "5"), "x": (3, "70", "80")}
