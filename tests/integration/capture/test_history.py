"""Snapshots are captured with the columns that they had, whatever became of these since."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.support.lake import (
    DeltaLake,
    Lake,
    capture,
    capture_now,
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
            job = capture_now(followed.clients, request)
            assert job.degraded == degraded, job
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


def test_a_delta_table_that_begins_to_number_its_columns(tmp_path: Path) -> None:
    """Its numbers are others than ours: what was known under ours is of other columns."""
    lake = DeltaLake(tmp_path)
    inner = pa.array([{"x": 1, "y": 10}, {"x": 2, "y": 20}])
    lake.overwrite("sales.orders", pa.table({"s": inner, "t": [100, 200]}))
    with following(lake, tmp_path) as followed:
        followed.capture()
        bounds = {name: found[1:] for name, found in followed.columns(0).items()}
        assert bounds == {"s.x": ("1", "2"), "s.y": ("10", "20"), "t": ("100", "200")}
        _map_columns(lake.folder / "sales" / "orders" / "_delta_log")
        followed.capture()
        assert {name: found[1:] for name, found in followed.columns(1).items()} == bounds
        assert [found[0] for found in followed.columns(1).values()] == [2, 3, 4]


def _map_columns(log: Path) -> None:
    """What an upgrade to column mapping by name commits: structs are numbered too."""
    actions = [json.loads(line) for line in (log / f"{0:020}.json").read_text().splitlines()]
    metadata = next(action["metaData"] for action in actions if "metaData" in action)
    schema = json.loads(metadata["schemaString"])
    numbers = count(1)
    for field in schema["fields"]:
        _number(field, numbers)
    metadata["schemaString"] = json.dumps(schema)
    metadata["configuration"] = {
        "delta.columnMapping.mode": "name",
        "delta.columnMapping.maxColumnId": str(next(numbers) - 1),
    }
    protocol = {"minReaderVersion": 2, "minWriterVersion": 5}
    lines = [json.dumps({"protocol": protocol}), json.dumps({"metaData": metadata})]
    (log / f"{1:020}.json").write_text("\n".join(lines))


def _number(field: dict[str, Any], numbers: Iterator[int]) -> None:
    field["metadata"] = {
        "delta.columnMapping.id": next(numbers),
        "delta.columnMapping.physicalName": field["name"],
    }
    if isinstance(field["type"], dict):
        for inner in field["type"]["fields"]:
            _number(inner, numbers)
