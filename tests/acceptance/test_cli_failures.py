"""When something isn't there, isn't right or doesn't answer: one line, and its exit code."""

import json
import os
import pty
import subprocess

import pytest
from tests.support.cli import PROGRAM, Cli

pytestmark = pytest.mark.slow  # a process for every step


@pytest.fixture
def orders(floecat: Cli, catalog: str) -> str:
    return floecat.make_table(f"{catalog}.eu.west.orders")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("{c}.eu.west.ordres", "there is no table or view {c}.eu.west.ordres; did you mean {o}?"),
        (
            "{c}.eu.wset.orders",
            "there is no namespace {c}.eu.wset (in {c}.eu.wset.orders); did you mean {c}.eu.west?",
        ),
        ("{c}.zz.orders", "there is no namespace {c}.zz (in {c}.zz.orders)"),
        ("{c}.eu.west.qqqqqqqq", "there is no table or view {c}.eu.west.qqqqqqqq"),
    ],
)
def test_a_name_that_leads_nowhere_says_where_it_stops(
    floecat: Cli, catalog: str, orders: str, wrong: str, message: str
) -> None:
    failed = floecat.run("table", "get", wrong.format(c=catalog))
    assert failed.err == f"floecat: {message.format(c=catalog, o=orders)}\n"
    assert (failed.code, failed.out) == (3, "")


def test_a_catalog_is_suggested_too(floecat: Cli) -> None:
    floecat.make("warehouse")
    failed = floecat.run("namespace", "list", "werehouse")
    assert failed.err == "floecat: there is no catalog werehouse; did you mean warehouse?\n"


def test_a_view_is_not_a_table(floecat: Cli, catalog: str, orders: str) -> None:
    name = f"{catalog}.eu.v"
    floecat("view", "create", name, "--sql", "select 1", "--dialect", "trino")
    failed = floecat.run("table", "get", name)
    assert failed.err == f"floecat: {name} is a view, not a table: use 'floecat view …'\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["table", "get", "a..b"], 2),
        (["table", "get", "onepart"], 2),
        (["table", "get"], 2),
        (["table", "get", "a.b.c", "--nonsense"], 2),
        (["nonsense"], 2),
        (["catalog", "update", "main"], 2),
        (["catalog", "create", "x", "--set", "novalue"], 2),
        (["catalog", "create", "a.b"], 2),
        (["catalog", "create", "main"], 4),
        (["catalog", "get", "00000000-0000-0000-0000-000000000000"], 3),
        (["resolve", "00000000-0000-0000-0000-000000000000"], 3),
        (["table", "create", "main.none.t"], 3),
        (["table", "create", "main.none.t", "--schema", "no-such-file"], 3),
    ],
)
def test_every_failure_is_one_line_and_its_code(
    floecat: Cli, arguments: list[str], code: int
) -> None:
    failed = floecat.run(*arguments)
    assert (failed.code, failed.out) == (code, "")
    assert len(failed.err.splitlines()) == 1
    assert failed.err.startswith("floecat: ")


def test_preconditions_by_version_and_by_etag(floecat: Cli, catalog: str) -> None:
    meta = floecat("catalog", "get", catalog, "--json").json["meta"]
    change = ("catalog", "update", catalog, "--description", "new")
    assert floecat.run(*change, "--version", "7").code == 5
    assert floecat.run(*change, "--etag", "nonsense").code == 5
    changed = floecat(*change, "--version", meta["version"], "--etag", meta["etag"], "--json").json
    assert changed["meta"]["version"] == "2"
    stale = floecat.run("catalog", "delete", catalog, "--etag", meta["etag"])
    assert (stale.code, "read it again" in stale.err) == (5, True)
    floecat("catalog", "delete", catalog, "--version", "2")


def test_a_key_makes_a_command_happen_once(floecat: Cli) -> None:
    create = ("catalog", "create", "once", "--idempotency-key", "k1", "--json")
    assert floecat(*create).out == floecat(*create).out
    other = floecat.run("catalog", "create", "twice", "--idempotency-key", "k1")
    assert (other.code, "another request" in other.err) == (5, True)
    edit = ("catalog", "update", "once", "--set", "a=1", "--idempotency-key", "k2")
    assert floecat.run(*edit).code == 2  # without a version the second run would differ
    expecting = (*edit, "--version", "1", "--json")
    assert floecat(*expecting).out == floecat(*expecting).out


def test_what_is_not_empty_goes_only_with_cascade(floecat: Cli, catalog: str, orders: str) -> None:
    assert floecat.run("catalog", "delete", catalog).code == 5
    floecat("catalog", "delete", catalog, "--cascade")
    assert floecat.run("table", "get", orders).code == 3
    floecat("admin", "sweep")
    assert floecat("admin", "check").out == "everything fits together\n"


