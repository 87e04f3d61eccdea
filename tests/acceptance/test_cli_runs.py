"""Runs from the command line: a real service with its own worker, and what people read of it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.support.cli import Cli, Ran, serving
from tests.support.lake import Lake
from tests.support.waiting import eventually
from tests.support.worker_process import worker_environment, worker_process

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def lake(home: Path) -> Lake:
    lake = Lake(home)
    lake.add("sales.orders", snapshots=3)
    lake.add("sales.items")
    lake.add("ops.jobs", snapshots=0)
    return lake


@pytest.fixture(scope="module")
def cli(home: Path, lake: Lake) -> Iterator[Cli]:
    roots = str(lake.folder)
    with serving(home, reconciler_max_parallelism="2", outbound_file_roots=roots) as cli:
        connect(cli, "lake", lake.uri)
        yield cli


@pytest.fixture
def idle(tmp_path: Path, lake: Lake) -> Iterator[Cli]:
    """A service without a worker: whatever is started there stays as it is."""
    with serving(tmp_path) as cli:
        connect(cli, "lake", lake.uri)
        yield cli


def connect(cli: Cli, name: str, uri: str) -> None:
    cli("connector", "create", name, "--kind", "iceberg-sql", "--uri", uri, "--into", name)


def trigger(cli: Cli, *options: str) -> str:
    return str(cli("connector", "trigger", *options, "--json").json["job_id"]["id"])


def test_a_run_that_is_waited_for(cli: Cli) -> None:
    ran = cli("connector", "trigger", "lake", "--full", "--all", "--wait")
    assert re.match(r"lake succeeded after [\d.]+ s: 3 tables and 0 views found\n", ran.out)
    assert "16 jobs (16 done)" in ran.out
    assert "7 files (7 done)" in ran.out
    assert ran.err.startswith("lake: ")
    assert "\x1b" not in ran.out + ran.err, "no colours where nobody can see them"
    tables = [row[0] for row in cli("table", "list", "lake.sales").rows]
    assert tables == ["lake.sales.items", "lake.sales.orders"]


def test_a_run_that_finds_nothing_new(cli: Cli) -> None:
    cli("connector", "trigger", "lake", "--wait")
    ran = cli("connector", "trigger", "lake", "--incremental", "--wait")
    assert "1 job (1 done)" in ran.out
    assert "changed" not in ran.out


def test_a_run_is_looked_at_afterwards(cli: Cli) -> None:
    job = trigger(cli, "lake", "--full")
    waited = cli("connector", "job", job, "--wait")
    assert waited.out.startswith("run succeeded after")
    shown = cli("connector", "job", job).fields
    assert shown["job"] == job
    assert shown["about"] == "run"
    assert shown["state"] == "succeeded"
    assert shown["mode"] == "metadata-and-capture, full"
    assert "10 jobs (10 done)" in shown["done"]
    newest = cli("connector", "jobs", "lake").rows[0]
    assert newest[:5] == [job, "lake", "metadata-and-capture", "succeeded", "10/10"]
    below = cli("connector", "jobs", "--of", job, "--state", "succeeded").rows
    assert sorted(row[1] for row in below) == [
        "table ops.jobs",
        "table sales.items",
        "table sales.orders",
    ]


def test_a_run_is_drawn(cli: Cli) -> None:
    job = trigger(cli, "lake", "--full")
    cli("connector", "job", job, "--wait")
    drawn = cli("connector", "tree", job).out
    assert drawn.startswith("run succeeded\n├── table ops.jobs succeeded\n")
    assert "    └── snapshot sales.orders @" in drawn
    assert drawn.count("finalize") == 2
    shallow = cli("connector", "tree", job, "--depth", "1").out
    assert "snapshot" not in shallow
    assert shallow.endswith("└── table sales.orders succeeded\n    └── …\n")
    narrow = cli("connector", "tree", job, "--each", "1", "--depth", "1").out
    assert narrow == "run succeeded\n├── table ops.jobs succeeded\n└── …\n"


def test_machines_get_json(cli: Cli) -> None:
    started = cli("connector", "trigger", "lake", "--full", "--json").json
    job = started["job_id"]["id"]
    assert started["deduplicated"] is False
    ended = cli("connector", "job", job, "--wait", "--json").json
    assert ended["state"] == "RJS_SUCCEEDED"
    assert ended["counters"]["jobs_total"] == "10"
    assert cli("connector", "job", job, "--json").json["job"] == ended
    tree = cli("connector", "tree", job, "--json").json
    assert len(tree["root"]["children"]) == 3
    jobs = cli("connector", "jobs", "lake", "--json").json
    assert job in json.dumps(jobs)
    settings = cli("connector", "settings", "--json").json
    assert settings["settings"]["max_parallel"] >= 1


def broken(home: Path) -> Lake:
    """A lake with one table that can't be read."""
    home.mkdir()
    lake = Lake(home)
    lake.add("sales.orders")
    lake.add("sales.items")
    location = lake.catalog.load_table("sales.items").metadata_location
    Path(location.removeprefix("file://")).write_text("{")
    return lake


