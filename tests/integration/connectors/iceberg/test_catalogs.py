"""Catalogs of other engines: what they list, what is broken in them, and what isn't there."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField
from tests.support.iceberg import open_at, open_jdbc, open_warehouse, split
from tests.support.lakehouse import iceberg_root, iceberg_truth

from ai.floedb.floecat.catalog.stats_pb2 import NdvMethod
from floecat.connectors.iceberg.factory import FILESYSTEM, SQL
from floecat.connectors.iceberg.puffin import THETA
from floecat.connectors.iceberg.storage import Entry, SourceFiles
from floecat.connectors.spi.columns import ColumnScope
from floecat.connectors.spi.connector import FloecatConnector
from floecat.connectors.spi.errors import (
    BrokenTableError,
    PermanentUpstreamError,
    UpstreamGoneError,
    UpstreamProblem,
)
from floecat.connectors.spi.records import SnapshotEnumerationOptions

ALL = SnapshotEnumerationOptions(full_rescan=True)
BROKEN = ("broken",)


@pytest.fixture
def warehouse() -> Iterator[FloecatConnector]:
    with open_warehouse() as connector:
        yield connector


@pytest.fixture
def jdbc() -> Iterator[FloecatConnector]:
    with open_jdbc() as connector:
        yield connector


def test_a_broken_table_doesnt_stop_its_neighbours(warehouse: FloecatConnector) -> None:
    files: dict[str, int | None] = {}
    for name in warehouse.list_tables(BROKEN):
        try:
            current = warehouse.describe(BROKEN, name).current_snapshot_id
            assert current is not None
            bundle = warehouse.plan_snapshot_files(BROKEN, name, current)
            files[name] = len(list(bundle.data_files))
        except BrokenTableError:
            files[name] = None
    assert files == {"healthy_1": 2, "healthy_2": 2, "lost": None, "strange": None, "torn": None}


def test_what_is_broken_is_said(warehouse: FloecatConnector) -> None:
    with pytest.raises(BrokenTableError, match=r"broken\.torn: its metadata can't be read"):
        warehouse.describe(BROKEN, "torn")
    with pytest.raises(BrokenTableError, match="hologram"):
        warehouse.describe(BROKEN, "strange")
    current = warehouse.describe(BROKEN, "lost").current_snapshot_id
    assert current is not None
    with pytest.raises(BrokenTableError, match="missing"):
        warehouse.plan_snapshot_files(BROKEN, "lost", current)


def test_the_sql_catalog_lists_what_iceberg_put_there(jdbc: FloecatConnector) -> None:
    truth = iceberg_truth()["jdbc"]
    assert list(jdbc.list_namespaces()) == [("sales",), ("sales", "eu")]
    assert list(jdbc.list_tables(("sales",))) == ["orders"]
    assert list(jdbc.list_tables(("sales", "eu"))) == ["orders"]
    for path, table in truth["tables"].items():
        current = table["current_snapshot_id"]
        bundle = jdbc.plan_snapshot_files(*split(path), current)
        found = sorted((file.file_path, file.record_count) for file in bundle.data_files)
        assert found == [(row["path"], row["record_count"]) for row in table["plans"][str(current)]]


def test_a_view_is_its_current_version(jdbc: FloecatConnector) -> None:
    truth = iceberg_truth()["jdbc"]["views"]["sales.big_orders"]
    assert list(jdbc.list_views(("sales",))) == ["big_orders"]
    view = jdbc.describe_view(("sales",), "big_orders")
    version = next(v for v in truth["versions"] if v["version-id"] == truth["current-version-id"])
    assert len(truth["versions"]) > 1
    assert [(d.dialect, d.sql) for d in view.sql_definitions] == [
        (r["dialect"], r["sql"]) for r in version["representations"]
    ]
    assert "1500" in view.sql_definitions[0].sql
    assert view.default_namespace == tuple(version["default-namespace"])
    assert view.default_catalog == version.get("default-catalog", "")
    assert view.description == "above 1500"
    assert view.properties["owner_team"] == "sales"
    columns = [(c.name, c.comment, c.type.precision) for c in view.output_columns]
    assert columns == [("order_id", "of the order", 0), ("amount", "", 9)]
    with pytest.raises(UpstreamGoneError):
        jdbc.describe_view(("sales",), "orders")
    with pytest.raises(UpstreamGoneError):
        jdbc.describe(("sales",), "big_orders")


def test_a_thousand_snapshots(warehouse: FloecatConnector) -> None:
    where = ("history",), "thousand"
    snapshots = list(warehouse.enumerate_snapshots(*where, ALL))
    assert [bundle.summary["number"] for bundle in snapshots] == [str(n) for n in range(1000)]
    known = frozenset(bundle.snapshot_id for bundle in snapshots[:990])
    new = warehouse.enumerate_snapshots(
        *where, SnapshotEnumerationOptions(known_snapshot_ids=known)
    )
    assert [bundle.snapshot_id for bundle in new] == [b.snapshot_id for b in snapshots[990:]]
    target = frozenset({snapshots[500].snapshot_id})
    options = SnapshotEnumerationOptions(known_snapshot_ids=known, target_snapshot_ids=target)
    (middle,) = warehouse.enumerate_snapshots(*where, options)
    assert middle.parent_id == snapshots[499].snapshot_id
    bundle = warehouse.plan_snapshot_files(*where, middle.snapshot_id)
    assert sum(file.record_count for file in bundle.data_files) == 6


def test_bundles_carry_icebergs_own_documents(warehouse: FloecatConnector) -> None:
    truth = iceberg_truth()["warehouse"]["tables"]["statistics.theta"]
    found = 0
    for bundle in warehouse.enumerate_snapshots(("statistics",), "theta", ALL):
        document = json.loads(bundle.metadata["iceberg.snapshot"])
        assert document["snapshot-id"] == bundle.snapshot_id
        log = [when for when, which in truth["history"] if which == bundle.snapshot_id]
        assert json.loads(bundle.metadata["iceberg.snapshot-log"]) == log
        files = [
            f["path"] for f in truth["statistics_files"] if f["snapshot_id"] == bundle.snapshot_id
        ]
        stored = json.loads(bundle.metadata.get("iceberg.statistics", b"[]"))
        assert [file["statistics-path"] for file in stored] == files
        found += len(files)
    assert found == 2


def test_distinct_values_come_from_puffin(warehouse: FloecatConnector) -> None:
    truth = iceberg_truth()["warehouse"]["tables"]["statistics.theta"]
    where = ("statistics",), "theta"
    for statistics in truth["statistics_files"]:
        records = warehouse.capture_snapshot_target_stats(
            *where, statistics["snapshot_id"], ColumnScope()
        )
        found = {
            record.target.column.column_id: record.scalar
            for record in records
            if record.HasField("scalar") and record.scalar.HasField("ndv")
        }
        stated = {
            blob["fields"][0]: float(blob["properties"]["ndv"]) for blob in statistics["blobs"]
        }
        assert {column: stats.ndv.approx.estimate for column, stats in found.items()} == stated
        known = warehouse.distinct_values(*where, statistics["snapshot_id"])
        assert {column: one.ndv for column, one in known.items()} == {
            column: stats.ndv for column, stats in found.items()
        }
        for stats in found.values():
            approx = stats.ndv.approx
            assert 0 < approx.lower_bound <= approx.estimate <= approx.upper_bound
            assert stats.ndv.method == NdvMethod.NM_PUFFIN
            assert stats.sketches[0].type == THETA
            assert stats.sketches[0].data
    current = truth["current_snapshot_id"]
    records = warehouse.capture_snapshot_target_stats(*where, current, ColumnScope())
    assert not any(r.scalar.HasField("ndv") for r in records if r.HasField("scalar"))
    assert warehouse.distinct_values(*where, current) == {}


def test_constraints_are_required_and_identifier_fields(warehouse: FloecatConnector) -> None:
    *_, last = warehouse.enumerate_snapshots(("evolution",), "schema", ALL)
    found = [(c.type, [(k.column_id, k.name) for k in c.columns]) for c in last.constraints]
    assert found == [(5, [(1, "id")]), (1, [(1, "id")])]


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        (("#1",), {"id"}),
        (("person.home",), {"person.home.city", "person.home.at.lat", "person.home.at.lon"}),
        (("grid", "labels.value"), {"grid.element.element", "labels.value"}),
        (("dotted.name.in.ner",), {"dotted.name.in.ner"}),
        (("no such",), set()),
    ],
)
def test_selectors_reach_nested_columns(
    warehouse: FloecatConnector, selectors: tuple[str, ...], expected: set[str]
) -> None:
    where = ("types",), "nested"
    current = warehouse.describe(*where).current_snapshot_id
    assert current is not None
    records = list(warehouse.capture_snapshot_target_stats(*where, current, ColumnScope(selectors)))
    names = {record.scalar.display_name for record in records if record.HasField("scalar")}
    assert names == expected


def test_pyicebergs_own_sql_catalog(tmp_path: Path) -> None:
    catalog = SqlCatalog(
        "mine", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}/warehouse"
    )
    catalog.create_namespace("a.b")
    catalog.create_table("a.b.t", Schema(NestedField(1, "id", LongType(), required=True)))
    other = SqlCatalog("other", uri=f"sqlite:///{tmp_path}/c.db", init_catalog_tables="false")
    try:
        with open_at(SQL, f"sqlite:///{tmp_path}/c.db", tmp_path) as connector:
            assert list(connector.list_namespaces()) == [("a",), ("a", "b")]
            described = connector.describe(("a", "b"), "t")
            assert described.current_snapshot_id is None
            assert described.columns[0].required
        other.create_namespace("x")
        other.create_table("x.t", Schema(NestedField(1, "id", LongType())), f"file://{tmp_path}/x")
        with pytest.raises(PermanentUpstreamError, match="catalog-name"):
            open_at(SQL, f"sqlite:///{tmp_path}/c.db", tmp_path)
        options = {"catalog-name": "other"}
        with open_at(SQL, f"sqlite:///{tmp_path}/c.db", tmp_path, options) as connector:
            assert list(connector.list_namespaces()) == [("x",)]
    finally:
        catalog.engine.dispose()
        other.engine.dispose()


def test_a_sql_catalog_may_fill_and_empty_again(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/c.db"
    catalog = SqlCatalog("mine", uri=uri, warehouse=f"file://{tmp_path}/warehouse")
    schema = Schema(NestedField(1, "id", LongType()))
    try:
        with open_at(SQL, uri, tmp_path) as connector:
            assert list(connector.list_namespaces()) == []
            catalog.create_namespace("a")
            assert list(connector.list_namespaces()) == [("a",)]
            assert list(connector.list_tables(("a",))) == []
            catalog.create_table("a.t", schema)
            assert list(connector.list_tables(("a",))) == ["t"]
            catalog.drop_table("a.t")
            assert list(connector.list_namespaces()) == [("a",)]
        with open_at(SQL, uri, tmp_path) as later:
            assert list(later.list_namespaces()) == [("a",)]
            assert list(later.list_tables(("a",))) == []
    finally:
        catalog.engine.dispose()


def test_settings_of_today_say_nothing_of_older_files(tmp_path: Path) -> None:
    """The file's bounds were cut to four characters, and no setting tells so any more."""
    catalog = SqlCatalog(
        "mine", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}/warehouse"
    )
    rows = pa.table({"text": ["abcdefgh", "zzzzzzzz"], "data": [b"abcdefgh", b"zzzzzzzz"]})
    setting = "write.metadata.metrics.default"
    try:
        catalog.create_namespace("a")
        table = catalog.create_table("a.t", rows.schema, properties={setting: "truncate(4)"})
        table.append(rows)
        with table.transaction() as transaction:
            transaction.remove_properties(setting)
        with open_at(SQL, f"sqlite:///{tmp_path}/c.db", tmp_path) as connector:
            current = connector.describe(("a",), "t").current_snapshot_id
            assert current is not None
            records = connector.capture_snapshot_target_stats(("a",), "t", current, ColumnScope())
            columns = [record.scalar for record in records if record.HasField("scalar")]
        assert columns[0].min == "abcd"
        assert [(c.min_tight, c.max_tight) for c in columns] == [(False, False)] * 2
    finally:
        catalog.engine.dispose()


