"""Catalogs, namespaces, tables and views on the command line, from creation to deletion."""

import json

import pytest
from tests.support.cli import Cli

pytestmark = pytest.mark.slow  # a process for every step

SCHEMA = {
    "type": "struct",
    "fields": [
        {"id": 1, "name": "id", "required": True, "type": "long"},
        {"id": 2, "name": "ordered_at", "required": False, "type": "timestamptz"},
    ],
}


def test_the_first_command_works(floecat: Cli) -> None:
    assert floecat("catalog", "list").rows[0][:2] == ["main", "just now"]


def test_a_catalog_lives_from_create_to_delete(floecat: Cli) -> None:
    assert floecat("catalog", "create", "life", "--description", "All of it").out == (
        "created catalog life\n"
    )
    assert ["life", "just now", "All of it"] in floecat("catalog", "list").rows
    assert floecat("catalog", "get", "life").fields["description"] == "All of it"
    floecat("catalog", "update", "life", "--rename", "afterlife", "--set", "owner=ada")
    found = floecat("catalog", "get", "afterlife").fields
    assert (found["version"], found["properties"]) == ("2", "owner = ada")
    assert floecat.run("catalog", "get", "life").code == 3
    assert floecat("catalog", "delete", found["id"]).out == f"deleted catalog {found['id']}\n"
    assert floecat.run("catalog", "get", "afterlife").code == 3


def test_a_table_is_created_listed_shown_renamed_moved_and_deleted(
    floecat: Cli, catalog: str
) -> None:
    floecat("namespace", "create", f"{catalog}.eu.west", "--parents")
    name = f"{catalog}.eu.orders"
    floecat(
        *("table", "create", name, "--schema", "-", "--format", "iceberg"),
        *("--location", "s3://lake/orders", "--partition-by", "day(ordered_at)"),
        stdin=json.dumps(SCHEMA),
    )
    assert floecat("table", "list", f"{catalog}.eu").rows == [[name, "iceberg", "just now"]]
    shown = floecat("table", "get", name)
    assert "columns         id long not null\n                ordered_at timestamptz\n" in shown.out
    assert shown.fields["partitioned by"] == "ordered_at_day (day)"
    assert shown.fields["location"] == "s3://lake/orders"
    floecat("table", "update", name, "--rename", "bought")
    moved = floecat("table", "update", f"{catalog}.eu.bought", "--move-to", f"{catalog}.eu.west")
    assert moved.out == f"updated table {catalog}.eu.west.bought (version 3)\n"
    by_id = floecat("table", "get", shown.fields["id"]).fields
    assert by_id["name"] == f"{catalog}.eu.west.bought"
    floecat("table", "delete", f"{catalog}.eu.west.bought")
    assert floecat("table", "list", f"{catalog}.eu.west").err == "there are none\n"


def test_a_namespace_moves_with_everything_in_it(floecat: Cli, catalog: str) -> None:
    floecat.make_table(f"{catalog}.eu.west.t")
    floecat("namespace", "update", f"{catalog}.eu.west", "--move-to", catalog, "--rename", "w")
    assert floecat("table", "list", f"{catalog}.w").rows[0][0] == f"{catalog}.w.t"
    listed = floecat("namespace", "list", catalog, "--recursive").rows
    assert [row[0] for row in listed] == [f"{catalog}.eu", f"{catalog}.w"]
    floecat.make(f"{catalog}-2")
    refused = floecat.run("namespace", "update", f"{catalog}.w", "--move-to", f"{catalog}-2")
    assert (refused.code, "another catalog" in refused.err) == (2, True)


def test_a_view_has_a_text_for_each_dialect(floecat: Cli, catalog: str) -> None:
    floecat.make(f"{catalog}.eu")
    (floecat.folder / "recent.sql").write_text("select *\nfrom orders\n")
    floecat(
        *("view", "create", f"{catalog}.eu.recent", "--reads", f"{catalog}.eu.orders"),
        *("--sql", "@recent.sql", "--dialect", "trino", "--sql", "select 1", "--dialect", "DuckDB"),
    )
    shown = floecat("view", "get", f"{catalog}.eu.recent")
    assert "sql (trino)   select *\n              from orders\n" in shown.out
    assert shown.fields["sql (duckdb)"] == "select 1"
    assert shown.fields["reads"] == f"{catalog}.eu.orders"
    assert floecat("view", "list", f"{catalog}.eu").rows[0][1] == "trino, duckdb"
    one_short = floecat.run("view", "create", f"{catalog}.eu.v", "--sql", "select 1")
    assert (one_short.code, "one dialect for each" in one_short.err) == (2, True)
    floecat("view", "delete", f"{catalog}.eu.recent")


