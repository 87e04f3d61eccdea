"""What other writers leave in a log: no bound excludes a value, whoever wrote it and however."""

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.connectors import open_connector

from ai.floedb.floecat.catalog.stats_pb2 import ScalarStats
from floecat.connectors.delta.files import file_uri
from floecat.connectors.spi.columns import ColumnScope
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.errors import ConnectorError
from floecat.types.encoding import ValueEncoders
from floecat.types.messages import from_message
from floecat.types.ordering import comparator

PLACE = (("default",), "t")
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def connect(folder: Path) -> FloecatConnector:
    return open_connector("delta-filesystem", f"file://{folder}", roots=[folder])


def columns(folder: Path) -> dict[str, ScalarStats]:
    with connect(folder) as connector:
        current = connector.describe(*PLACE).current_snapshot_id
        assert current is not None
        bundle = connector.plan_snapshot_files(*PLACE, current)
        paths = ColumnScope().unnumbered(bundle.columns)
        scope = ColumnScope((), {path: number for number, path in enumerate(paths, 1)})
        records = connector.capture_snapshot_target_stats(*PLACE, current, scope)
        return {r.scalar.display_name: r.scalar for r in records if r.HasField("scalar")}


def check_contains(stats: ScalarStats, values: list[Any]) -> None:
    logical = from_message(stats.logical_type)
    order = comparator(logical)
    texts = [ValueEncoders().encode_to_string(logical, value) for value in values]
    if stats.HasField("min"):
        assert all(order(stats.min, text) <= 0 for text in texts)
        assert not stats.min_tight or stats.min in texts
    if stats.HasField("max"):
        assert all(order(stats.max, text) >= 0 for text in texts)
        assert not stats.max_tight or stats.max in texts


COLUMNS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "wide": (
        pa.decimal128(38, 9),
        st.decimals(-(10**28), 10**28, places=9, allow_nan=False, allow_infinity=False),
    ),
    "middle": (pa.decimal128(18, 3), st.decimals(-(10**14), 10**14, places=3)),
    "narrow": (pa.decimal128(9, 2), st.decimals(-(10**6), 10**6, places=2)),
    "text": (pa.string(), st.text(st.characters(exclude_categories=["Cs"]), max_size=60)),
    "whole": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "real": (pa.float64(), st.floats(allow_nan=False)),
    "single": (pa.float32(), st.floats(width=32, allow_nan=False)),
    "day": (pa.date32(), st.dates(dt.date(1, 1, 2), dt.date(9999, 12, 30))),
    "moment": (
        pa.timestamp("us", "UTC"),
        st.integers(-(10**15), 10**15).map(lambda n: EPOCH + dt.timedelta(microseconds=n)),
    ),
    "raw": (pa.binary(), st.binary(max_size=8)),
}


@pytest.mark.slow
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_bound_excludes_a_value(data: st.DataObject, tmp_path: Path) -> None:
    folder = tmp_path / uuid4().hex
    count = data.draw(st.integers(1, 4))
    rows = {
        name: data.draw(st.lists(values, min_size=count, max_size=count))
        for name, (_, values) in COLUMNS.items()
    }
    table = pa.table({name: pa.array(rows[name], kind) for name, (kind, _) in COLUMNS.items()})
    write_deltalake(folder / "t", table)
    if data.draw(st.booleans()):
        DeltaTable(folder / "t").create_checkpoint()
    found = columns(folder)
    for name, values in rows.items():
        check_contains(found[name], values)


def test_decimals_that_went_through_doubles(tmp_path: Path) -> None:
    value = Decimal("-98765432109876543210.987654321")
    write_deltalake(tmp_path / "t", pa.table({"d": pa.array([value], pa.decimal128(38, 9))}))
    stats = columns(tmp_path)["d"]
    check_contains(stats, [value])
    assert not stats.min_tight


def test_long_text_in_few_characters(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "t", pa.table({"s": ["界" * 40]}))
    stats = columns(tmp_path)["s"]
    check_contains(stats, ["界" * 40])
    assert not stats.HasField("max") or not stats.max_tight


def test_bytes_as_partition_say_nothing(tmp_path: Path) -> None:
    rows = pa.table({"v": [1], "b": pa.array([b"a"], pa.binary())})
    write_deltalake(tmp_path / "t", rows, partition_by=["b"])
    assert not columns(tmp_path)["b"].HasField("min")
    with connect(tmp_path) as connector:
        [file] = connector.plan_snapshot_files(*PLACE, 0).data_files
        assert not file.partition_values


