"""What the connector reports of every fixture equals what Spark and Delta's own log say."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

import pytest
from tests.support.connectors import open_connector
from tests.support.lakehouse import delta_root, delta_truth

from ai.floedb.floecat.catalog.stats_pb2 import ScalarStats, TargetStatsRecord
from ai.floedb.floecat.execution.scan_pb2 import ScanFile
from floecat.connectors.spi.columns import ColumnScope
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.errors import BrokenTableError
from floecat.connectors.spi.records import (
    Namespace,
    ScanBundle,
    SnapshotBundle,
    SnapshotEnumerationOptions,
)
from floecat.types.encoding import ValueEncoders
from floecat.types.kinds import Kind
from floecat.types.messages import from_message
from floecat.types.ordering import comparator

BROKEN = {"broken/torn", "broken/gap", "broken/future"}
EVERY = SnapshotEnumerationOptions(full_rescan=True)


def tables() -> list[str]:
    return [name for name in delta_truth()["tables"] if name not in BROKEN]


def versions() -> list[tuple[str, int]]:
    found = delta_truth()["tables"]
    return [(name, int(number)) for name in tables() for number in found[name]["versions"]]


def truth_of(name: str, version: int) -> dict[str, Any]:
    found: dict[str, Any] = delta_truth()["tables"][name]["versions"][str(version)]
    return found


def place(name: str) -> tuple[Namespace, str]:
    *above, last = name.split("/")
    return tuple(above) or ("default",), last


@pytest.fixture(scope="module")
def connector() -> Iterator[FloecatConnector]:
    root = delta_root()
    with open_connector("delta-filesystem", f"file://{root}", roots=[root]) as connector:
        yield connector


def scope_of(bundle: ScanBundle) -> ColumnScope:
    paths = ColumnScope().unnumbered(bundle.columns)
    return ColumnScope((), {path: 10_000 + number for number, path in enumerate(paths)})


def planned(connector: FloecatConnector, name: str, version: int) -> ScanBundle:
    return connector.plan_snapshot_files(*place(name), version)


def captured(connector: FloecatConnector, name: str, version: int) -> list[TargetStatsRecord]:
    scope = scope_of(planned(connector, name, version))
    return list(connector.capture_snapshot_target_stats(*place(name), version, scope))


def test_the_tables_are_found(connector: FloecatConnector) -> None:
    found = {
        "/".join((*(() if namespace == ("default",) else namespace), name))
        for namespace in connector.list_namespaces()
        for name in connector.list_tables(namespace)
    }
    assert found == set(delta_truth()["tables"])


@pytest.mark.parametrize("name", tables())
def test_snapshots(connector: FloecatConnector, name: str) -> None:
    bundles = list(connector.enumerate_snapshots(*place(name), EVERY))
    expected = delta_truth()["tables"][name]["versions"]
    assert [str(bundle.snapshot_id) for bundle in bundles] == sorted(expected, key=int)
    history = {row["version"]: row for row in delta_truth()["tables"][name]["history"]}
    for bundle in bundles:
        version = expected[str(bundle.snapshot_id)]
        assert json.loads(bundle.schema_json) == json.loads(version["metadata"]["schemaString"])
        moment = datetime.fromtimestamp(version["timestamp_ms"] / 1000, UTC)
        assert bundle.created_at == moment
        check_history(bundle, history[bundle.snapshot_id])


def check_history(bundle: SnapshotBundle, row: dict[str, Any]) -> None:
    if "operation" in bundle.summary:
        assert bundle.summary["operation"] == row["operation"]
    for metric, value in (row["operationMetrics"] or {}).items():
        if "operation" in bundle.summary:
            assert bundle.summary[metric] == value


@pytest.mark.parametrize(("name", "version"), versions())
def test_files(connector: FloecatConnector, name: str, version: int) -> None:
    bundle = planned(connector, name, version)
    files = {file.file_path: file for file in bundle.data_files}
    expected = {located(name, add["path"]): add for add in truth_of(name, version)["files"]}
    assert set(files) == set(expected)
    for path, add in expected.items():
        file = files[path]
        assert file.file_size_bytes == add["size"]
        assert file.format_mark == str(add["modificationTime"])
        check_vector(bundle, file, add.get("deletionVector"))
        stats = json.loads(add["stats"]) if add.get("stats") else {}
        rows = file.record_count if file.HasField("record_count") else None
        assert rows == stats.get("numRecords")


def located(name: str, path: str) -> str:
    decoded = unquote(path)
    return decoded if ":/" in decoded else f"file://{delta_root()}/{name}/{decoded}"


def check_vector(bundle: ScanBundle, file: ScanFile, expected: dict[str, Any] | None) -> None:
    deletes = [bundle.delete_files[index] for index in file.delete_file_indexes]
    assert len(deletes) == (expected is not None)
    if expected is None:
        return
    [delete] = deletes
    assert delete.referenced_data_file == file.file_path
    assert delete.record_count == expected["cardinality"]
    vector = delete.deletion_vector
    assert vector.offset == expected.get("offset", 0)
    assert vector.size_bytes == expected["sizeInBytes"]
    if expected["storageType"] == "i":
        assert len(vector.inline_data) == expected["sizeInBytes"]
    else:
        place_of_bytes = vector.file_path.removeprefix("file:")
        with open("/" + place_of_bytes.lstrip("/"), "rb") as opened:  # noqa: PTH123
            content = opened.read()
        start = vector.offset
        assert int.from_bytes(content[start : start + 4], "big") == vector.size_bytes


@pytest.mark.parametrize(("name", "version"), versions())
def test_live_rows(connector: FloecatConnector, name: str, version: int) -> None:
    *_, table = captured(connector, name, version)
    truth = truth_of(name, version)
    assert table.table.data_file_count == len(truth["files"])
    if all(
        json.loads(a.get("stats") or "{}").get("numRecords") is not None for a in truth["files"]
    ):
        assert table.table.live_row_count == truth["count"]
        assert table.table.live_row_count_exact
    else:
        assert not table.table.HasField("live_row_count")


@pytest.mark.parametrize(("name", "version"), versions())
def test_bounds_and_counts(connector: FloecatConnector, name: str, version: int) -> None:
    truth = truth_of(name, version)
    deleted = any(add.get("deletionVector") for add in truth["files"])
    records = captured(connector, name, version)
    columns = {r.scalar.display_name: r.scalar for r in records if r.HasField("scalar")}
    for path, facts in truth["columns"].items():
        check_column(columns[path], facts, deleted=deleted)


def check_column(stats: ScalarStats, facts: dict[str, Any], *, deleted: bool) -> None:
    if stats.HasField("null_count"):
        assert stats.null_count >= facts["nulls"]
        assert deleted or stats.null_count == facts["nulls"]
    if facts.get("min") is None:
        return
    logical = from_message(stats.logical_type)
    low, high = (canonical(logical, facts[bound]) for bound in ("min", "max"))
    order = comparator(logical)
    if stats.HasField("min"):
        assert order(stats.min, low) <= 0
        assert deleted or not stats.min_tight or stats.min == low
    if stats.HasField("max"):
        assert order(stats.max, high) >= 0
        assert deleted or not stats.max_tight or stats.max == high


def canonical(logical: Any, value: Any) -> str:
    """A value of Spark's, as its truth is written, in our form."""
    zoned = logical.kind is Kind.TIMESTAMPTZ
    if zoned and isinstance(value, str) and not value.endswith("Z"):
        value += "Z"
    if logical.kind in {Kind.FLOAT, Kind.DOUBLE}:
        value = float(value)
    return ValueEncoders().encode_to_string(logical, value)


