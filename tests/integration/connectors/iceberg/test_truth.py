"""What the connector reports is what Spark and Iceberg's own planning say of the same tables."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.support.iceberg import open_warehouse, planned, planned_by_spark, split, tables
from tests.support.lakehouse import iceberg_truth

from ai.floedb.floecat.catalog.stats_pb2 import ScalarStats, TargetStatsRecord
from ai.floedb.floecat.execution.scan_pb2 import ScanFile, ScanFileContent
from floecat.connectors.spi.columns import ColumnScope
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.records import ScanBundle, SnapshotEnumerationOptions
from floecat.types.encoding import ValueEncoders
from floecat.types.messages import from_message
from floecat.types.ordering import comparator

CONTENTS = {
    ScanFileContent.SFC_DATA: 0,
    ScanFileContent.SFC_POSITION_DELETES: 1,
    ScanFileContent.SFC_DELETION_VECTOR: 1,
    ScanFileContent.SFC_EQUALITY_DELETES: 2,
}


@pytest.fixture(scope="module")
def connector() -> Iterator[FloecatConnector]:
    with open_warehouse() as connector:
        yield connector


def test_every_namespace_and_table_is_there(connector: FloecatConnector) -> None:
    namespaces = list(connector.list_namespaces())
    truth = iceberg_truth()["warehouse"]
    assert sorted(namespaces) == sorted(tuple(parts) for parts in truth["namespaces"])
    found = {".".join([*ns, name]) for ns in namespaces for name in connector.list_tables(ns)}
    assert found == set(truth["tables"])


@pytest.mark.parametrize("path", tables())
def test_a_table_is_described_as_it_is(connector: FloecatConnector, path: str) -> None:
    truth = tables()[path]
    described = connector.describe(*split(path))
    assert described.location == truth["location"]
    assert described.current_snapshot_id == truth["current_snapshot_id"]
    assert json.loads(described.schema_json)["fields"] == truth["schema"]["fields"]
    assert described.properties["iceberg.table-uuid"] == truth["uuid"]
    assert truth["properties"].items() <= described.properties.items()
    assert {spec.spec_id: _fields(spec) for spec in described.partition_specs} == {
        int(key): [
            (f["field-id"], f["source-id"], f["name"], f["transform"]) for f in spec["fields"]
        ]
        for key, spec in truth["specs"].items()
    }
    assert {order.order_id: _sorting(order) for order in described.sort_orders} == {
        int(key): [
            (f["source-id"], f["transform"], f["direction"], f["null-order"]) for f in o["fields"]
        ]
        for key, o in truth["sort_orders"].items()
    }
    references = {r.name: (r.snapshot_id, r.kind) for r in described.references}
    assert references == {
        name: (ref["snapshot_id"], {"branch": 1, "tag": 2}[ref["type"]])
        for name, ref in truth["refs"].items()
    }


@pytest.mark.parametrize("path", tables())
def test_every_snapshot_is_enumerated(connector: FloecatConnector, path: str) -> None:
    truth = {snapshot["snapshot_id"]: snapshot for snapshot in tables()[path]["snapshots"]}
    options = SnapshotEnumerationOptions(full_rescan=True)
    found = list(connector.enumerate_snapshots(*split(path), options))
    assert sorted(bundle.snapshot_id for bundle in found) == sorted(truth)
    seen: set[int] = set()
    for bundle in found:
        expected = truth[bundle.snapshot_id]
        seconds = expected["timestamp_ms"] / 1000
        assert bundle.created_at == datetime.fromtimestamp(seconds, UTC)
        assert bundle.parent_id == expected["parent_id"]
        assert bundle.sequence_number == expected["sequence_number"]
        assert bundle.manifest_list == expected["manifest_list"]
        summary = {"operation": expected["operation"], **expected["summary"]}
        assert bundle.summary == {key: value for key, value in summary.items() if value}
        assert bundle.schema_id == expected["schema_id"]
        assert json.loads(bundle.schema_json)["fields"] == expected["schema"]["fields"]
        assert bundle.parent_id not in truth or bundle.parent_id in seen
        seen.add(bundle.snapshot_id)


@pytest.mark.parametrize(("path", "snapshot_id"), planned())
def test_data_files_are_those_of_icebergs_own_plan(
    connector: FloecatConnector, path: str, snapshot_id: int
) -> None:
    bundle = connector.plan_snapshot_files(*split(path), snapshot_id, ColumnScope())
    found = sorted((_planned(file, bundle) for file in bundle.data_files), key=lambda f: f["path"])
    truth = tables()[path]["plans"][str(snapshot_id)]
    bounds = ("lower_bounds", "upper_bounds")
    expected = [{key: row[key] for key in row if key not in bounds} for row in truth]
    assert found == [{**row, **_leaf_counts(row, bundle)} for row in expected]


@pytest.mark.parametrize(("path", "snapshot_id"), planned_by_spark())
def test_files_and_bounds_are_what_spark_lists(
    connector: FloecatConnector, path: str, snapshot_id: int
) -> None:
    rows = tables()[path]["files"][str(snapshot_id)]
    bundle = connector.plan_snapshot_files(*split(path), snapshot_id, ColumnScope())
    listed = {(row["file_path"], row["content_offset"] or 0): row for row in rows}
    names = {c.source_id: c.name for c in connector.describe(*split(path)).columns}
    files = [*bundle.delete_files, *bundle.data_files]
    assert len(files) == len(rows)
    for file in files:
        row = listed[file.file_path, file.deletion_vector.offset]
        assert CONTENTS[file.content] == row["content"]
        assert file.file_format == row["file_format"].lower()
        assert (file.record_count, file.file_size_bytes) == (
            row["record_count"],
            row["file_size_in_bytes"],
        )
        assert list(file.split_offsets) == (row["split_offsets"] or [])
        assert list(file.equality_column_ids) == (row["equality_ids"] or [])
        assert file.deletion_vector.size_bytes == (row["content_size_in_bytes"] or 0)
        if row["referenced_data_file"]:
            assert file.referenced_data_file == row["referenced_data_file"]
        for value in file.partition_values:
            assert _canonical_partition(value, row["partition"][value.name]) == (
                value.value if value.HasField("value") else None
            )
        for column in file.columns:
            # Spark lists by the names of today, whatever the snapshot.
            spark = row["readable_metrics"].get(names.get(column.column_id))
            if spark is not None:
                _check_bounds(column.scalar, spark)


@pytest.mark.parametrize(("path", "snapshot_id"), planned_by_spark())
def test_statistics_hold_for_the_rows_spark_reads(
    connector: FloecatConnector, path: str, snapshot_id: int
) -> None:
    truth = tables()[path]
    count = truth["counts"][str(snapshot_id)]
    records = list(
        connector.capture_snapshot_target_stats(*split(path), snapshot_id, ColumnScope())
    )
    table = records[-1].table
    if table.live_row_count_exact:
        assert table.live_row_count == count
    assert count <= table.row_count
    whole = table.delete_file_count == 0
    facts = truth["columns"][str(snapshot_id)]
    checked = 0
    for record in records:
        if record.HasField("scalar") and record.scalar.display_name in facts:
            checked += _check_facts(record, facts[record.scalar.display_name], whole=whole)
    assert checked or not count


@pytest.mark.parametrize(
    ("path", "column", "low", "high"),
    [
        ("types.times", "t", ("00:00:00", True), ("23:59:59.999999", True)),
        (
            "types.nanoseconds",
            "ns",
            ("1969-12-31T23:59:59.999999", False),
            ("2024-02-29T12:00:00.123457", False),
        ),
        (
            "types.nanoseconds",
            "nstz",
            ("1969-12-31T23:59:59.999999Z", False),
            ("2024-02-29T12:00:00.123457Z", False),
        ),
        (
            "types.uuid_and_fixed",
            "u",
            ("00000000-0000-0000-0000-000000000001", True),
            ("f81d4fae-7dec-11d0-a765-00a0c91e6bf6", True),
        ),
        ("types.uuid_and_fixed", "f", ("AAAAAA==", False), ("/wABAg==", False)),
    ],
)
def test_types_that_spark_has_no_words_for(
    connector: FloecatConnector, path: str, column: str, low: Any, high: Any
) -> None:
    """Their rows were read by Iceberg's own classes: two values and a NULL."""
    truth = tables()[path]
    assert len(truth["rows"]) == 3
    records = connector.capture_snapshot_target_stats(
        *split(path), truth["current_snapshot_id"], ColumnScope((column,))
    )
    (stats,) = [record.scalar for record in records if record.HasField("scalar")]
    assert ((stats.min, stats.min_tight), (stats.max, stats.max_tight)) == (low, high)
    assert (stats.value_count, stats.null_count) == (3, 1)