def test_a_database_may_be_called_anything(tmp_path: Path) -> None:
    odd = tmp_path / "50% #1" / "lake.db"
    odd.parent.mkdir()
    odd.write_bytes((iceberg_root() / "catalog.db").read_bytes())
    with open_at(SQL, f"sqlite:///{odd}", tmp_path) as connector:
        assert list(connector.list_namespaces()) == [("sales",), ("sales", "eu")]


def test_a_database_without_a_catalog_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    with pytest.raises(PermanentUpstreamError) as raised:
        open_at(SQL, f"sqlite:///{tmp_path}/empty.db", tmp_path)
    assert raised.value.problem is UpstreamProblem.NO_SUCH_WAREHOUSE
    with pytest.raises(PermanentUpstreamError):
        open_at(SQL, f"sqlite:///{tmp_path}/missing.db", tmp_path)
    assert not (tmp_path / "missing.db").exists()


@pytest.mark.parametrize("uri", ["file:/etc", "/etc/passwd", "file:{root}/../.."])
def test_folders_outside_the_roots_arent_read(uri: str, tmp_path: Path) -> None:
    with pytest.raises(PermanentUpstreamError) as raised:
        open_at(FILESYSTEM, uri.format(root=tmp_path), tmp_path)
    assert raised.value.problem is UpstreamProblem.ADDRESS_NOT_ALLOWED


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """A warehouse with a sound table, and beside it links that lead out of it."""
    warehouse, outside = tmp_path / "warehouse", tmp_path / "outside"
    source = iceberg_root() / "warehouse" / "deep" / "top" / "metadata"
    for folder in (warehouse / "ns" / "sound", outside / "t"):
        folder.mkdir(parents=True)
        shutil.copytree(source, folder / "metadata")
    (warehouse / "away").symlink_to(outside)
    (warehouse / "ns" / "away").symlink_to(outside / "t")
    (warehouse / "ns" / "half").mkdir()
    (warehouse / "ns" / "half" / "metadata").symlink_to(outside / "t" / "metadata")
    (warehouse / "ns" / "nowhere").symlink_to(tmp_path / "nowhere")
    return warehouse