def scalar(connector: FloecatConnector, name: str, column: str) -> ScalarStats:
    current = connector.describe(*place(name)).current_snapshot_id
    assert current is not None
    records = captured(connector, name, current)
    found = {r.scalar.display_name: r.scalar for r in records if r.HasField("scalar")}
    return found[column]


@pytest.mark.parametrize(
    ("column", "low", "high"),
    [
        ("i", "-2147483648", "2147483647"),
        ("l", "-9223372036854775808", "9223372036854775807"),
        ("dec9", "-9999999.99", "9999999.99"),
        ("day", "0002-01-01", "9999-12-31"),
    ],
)
def test_extremes_survive(connector: FloecatConnector, column: str, low: str, high: str) -> None:
    stats = scalar(connector, "primitives", column)
    assert (stats.min, stats.max) == (low, high)
    assert stats.min_tight
    assert stats.max_tight


def test_what_was_cut_isnt_tight(connector: FloecatConnector) -> None:
    text = scalar(connector, "primitives", "str")
    assert not text.max_tight
    moment = scalar(connector, "primitives", "ts")
    assert not moment.max_tight


def test_columns_that_files_call_otherwise(connector: FloecatConnector) -> None:
    for name in ("mapped_by_name", "mapped_by_id"):
        stats = scalar(connector, name, "full name")
        assert (stats.min, stats.max) == ("ann", "dora")
        road = scalar(connector, name, "place.road")
        assert (road.min, road.max) == ("main", "third")
        described = connector.describe(*place(name))
        assert described.partition_keys == ("section",)
        ids = [column.source_id for column in described.columns]
        assert None not in ids
        assert len(set(ids)) == len(ids)


def test_constraints(connector: FloecatConnector) -> None:
    [*_, last] = connector.enumerate_snapshots(*place("constrained"), EVERY)
    found = {c.name: c for c in last.constraints}
    assert {"known_city", "positive", "not_null_id", "not_null_place.city"} <= set(found)
    assert found["positive"].check_expression == "amount > 0"
    assert [column.name for column in found["positive"].columns] == ["amount"]
    assert [column.name for column in found["known_city"].columns] == ["place"]


def test_a_broken_table_doesnt_stop_its_neighbours(connector: FloecatConnector) -> None:
    outcomes: dict[str, int | None] = {}
    for name in connector.list_tables(("broken",)):
        try:
            outcomes[name] = connector.describe(("broken",), name).current_snapshot_id
        except BrokenTableError:
            outcomes[name] = None
    assert outcomes == {"healthy_1": 2, "healthy_2": 2, "torn": None, "gap": None, "future": None}


def test_partition_values(connector: FloecatConnector) -> None:
    bundle = planned(connector, "partitioned", 2)
    values = {
        tuple((v.name, v.value if v.HasField("value") else None) for v in file.partition_values)
        for file in bundle.data_files
    }
    assert (("region", "a/b=c d%&ü:?"), ("day", "1969-12-31")) in values
    assert (("region", None), ("day", None)) in values