def _fields(spec: Any) -> list[tuple[Any, ...]]:
    return [(f.field_id, f.source_field_id, f.name, f.transform) for f in spec.fields]


def _sorting(order: Any) -> list[tuple[Any, ...]]:
    return [
        (
            field.source_field_id,
            field.transform,
            "desc" if field.descending else "asc",
            "nulls-last" if field.nulls_last else "nulls-first",
        )
        for field in order.fields
    ]


def _planned(file: ScanFile, bundle: ScanBundle) -> dict[str, Any]:
    deletes = [bundle.delete_files[index] for index in file.delete_file_indexes]
    vectors = ScanFileContent.SFC_DELETION_VECTOR
    scalars = {str(part.column_id): part.scalar for part in file.columns}
    return {
        "path": file.file_path,
        "record_count": file.record_count,
        "size": file.file_size_bytes,
        "spec_id": file.partition_spec_id,
        "data_sequence_number": file.sequence_number,
        "file_sequence_number": int(file.format_mark),
        "first_row_id": file.first_row_id if file.HasField("first_row_id") else None,
        "deletes": sorted(
            (
                [d.file_path, d.deletion_vector.offset if d.content == vectors else None]
                for d in deletes
            ),
            key=str,
        ),
        "value_counts": _known(scalars, "value_count"),
        "null_value_counts": _known(scalars, "null_count"),
        "nan_value_counts": _known(scalars, "nan_count"),
    }