def test_a_run_that_did_only_a_part_exits_with_8(cli: Cli, lake: Lake) -> None:
    connect(cli, "partly", broken(lake.folder / "partly").uri)
    ran = cli.run("connector", "trigger", "partly", "--wait")
    assert ran.code == 8
    how = "1 failed of the 2 tables and views that were worked on"
    assert re.match(rf"partly degraded after [\d.]+ s: {how}\n", ran.out)
    assert "6 jobs (5 done, 1 failed)" in ran.out
    told = failures(ran)
    assert len(told) == 1
    assert told[0].startswith("failed: table sales.items: its metadata can't be read: ")
    assert cli.run("connector", "trigger", "partly", "--wait", "--json").code == 8


def test_a_run_that_failed_exits_with_1_and_says_why_once(cli: Cli, lake: Lake) -> None:
    connect(cli, "gone", f"sqlite:///{lake.folder}/nowhere.db")
    ran = cli.run("connector", "trigger", "gone", "--wait")
    assert ran.code == 1
    assert ran.out.startswith("gone failed after")
    assert ran.out.count("there is no such database") == 1
    assert not failures(ran)
    failed = cli("connector", "jobs", "gone", "--state", "failed").rows
    assert [row[1] for row in failed] == ["gone"]


def failures(ran: Ran) -> list[str]:
    """What is said at the end; what was said on the way has the run's name before it."""
    return [line for line in ran.err.splitlines() if line.startswith("failed: ")]


def test_an_identical_run_is_joined(idle: Cli) -> None:
    first = trigger(idle, "lake", "--full")
    again = idle("connector", "trigger", "lake", "--full")
    assert again.out == f"an identical run is active already: job {first}\n"
    assert f"floecat connector job {first} --wait" in again.err
    assert trigger(idle, "lake", "--incremental") != first
    assert len(idle("connector", "jobs", "lake").rows) == 2


def test_whoever_waits_for_a_run_that_was_there_already_is_told(idle: Cli) -> None:
    job = trigger(idle, "lake")
    with idle.running("connector", "trigger", "lake", "--wait") as waiting:
        assert waiting.stderr is not None
        first = waiting.stderr.readline()
        idle("connector", "cancel", job)
        assert waiting.wait(20) == 1
    assert first == f"an identical run is active already: waiting for job {job}\n"


def test_a_run_is_cancelled(idle: Cli) -> None:
    job = trigger(idle, "lake")
    ran = idle("connector", "cancel", job, "--reason", "wrong catalog")
    assert ran.out == f"job {job}: cancelled\n"
    assert idle("connector", "job", job).fields["message"] == "wrong catalog"
    waited = idle.run("connector", "job", job, "--wait")
    assert waited.code == 1, "whoever waits for it wants it done"
    assert "cancelled: wrong catalog" in waited.out
    assert "1 job (1 cancelled)" in waited.out


