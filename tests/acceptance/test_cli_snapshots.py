"""Snapshots, their attachments and their constraints on the command line."""

import json

import pytest
from tests.support.cli import Cli

pytestmark = pytest.mark.slow  # a process for every step

KEY = {"name": "pk", "type": "CT_PRIMARY_KEY", "columns": [{"name": "id"}]}
CHECK = {"name": "positive", "type": "CT_CHECK", "check_expression": "id > 0"}


@pytest.fixture
def table(floecat: Cli, catalog: str) -> str:
    return floecat.make_table(f"{catalog}.eu.orders")


def test_snapshots_are_found_by_id_by_time_and_as_the_current_one(floecat: Cli, table: str) -> None:
    for number, day in ((1, "2026-01-01"), (2, "2026-02-01")):
        floecat(
            *("snapshot", "create", table, "--snapshot", str(number), "--created-at", day),
            *("--summary", "operation=append"),
        )
    assert [row[0] for row in floecat("snapshot", "list", table).rows] == ["2", "1"]

    def shown(*which: str) -> str:
        return floecat("snapshot", "get", table, *which).fields["snapshot"]

    assert shown() == shown("--current") == "2"
    assert shown("--snapshot", "1") == shown("--as-of", "2026-01-31T23:59:59Z") == "1"
    assert floecat.run("snapshot", "get", table, "--as-of", "2025-12-31").code == 3
    assert floecat.run("snapshot", "get", table, "--as-of", "soon").code == 2
    both = floecat.run("snapshot", "get", table, "--snapshot", "1", "--current")
    assert (both.code, "exclude each other" in both.err) == (2, True)
    floecat("snapshot", "delete", table, "--snapshot", "2")
    assert shown() == "1"


def test_a_parent_whose_id_is_0_is_shown(floecat: Cli, table: str) -> None:
    """The first version of a Delta table is 0."""
    first = ("--snapshot", "0", "--created-at", "2026-01-01")
    second = ("--snapshot", "1", "--parent", "0", "--created-at", "2026-01-02")
    for snapshot in (first, second):
        floecat("snapshot", "create", table, *snapshot)
    listed = {row[0]: row[2:3] for row in floecat("snapshot", "list", table).rows}
    assert listed == {"0": [], "1": ["0"]}


@pytest.mark.parametrize("size", [10, 300_000])
def test_attachments_come_back_byte_for_byte(floecat: Cli, table: str, size: int) -> None:
    content = bytes(range(256)) * (size // 256 + 1)
    (floecat.folder / "in.bin").write_bytes(content)
    floecat("snapshot", "create", table, "--snapshot", "7", "--attach", "manifest=in.bin")
    written = floecat("snapshot", "attachment", table, "manifest", "--output", "out.bin")
    assert (floecat.folder / "out.bin").read_bytes() == content
    assert written.out == ""  # standard output is for the bytes
    assert floecat.run("snapshot", "attachment", table, "other").code == 3


def test_an_attachment_larger_than_a_message_is_added_later(floecat: Cli, table: str) -> None:
    content = bytes(range(256)) * 20_000  # 5 MB, and a message has 4 MiB
    (floecat.folder / "in.bin").write_bytes(content)
    floecat("snapshot", "create", table, "--snapshot", "7")
    attach = ("snapshot", "attach", table, "checkpoint", "in.bin", "--snapshot", "7")
    floecat(*attach)
    floecat("snapshot", "attachment", table, "checkpoint", "--output", "out.bin")
    assert (floecat.folder / "out.bin").read_bytes() == content
    assert floecat.run(*attach).code == 4  # there is one of that name
    missing = floecat.run("snapshot", "attach", table, "other", "no.bin", "--snapshot", "7")
    assert (missing.code, "no.bin" in missing.err) == (3, True)


def test_constraints_are_put_merged_appended_dropped_and_deleted(floecat: Cli, table: str) -> None:
    floecat("snapshot", "create", table, "--snapshot", "1")

    def names() -> list[str]:
        found = floecat("constraints", "get", table, "--json").json
        return [c["name"] for c in found["constraints"]["constraints"]]

    assert floecat.run("constraints", "get", table).code == 3
    floecat("constraints", "put", table, "-", stdin=json.dumps([KEY]))
    floecat("constraints", "add", table, "-", stdin=json.dumps(CHECK))
    rows = floecat("constraints", "get", table).rows
    assert rows == [["pk", "primary key", "id"], ["positive", "check", "id > 0"]]
    again = floecat.run("constraints", "append", table, "-", stdin=json.dumps([KEY]))
    assert (again.code, names()) == (4, ["pk", "positive"])
    floecat("constraints", "merge", table, "-", stdin=json.dumps({"constraints": [KEY]}))
    floecat("constraints", "drop", table, "positive")
    assert floecat("constraints", "list", table).rows == [["1", "pk"]]
    printed = floecat("constraints", "get", table, "--json").out
    floecat("constraints", "put", table, "-", stdin=printed)  # what it prints, it reads
    assert names() == ["pk"]
    floecat("constraints", "delete", table)
    floecat("constraints", "delete", table, "--if-exists")
    assert floecat.run("constraints", "delete", table).code == 3


@pytest.mark.parametrize("content", ["{", '[{"name": 1, "type": "CT_NONSENSE"}]', '{"x": 1}'])
def test_constraints_that_cannot_be_read_say_why(floecat: Cli, table: str, content: str) -> None:
    floecat("snapshot", "create", table, "--snapshot", "1")
    refused = floecat.run("constraints", "put", table, "-", stdin=content)
    assert refused.code == 2
    assert len(refused.err.splitlines()) == 1