def _known(scalars: dict[str, ScalarStats], name: Any) -> dict[str, int]:
    return {key: getattr(s, name) for key, s in scalars.items() if s.HasField(name)}


def _leaf_counts(row: dict[str, Any], bundle: ScanBundle) -> dict[str, Any]:
    """Counts of the columns that the snapshot's schema has: manifests keep those of dropped ones.

    Iceberg's writers don't visit what is inside a struct that is NULL. We count it as NULL.
    """
    names = ("value_counts", "null_value_counts", "nan_value_counts")
    values, nulls, nans = ({int(k): v for k, v in (row[name] or {}).items()} for name in names)
    in_lists = {"element", "key", "value"}
    for column in bundle.columns:
        found = values.get(column.source_id or 0)
        if found is not None and len(column.path) > 1 and not in_lists & set(column.path):
            nulls[column.source_id or 0] += row["record_count"] - found
            values[column.source_id or 0] = row["record_count"]
    ids = {column.source_id for column in bundle.columns}
    return {
        name: {str(k): v for k, v in counts.items() if k in ids}
        for name, counts in zip(names, (values, nulls, nans), strict=True)
    }


def _canonical(logical_type: Any, value: Any) -> str | None:
    """A value of Spark's as canonical text. Spark's instants are written without a zone, in UTC."""
    if value is None:
        return None
    logical = from_message(logical_type)
    if logical.kind.name == "TIMESTAMPTZ":
        value = f"{value}Z"
    if logical.kind.name == "DECIMAL" or isinstance(value, str):
        value = str(value)
    if logical.kind.name in {"FLOAT", "DOUBLE"}:
        value = float(value)
    return ValueEncoders().encode_to_string(logical, value)


def _canonical_partition(partition: Any, value: Any) -> str | None:
    return _canonical(partition.type, value)


def _check_bounds(stats: ScalarStats, spark: Any) -> None:
    for bound, theirs in (("min", "lower_bound"), ("max", "upper_bound")):
        ours = getattr(stats, bound) if stats.HasField(bound) else None  # type: ignore[arg-type]
        assert ours == _canonical(stats.logical_type, spark[theirs]), stats.display_name


def _check_facts(record: TargetStatsRecord, facts: dict[str, Any], *, whole: bool) -> int:
    """Bounds contain every live row's value, and are met where they say that they are tight."""
    stats = record.scalar
    if whole and stats.HasField("null_count"):
        assert stats.null_count == facts["nulls"]
    if facts.get("min") is None:
        return 0
    low = _canonical(stats.logical_type, facts["min"])
    high = _canonical(stats.logical_type, facts["max"])
    assert low is not None
    assert high is not None
    compare = comparator(from_message(stats.logical_type))
    if stats.HasField("min"):
        assert compare(stats.min, low) <= 0
        assert not (whole and stats.min_tight) or stats.min == low
    if stats.HasField("max"):
        assert compare(stats.max, high) >= 0
        assert not (whole and stats.max_tight) or stats.max == high
    return 1