def test_a_run_captures_what_was_said(idle: Cli) -> None:
    options = ("--first-n", "2", "--sample", "0.5", "--sample-seed", "7", "--allow-failed-files")
    shown = idle("connector", "job", trigger(idle, "lake", *options), "--json").json
    policy = shown["job"]["capture_policy"]
    assert (policy["default_scope"], policy["first_n"]) == ("DCS_FIRST_N", 2)
    assert policy["sampling"] == {"row_group_fraction": 0.5, "seed": "7"}
    assert policy["allow_failed_files"] is True


def test_cancelling_what_has_ended_says_so(cli: Cli) -> None:
    job = trigger(cli, "lake")
    cli("connector", "job", job, "--wait")
    assert cli("connector", "cancel", job).out == f"job {job}: it has ended already: succeeded\n"


class At(NamedTuple):
    """A service that listens here."""

    port: int


def test_a_run_with_parts_is_in_progress(tmp_path: Path, lake: Lake) -> None:
    """Its worker captures nothing, so that it stays so."""
    settings = {"reconciler_executor_remote_file_group_enabled": "false"}
    environment = worker_environment(lake, tmp_path, **settings)
    (tmp_path / "empty.toml").touch()
    with serving(tmp_path, outbound_file_roots=str(lake.folder)) as cli:
        connect(cli, "lake", lake.uri)
        service = At(int(cli.environment["FLOECAT_CLIENT_SERVER"].rpartition(":")[2]))
        job = trigger(cli, "lake", "--table", "sales.items")
        with worker_process(service, environment, tmp_path / "worker.log"):
            eventually(lambda: "files" in cli("connector", "tree", job).out, "it is planned")
        assert cli("connector", "job", job).fields["state"] == "in progress"
        drawn = re.sub(r"[│├└─]| @\d+", "", cli("connector", "tree", job).out)
    assert [line.strip().partition("  ")[0] for line in drawn.splitlines()] == [
        "run in progress",
        "table sales.items in progress",
        "snapshot sales.items in progress",
        "files sales.items 000000 queued",
        "finalize sales.items waiting",
    ]


def test_settings_are_shown_and_changed(cli: Cli) -> None:
    before = cli("connector", "settings").fields
    assert before["automatic runs"] == "no"
    assert before["ended runs kept for"] == "24 h"
    options = ("--max-parallel", "3", "--keep-finished", "90m", "--every", "30m")
    after = cli("connector", "settings", *options).fields
    assert after["at the same time"] == "3"
    assert after["ended runs kept for"] == "90 min"
    assert after["every"] == "30 min"
    assert cli("connector", "settings").fields == after


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("trigger", "lake", "--current", "--all"), 2, "give one of"),
        (("trigger", "lake", "--mode", "nonsense"), 2, "it is one of"),
        (("trigger", "lake", "--mode", "capture-only", "--view", "a.v"), 2, "view"),
        (
            ("trigger", "lake", "--mode", "metadata-only", "--capture", "stats"),
            2,
            "leave it out, or leave out --capture",
        ),
        (("trigger", "lake", "--first-n", "0"), 2, "--first-n"),
        (("trigger", "lakes"), 3, "did you mean lake?"),
        (("jobs", "--state", "nonsense"), 2, "there is queued, running"),
        (("job", "nope"), 2, "isn't the id of a job"),
        (("cancel", "00000000-0000-4000-8000-000000000000"), 3, "there is no"),
        (("tree", "00000000-0000-4000-8000-000000000000"), 3, "there is no"),
    ],
)
def test_mistakes_are_explained(cli: Cli, arguments: tuple[str, ...], code: int, told: str) -> None:
    ran = cli.run("connector", *arguments)
    assert ran.code == code, ran.err
    assert told in ran.err
    assert not ran.out


