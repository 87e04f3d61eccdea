"""`floecat stats` as people use it: a lake that was captured, and one that wasn't yet."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from google.protobuf.json_format import ParseDict
from tests.support.cli import Cli, serving
from tests.support.lake import ROWS, Lake

import floecat
from ai.floedb.floecat.catalog.stats_pb2 import PutTargetStatsRequest, TargetStatsRecord

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    lake = Lake(tmp_path_factory.mktemp("stats"))
    lake.add("sales.orders", snapshots=3)
    return lake


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory, lake: Lake) -> Iterator[Cli]:
    home = tmp_path_factory.mktemp("home")
    roots = str(lake.folder)
    settings = {"capture_engine": "inline", "outbound_file_roots": roots}
    with serving(home, reconciler_max_parallelism="2", **settings) as cli:
        create = ("connector", "create", "lake", "--kind", "iceberg-sql", "--uri", lake.uri)
        cli(*create, "--into", "lake")
        cli("connector", "trigger", "lake", "--all", "--wait")
        yield cli


def rows_of(lake: Lake) -> int:
    return int(lake.catalog.load_table("sales.orders").scan().to_arrow().num_rows)


def test_a_table(cli: Cli, lake: Lake) -> None:
    shown = cli("stats", "table", "lake.sales.orders").fields
    assert shown["rows"] == str(rows_of(lake))
    assert shown["data files"] == "3"
    assert shown["seen"] == "all 3 files"
    assert "from snapshot" in shown["captured"]
    told = cli("stats", "table", "lake.sales.orders", "--json").json
    assert told["table"]["row_count"] == str(rows_of(lake))
    assert told["metadata"]["generation"] == "1"


def test_columns(cli: Cli) -> None:
    ran = cli("stats", "columns", "lake.sales.orders")
    assert [row[0] for row in ran.rows] == ["id", "name"]
    assert ran.out.startswith("COLUMN")
    assert "captured" in ran.err
    one = cli("stats", "columns", "lake.sales.orders", "--column", "id").fields
    assert one["column"] == "id"
    assert "…" in one["range"]
    same = cli("stats", "columns", "lake.sales.orders", "--column", "#1").fields
    assert same["range"] == one["range"]
    assert one["distribution"] == "███"
    both = ("--column", "#1", "--column", "id")
    assert cli("stats", "columns", "lake.sales.orders", *both).fields["column"] == "id"
    assert len(cli("stats", "columns", "lake.sales.orders", *both, "--column", "name").rows) == 2
    told = cli("stats", "columns", "lake.sales.orders", "--json").json
    assert [record["target"]["column"]["column_id"] for record in told] == [1, 2]
    assert not any(sketch["data"] for record in told for sketch in record["scalar"]["sketches"])
    limited = cli("stats", "columns", "lake.sales.orders", "--limit", "1")
    assert len(limited.rows) == 1
    assert "… and more" in limited.err
    wrong = cli.run("stats", "columns", "lake.sales.orders", "--column", "nope")
    assert wrong.code != 0
    assert "known are id, name" in wrong.err


def test_files(cli: Cli, lake: Lake) -> None:
    ran = cli("stats", "files", "lake.sales.orders")
    assert len(ran.rows) == 3
    assert all(row[0].endswith(".parquet") for row in ran.rows)
    assert sum(int(row[1]) for row in ran.rows) == rows_of(lake)
    bounded = cli("stats", "files", "lake.sales.orders", "--column", "id", "--limit", "2")
    assert bounded.out.splitlines()[0].endswith("id MIN … MAX")
    assert all("…" in row[-1] for row in bounded.rows)
    told = cli("stats", "files", "lake.sales.orders", "--json").json
    assert len(told[0]["file"]["columns"]) == 2


def test_a_column_that_only_some_files_know(cli: Cli, lake: Lake) -> None:
    lake.add("sales.partly")
    trigger = ("connector", "trigger", "lake", "--table", "sales.partly", "--wait")
    cli(*trigger, "--column", "id")
    lake.append("sales.partly")
    cli(*trigger, "--column", "name")
    assert [row[0] for row in cli("stats", "columns", "lake.sales.partly").rows] == ["name"]
    for column in ("id", "#1"):
        ran = cli("stats", "files", "lake.sales.partly", "--column", column)
        assert len(ran.rows) == 2
        assert "id MIN … MAX" in ran.out.splitlines()[0]
        assert ran.out.count("1 … 3") == 1
    wrong = cli.run("stats", "files", "lake.sales.partly", "--column", "nope")
    assert wrong.code != 0
    assert "its columns are id, name" in wrong.err


def test_an_earlier_snapshot(cli: Cli, lake: Lake) -> None:
    first = lake.catalog.load_table("sales.orders").snapshots()[0].snapshot_id
    shown = cli("stats", "table", "lake.sales.orders", "--snapshot", str(first)).fields
    assert shown["data files"] == "1"
    assert f"from snapshot {first}" in shown["captured"]


def test_a_page_index(cli: Cli, tmp_path: Path) -> None:
    table = ("stats", "index", "lake.sales.orders")
    listed = cli(*table).rows
    assert [row[1] for row in listed] == ["ready"] * 3
    one = (*table, "--file", listed[0][0])
    shown = cli(*one).fields
    assert (shown["file"], shown["state"], shown["rows"]) == (listed[0][0], "ready", "3")
    assert shown["columns"] == "#1, #2"
    assert cli(*one, "--json").json["target_file"]["file_path"] == listed[0][0]
    target = tmp_path / "index.parquet"
    cli(*one, "-o", str(target))
    assert target.read_bytes()[:4] == b"PAR1"
    nameless = cli.run(*table, "-o", str(target))
    assert nameless.code == 2
    assert "say which with --file" in nameless.err
    assert cli.run(*one, "-o", str(target), "--json").code == 2


def test_nothing_captured_says_what_to_run(cli: Cli) -> None:
    table = cli.make_table("plain.db.things")
    cli("snapshot", "create", table, "--snapshot", "1")
    nothing = cli.run("stats", "table", table)
    assert nothing.code == 3
    assert "nothing was captured" in nothing.err
    assert "floecat connector trigger CONNECTOR" in nothing.err
    assert "floecat connector jobs" not in nothing.err
    for verb in ("columns", "files", "index"):
        for more in ((), ("--json",)):
            assert cli.run("stats", verb, table, *more) == nothing
    assert cli.run("stats", "columns", table, "--column", "id") == nothing
    assert cli.run("stats", "index", table, "--file", "x").code != 0


def test_the_connector_of_a_table_is_named(cli: Cli, lake: Lake) -> None:
    lake.add("sales.later")
    cli(
        "connector",
        "trigger",
        "lake",
        "--table",
        "sales.later",
        "--mode",
        "metadata-only",
        "--wait",
    )
    nothing = cli.run("stats", "columns", "lake.sales.later")
    assert nothing.code == 3
    assert "floecat connector trigger lake --mode" in nothing.err
    assert "floecat connector jobs lake" in nothing.err


def test_what_was_captured_says_why_nothing_is_there(cli: Cli, lake: Lake) -> None:
    lake.add("sales.empty", snapshots=0)
    empty = lake.catalog.load_table("sales.empty")
    empty.append(ROWS.slice(0, 0))
    lake.add("sales.plain")
    trigger = ("connector", "trigger", "lake", "--wait", "--capture", "stats", "--table")
    cli(*trigger, "sales.empty")
    cli(*trigger, "sales.plain")
    for verb in ("columns", "files", "index"):
        ran = cli("stats", verb, "lake.sales.empty")
        assert ran.err == "lake.sales.empty was captured, and has no files\n"
        assert cli("stats", verb, "lake.sales.empty", "--json").json == []
    ran = cli("stats", "index", "lake.sales.plain")
    assert "was captured, but without page indexes" in ran.err
    assert "--capture index" in ran.err


def test_deleted_rows_are_told_of_under_the_columns(cli: Cli) -> None:
    table = "lake.sales.orders"
    assert "deleted" not in cli("stats", "columns", table).err
    record = ParseDict(cli("stats", "table", table, "--json").json, TargetStatsRecord())
    record.table.live_row_count = record.table.row_count - 2
    request = PutTargetStatsRequest(
        table_id=record.table_id, snapshot_id=record.snapshot_id, records=[record]
    )
    with floecat.connect(cli.environment["FLOECAT_CLIENT_SERVER"]) as clients:
        clients.statistics.PutTargetStats(iter([request]))
    told = "of 9 rows in files, 2 are deleted"
    assert told in cli("stats", "columns", table).err
    assert told in cli("stats", "columns", table, "--column", "id").err
    assert not cli("stats", "columns", table, "--json").err


def test_help_has_examples(cli: Cli, tmp_path: Path) -> None:
    assert "Example: floecat stats columns" in cli("stats", "--help").out
    for verb in ("table", "columns", "files", "index"):
        assert f"floecat stats {verb}" in cli("stats", verb, "--help").out