def test_if_exists_and_if_not_exists_are_content(floecat: Cli, orders: str) -> None:
    again = floecat("table", "create", orders, "--if-not-exists")
    assert again.out == f"there is already table {orders}\n"
    assert floecat("table", "create", orders, "--if-not-exists", "--json").json["table"]
    floecat("table", "delete", orders, "--if-exists")
    gone = floecat("table", "delete", orders, "--if-exists")
    assert gone.out == f"there is no table {orders}: nothing to delete\n"
    assert floecat("table", "delete", orders, "--if-exists", "--json").json == {}
    assert floecat.run("table", "delete", orders).code == 3


@pytest.mark.parametrize(("answer", "code"), [("n\n", 1), ("y\n", 0)])
def test_a_cascade_asks_a_person_first(
    floecat: Cli, catalog: str, orders: str, answer: str, code: int
) -> None:
    theirs, ours = pty.openpty()
    with subprocess.Popen(
        [PROGRAM, "catalog", "delete", catalog, "--cascade"],
        cwd=floecat.folder,
        env={"PATH": "/usr/bin:/bin", **floecat.environment},
        stdin=ours,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as asked:
        os.write(theirs, answer.encode())
        _, questions = asked.communicate(timeout=30)
    os.close(theirs)
    os.close(ours)
    assert f"Delete catalog {catalog} and everything in it?" in questions
    assert asked.returncode == code
    assert floecat.run("catalog", "get", catalog).code == (0 if code else 3)


def test_a_service_that_is_not_running_says_how_to_start_it(floecat: Cli, unused_port: int) -> None:
    failed = floecat.run("--server", f"localhost:{unused_port}", "catalog", "list")
    assert failed.err == (
        f"floecat: no service answers at localhost:{unused_port}: start one with 'floecat serve', "
        "or name another with --server\n"
    )
    assert failed.code == 7


def test_json_has_the_contracts_keys_whether_set_or_not(floecat: Cli, orders: str) -> None:
    found = floecat("table", "get", orders, "--json").json
    assert set(found) == {"table", "meta"}
    assert {"resource_id", "namespace_id", "display_name", "schema_json", "partition_specs"} <= set(
        found["table"]
    )
    assert found["table"]["description"] == ""
    assert set(found["meta"]) == {"version", "etag", "created_at", "updated_at"}
    namespace = orders.rpartition(".")[0]
    [listed] = floecat("table", "list", namespace, "--json").json
    assert listed == found["table"]
    assert floecat("table", "list", namespace, "--prefix", "zz", "--json").json == []


def test_a_reader_that_leaves_is_no_failure_to_talk_about(floecat: Cli, catalog: str) -> None:
    wide = json.dumps({"fields": [], "note": "x" * 300_000})
    floecat.make(f"{catalog}.eu")
    floecat("table", "create", f"{catalog}.eu.wide", "--schema", "-", stdin=wide)
    piped = subprocess.run(
        ["bash", "-c", f"'{PROGRAM}' table get {catalog}.eu.wide --json | head -c 1"],
        env={"PATH": "/usr/bin:/bin", **floecat.environment},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (piped.stdout, piped.stderr) == ("{", "")


def test_an_attachment_too_large_for_its_snapshot_says_how_to_add_it(
    floecat: Cli, orders: str
) -> None:
    large = floecat.folder / "large"
    large.write_bytes(bytes(9_000_000))
    failed = floecat.run("snapshot", "create", orders, "--snapshot", "1", "--attach", f"m={large}")
    assert "floecat snapshot attach" in failed.err
    assert failed.code == 2


def test_the_default_account_is_kept(floecat: Cli) -> None:
    failed = floecat.run("account", "delete", "default", "--cascade", "--yes")
    assert "default account" in failed.err
    assert failed.code == 5


def test_an_account_that_nobody_has_is_told_in_our_words(floecat: Cli) -> None:
    failed = floecat.run("--account", "käse", "catalog", "list")
    assert failed.err.startswith("floecat: there is no account 'käse': name another with --account")
    assert failed.code == 6


def test_a_name_like_an_id_is_shown_as_it_has_to_be_written(floecat: Cli) -> None:
    name = "0f0e0d0c-0b0a-0908-0706-050403020100"
    assert floecat("catalog", "create", name).out == f'created catalog "{name}"\n'
    assert floecat("catalog", "get", f'"{name}"').fields["name"] == f'"{name}"'
