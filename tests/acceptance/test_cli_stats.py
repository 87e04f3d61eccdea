"""`floecat stats` as people use it: a lake that was captured, and one that wasn't yet."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.cli import Cli, serving
from tests.support.lake import Lake

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
    with serving(home, reconciler_max_parallelism="2", outbound_file_roots=roots) as cli:
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
    told = cli("stats", "columns", "lake.sales.orders", "--json").json
    assert [record["target"]["column"]["column_id"] for record in told] == [1, 2]
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


def test_nothing_captured_says_what_to_run(cli: Cli) -> None:
    table = cli.make_table("plain.db.things")
    cli("snapshot", "create", table, "--snapshot", "1")
    nothing = cli.run("stats", "table", table)
    assert nothing.code != 0
    assert "nothing was captured" in nothing.err
    assert "floecat connector trigger" in nothing.err
    for verb in ("columns", "files", "index"):
        ran = cli("stats", verb, table)
        assert not ran.out
        assert "floecat connector trigger" in ran.err
        assert cli("stats", verb, table, "--json").json == []
    assert cli.run("stats", "index", table, "--file", "x").code != 0


def test_help_has_examples(cli: Cli, tmp_path: Path) -> None:
    assert "Example: floecat stats columns" in cli("stats", "--help").out
    for verb in ("table", "columns", "files", "index"):
        assert f"floecat stats {verb}" in cli("stats", verb, "--help").out