@pytest.mark.parametrize("command", ["trigger", "job", "jobs", "tree", "cancel", "settings"])
def test_help_has_an_example(cli: Cli, command: str) -> None:
    assert f"Example: floecat connector {command}" in cli("connector", command, "--help").out


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (
            ["--table", "sales.ordrs"],
            1,
            "there is no table sales.ordrs upstream; did you mean sales.orders?",
        ),
        (
            ["--table", "sale.orders"],
            1,
            "there is no namespace sale upstream, for sale.orders; did you mean sales?",
        ),
        (
            ["--table", "sales.orders", "--table", "sales.itms"],
            8,
            "there is no table sales.itms upstream; did you mean sales.items?",
        ),
        (["--view", "sales.totals"], 1, "there is no view sales.totals upstream"),
        (
            ["--namespace", "sale"],
            1,
            "there is no namespace sale upstream; did you mean sales?",
        ),
        (
            ["--namespace", "ops", "--namespace", "sale"],
            8,
            "there is no namespace sale upstream; did you mean sales?",
        ),
        (["--snapshot", "12"], 8, "no table of this run has the snapshot 12"),
        (["--snapshot", "12", "--full"], 8, "no table of this run has the snapshot 12"),
        (
            ["--column", "nam", "--full"],
            8,
            "no table of this run has the column nam; did you mean name?",
        ),
        (
            ["--column", "nam", "--column", "id"],
            8,
            "no table of this run has the column nam; did you mean name?",
        ),
    ],
)
def test_a_name_that_leads_nowhere_is_no_success(
    cli: Cli, options: list[str], code: int, told: str
) -> None:
    cli("connector", "trigger", "lake", "--all", "--wait")
    ran = cli.run("connector", "trigger", "lake", "--wait", *options)
    assert ran.code == code
    assert told in ran.out + ran.err
    assert "did you mean id" not in ran.out + ran.err


def test_captures_of_what_isnt_mirrored_are_no_work_but_are_told(cli: Cli) -> None:
    options = ["--mode", "capture-only", "--table", "sales.ordrs"]
    ran = cli("connector", "trigger", "lake", "--wait", *options)
    assert "not mirrored, so there is nothing to capture for: sales.ordrs" in ran.out


def test_one_snapshot_says_nothing_about_the_others(cli: Cli, lake: Lake) -> None:
    lake.add("ops.history", snapshots=3)
    try:
        [first, *_] = lake.catalog.load_table("ops.history").snapshots()
        one = ["--snapshot", str(first.snapshot_id), "--table", "ops.history"]
        cli("connector", "trigger", "lake", "--wait", *one)
        assert len(cli("snapshot", "list", "lake.ops.history").rows) == 1
        cli("connector", "trigger", "lake", "--all", "--wait")
        assert len(cli("snapshot", "list", "lake.ops.history").rows) == 3
        cli("connector", "trigger", "lake", "--wait", *one)
        ran = cli("connector", "trigger", "lake", "--all", "--wait")
        assert "1 job (1 done)" in ran.out, "nothing has changed"
    finally:
        lake.catalog.drop_table("ops.history")
        cli("connector", "trigger", "lake", "--full", "--wait")


def test_a_table_says_by_name_what_mirrors_it(cli: Cli, lake: Lake) -> None:
    other = Lake(lake.folder)
    other.add("ops.logs")
    connect(cli, "short-lived", other.uri)
    cli("connector", "trigger", "short-lived", "--wait")
    assert cli("table", "get", "short-lived.ops.logs").fields["connector"] == "short-lived"
    shown = cli("table", "get", "short-lived.ops.logs", "--json").json
    connector_id = shown["table"]["upstream"]["connector_id"]["id"]
    assert (
        connector_id
        == cli("connector", "get", "short-lived", "--json").json["connector"]["resource_id"]["id"]
    )
    cli("connector", "delete", "short-lived")
    left = cli("table", "get", "short-lived.ops.logs").fields
    assert left["connector"] == f"{connector_id} (deleted)"


def test_what_is_gone_isnt_what_was_meant(cli: Cli, lake: Lake) -> None:
    lake.add("ops.passing")
    cli("connector", "trigger", "lake", "--wait")
    lake.catalog.drop_table("ops.passing")
    cli("connector", "trigger", "lake", "--full", "--wait")
    ran = cli.run("table", "get", "lake.ops.passing")
    assert ran.code == 3
    assert "lake.ops.passing is gone: its upstream doesn't have it any more, since 20" in ran.err
    near = cli.run("table", "get", "lake.ops.pasing")
    assert near.code == 3
    assert "there is no table or view lake.ops.pasing" in near.err
    assert "did you mean" not in near.err