def checkpoint(folder: Path, stats: pa.Array) -> None:
    """A table whose only statistics are columns of its checkpoint."""
    write_deltalake(folder / "t", pa.table({"at": pa.array([0], pa.timestamp("us", "UTC"))}))
    DeltaTable(folder / "t").create_checkpoint()
    [path] = (folder / "t" / "_delta_log").glob("*.checkpoint.parquet")
    table = pq.read_table(path)
    add = table.column("add").combine_chunks()
    kept = [field for field in add.type if field.name not in {"stats", "stats_parsed"}]
    both = pa.struct([("minValues", stats.type), ("maxValues", stats.type)])
    parsed = pa.StructArray.from_arrays(
        [pa.concat_arrays([stats] * len(add))] * 2, fields=list(both)
    )
    parts = [add.field(field.name) for field in kept]
    rebuilt = pa.StructArray.from_arrays(
        [*parts, parsed], fields=[*kept, pa.field("stats_parsed", parsed.type)], mask=add.is_null()
    )
    table = table.set_column(table.schema.names.index("add"), "add", rebuilt)
    pq.write_table(table, path, use_deprecated_int96_timestamps=True)


@pytest.mark.parametrize("year", [2024, 3000, 9000])
def test_times_in_checkpoints_dont_wrap_around(tmp_path: Path, year: int) -> None:
    moment = dt.datetime(year, 1, 1, tzinfo=dt.UTC)
    stats = pa.array([{"at": moment}], pa.struct([("at", pa.timestamp("us", "UTC"))]))
    checkpoint(tmp_path, stats)
    found = columns(tmp_path)["at"]
    assert found.min == f"{year}-01-01T00:00:00Z"


def test_days_that_python_doesnt_have(tmp_path: Path) -> None:
    days = pa.array([4_000_000], pa.int32()).cast(pa.date32())
    stats = pa.StructArray.from_arrays([days], ["at"])
    checkpoint(tmp_path, stats)
    assert not columns(tmp_path)["at"].HasField("min")


@pytest.mark.parametrize("linked", ["_delta_log", f"_delta_log/{0:020}.json"])
def test_links_that_lead_out_arent_followed(tmp_path: Path, linked: str) -> None:
    outside, lake = tmp_path / "outside", tmp_path / "lake"
    write_deltalake(outside / "t", pa.table({"id": [1]}))
    write_deltalake(lake / "t", pa.table({"id": [1]}))
    write_deltalake(lake / "fine", pa.table({"id": [1]}))
    place = lake / "t" / linked
    if place.is_dir():
        for entry in place.iterdir():
            entry.unlink()
        place.rmdir()
    else:
        place.unlink()
    place.symlink_to(outside / "t" / linked)
    (lake / "whole").symlink_to(outside / "t")
    with connect(lake) as connector:
        assert "fine" in set(connector.list_tables(("default",)))
        for name in ("t", "whole"):
            with pytest.raises(ConnectorError):
                connector.describe(("default",), name)


@pytest.mark.parametrize(
    ("root", "path", "uri"),
    [
        ("file:///lake/t", "a%20b.parquet", "file:///lake/t/a b.parquet"),
        ("file:///lake/t", "/else/where.parquet", "file:///else/where.parquet"),
        ("s3://bucket/t", "/else/where.parquet", "s3://bucket/else/where.parquet"),
        ("s3://bucket/t", "s3://other/x", "s3://other/x"),
        ("file:///lake/t", "file:/else/x", "file:/else/x"),
    ],
)
def test_paths_in_logs(root: str, path: str, uri: str) -> None:
    assert file_uri(root, path) == uri


def test_counts_that_cant_be(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "t", pa.table({"id": [1]}))
    [commit] = (tmp_path / "t" / "_delta_log").glob("*.json")
    lines = [json.loads(line) for line in commit.read_text().splitlines()]
    for line in lines:
        if "add" in line:
            wrong = {"numRecords": -5, "nullCount": {"id": 2**63}}
            line["add"]["stats"] = json.dumps(wrong)
    commit.write_text("\n".join(json.dumps(line) for line in lines))
    stats = columns(tmp_path)["id"]
    assert not stats.HasField("value_count")
    assert not stats.HasField("null_count")