def test_a_link_out_of_the_roots_is_its_own_failure(linked: Path) -> None:
    with open_at(FILESYSTEM, str(linked), linked) as connector:
        assert list(connector.list_namespaces()) == [("ns",)]
        assert list(connector.list_tables(("ns",))) == ["away", "half", "sound"]
        for name in ("away", "half"):
            with pytest.raises(BrokenTableError) as raised:
                connector.describe(("ns",), name)
            assert raised.value.problem is UpstreamProblem.ADDRESS_NOT_ALLOWED
        assert connector.describe(("ns",), "sound").columns
        with pytest.raises(UpstreamGoneError):
            list(connector.list_tables(("away",)))


@pytest.mark.parametrize("target", [".", "..", "../ns"])
def test_a_link_back_leads_nowhere(linked: Path, target: str) -> None:
    (linked / "ns" / "round").symlink_to(target, target_is_directory=True)
    with open_at(FILESYSTEM, str(linked), linked) as connector:
        assert list(connector.list_namespaces()) == [("ns",)]
        assert connector.describe(("ns",), "sound").columns


def test_a_folder_that_cant_be_read_is_its_own_failure(
    linked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (linked / "locked").mkdir()
    whole = SourceFiles.entries

    def entries(files: SourceFiles, uri: str) -> list[Entry]:
        if "/locked" in uri:
            raise PermissionError(13, "Permission denied", uri)
        return whole(files, uri)

    monkeypatch.setattr(SourceFiles, "entries", entries)
    with open_at(FILESYSTEM, str(linked), linked) as connector:
        assert list(connector.list_namespaces()) == [("ns",)]


def test_a_folder_that_isnt_there_has_nothing(tmp_path: Path) -> None:
    with open_at(FILESYSTEM, f"{tmp_path}/nowhere", tmp_path) as connector:
        assert list(connector.list_namespaces()) == []


def test_the_hint_may_be_behind(tmp_path: Path) -> None:
    source = iceberg_root() / "warehouse" / "deep" / "top" / "metadata"
    target = tmp_path / "ns" / "t" / "metadata"
    target.mkdir(parents=True)
    for number in (1, 2):
        name = f"v{number}.metadata.json"
        (target / name).write_bytes((source / name).read_bytes())
    for hint in ("1", "2", "nonsense"):
        (target / "version-hint.text").write_text(hint)
        with open_at(FILESYSTEM, str(tmp_path), tmp_path) as connector:
            properties = connector.describe(("ns",), "t").properties
            assert properties["iceberg.metadata-location"].endswith("v2.metadata.json")


@pytest.mark.parametrize(
    ("uri", "options", "message"),
    [
        ("https://somewhere", {}, "starts with"),
        ("sqlite:////somewhere", {"s3.region": "eu.evil.example/"}, "region"),
        ("postgresql://user:hunter2@db/x", {}, "user or password"),
    ],
)
def test_bad_specs_are_refused_with_a_reason(
    uri: str, options: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(PermanentUpstreamError, match=message) as raised:
        open_at(SQL, uri, tmp_path, options)
    assert raised.value.problem is UpstreamProblem.BAD_SPEC
    assert "hunter2" not in raised.value.message