def test_odd_names_are_quoted_and_can_be_pasted_back(floecat: Cli, catalog: str) -> None:
    odd = f'{catalog}."odd.name"."say ""hi"""'
    floecat("namespace", "create", f'{catalog}."odd.name"')
    floecat("table", "create", odd)
    [[listed, *_]] = floecat("table", "list", f'{catalog}."odd.name"').rows
    assert listed == odd
    assert floecat("table", "get", listed).fields["name"] == odd


def test_properties_are_set_and_unset_one_by_one(floecat: Cli) -> None:
    floecat("catalog", "create", "props", "--set", "a=1", "--set", "b=x=y")
    floecat("catalog", "update", "props", "--set", "c=3", "--unset", "a")
    found = floecat("catalog", "get", "props", "--json").json
    assert found["catalog"]["properties"] == {"b": "x=y", "c": "3"}
    floecat("catalog", "update", "props", "--unset", "b", "--unset", "c")
    assert floecat("catalog", "get", "props", "--json").json["catalog"]["properties"] == {}


def test_names_lead_to_ids_and_ids_to_names(floecat: Cli, catalog: str) -> None:
    floecat.make(f"{catalog}.eu.both")
    floecat.make_table(f"{catalog}.eu.both")
    rows = floecat("resolve", catalog, f"{catalog}.eu.both").rows
    assert [row[:2] for row in rows] == [
        [catalog, "catalog"],
        [f"{catalog}.eu.both", "namespace"],
        [f"{catalog}.eu.both", "table"],
    ]
    assert floecat("resolve", *(row[2] for row in rows)).rows == rows
    [answer] = floecat("resolve", catalog, "--json").json
    assert answer["resource_id"]["kind"] == "RK_CATALOG"


def test_the_tree_is_drawn_and_says_what_it_leaves_out(floecat: Cli, catalog: str) -> None:
    for name in "abc":
        floecat.make_table(f"{catalog}.eu.{name}")
    assert floecat("tree", catalog).out == (f"{catalog}\n└── eu\n    ├── a\n    ├── b\n    └── c\n")
    bounded = floecat("tree", catalog, "--limit", "2")
    assert bounded.out == f"{catalog}\n└── eu\n    ├── a\n    ├── b\n    └── …\n"
    assert "left out" in bounded.err
    assert floecat("tree", catalog, "--depth", "1").out == f"{catalog}\n└── eu\n"
    [tree] = floecat("tree", catalog, "--json", "--limit", "2").json
    [eu] = tree["children"]
    assert ([t["name"] for t in eu["children"]], eu["more"]) == (["a", "b"], True)


def test_accounts_are_worlds_of_their_own(floecat: Cli) -> None:
    floecat("account", "create", "acme")
    floecat("--account", "acme", "catalog", "create", "theirs")
    assert [row[0] for row in floecat("--account", "acme", "catalog", "list").rows] == ["theirs"]
    assert floecat.run("catalog", "get", "theirs").code == 3
    assert floecat.run("account", "delete", "acme").code == 5
    floecat("account", "delete", "acme", "--cascade")
    assert floecat.run("--account", "acme", "catalog", "list").code == 6


@pytest.mark.parametrize("size", [1, 3])
def test_lists_take_as_many_as_asked_for_and_say_that_there_are_more(
    floecat: Cli, catalog: str, size: int
) -> None:
    floecat.make(*(f"{catalog}.{name}" for name in "abcd"))
    limited = floecat("namespace", "list", catalog, "--limit", str(size))
    assert len(limited.rows) == size
    assert limited.err == f"… and more: --limit showed the first {size}\n"
    assert len(floecat("namespace", "list", catalog).rows) == 4
    assert len(floecat("namespace", "list", catalog, "--prefix", "c").rows) == 1
