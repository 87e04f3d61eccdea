"""Every command: help with an example, and options that mean the same everywhere."""

from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from floecat.cli.commands import COMMANDS
from floecat.cli.main import app


def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name in command.list_commands(None) if hasattr(command, "list_commands") else ():
        yield from walk(command.get_command(None, name), (*path, name))


EVERY = dict(walk(typer.main.get_command(app), ("floecat",)))
VERBS = {path: command for path, command in EVERY.items() if not hasattr(command, "commands")}


def options(command: Any) -> dict[str, Any]:
    """The options of a command, by their longest name."""
    return {max(p.opts, key=len): p for p in command.params if p.opts[0].startswith("-")}


def test_there_is_a_command_for_every_noun() -> None:
    assert {path[1] for path in EVERY if len(path) > 1} == set(COMMANDS)
    assert {path[2] for path in EVERY if path[1:2] == ("table",) and len(path) > 2} == {
        *("create", "list", "get", "update", "delete")
    }


@pytest.mark.parametrize("path", EVERY, ids=" ".join)
def test_help_has_an_example_of_the_command_itself(path: tuple[str, ...]) -> None:
    command = EVERY[path]
    assert command.help
    assert command.epilog.startswith("Example: ")
    assert " ".join(path) in command.epilog


@pytest.mark.parametrize("path", VERBS, ids=" ".join)
def test_every_option_says_what_it_is_for(path: tuple[str, ...]) -> None:
    for name, option in options(VERBS[path]).items():
        assert option.help, name


def test_an_option_reads_the_same_wherever_it_is() -> None:
    shared = {"--json", "--etag", "--version", "--idempotency-key", "--set", "--unset", "--yes"}
    shared |= {"--if-exists", "--if-not-exists", "--rename", "--description", "--cascade"}
    helps: dict[str, set[str]] = {name: set() for name in shared}
    for command in VERBS.values():
        for name in shared & set(options(command)):
            helps[name].add(options(command)[name].help)
    assert {name: len(texts) for name, texts in helps.items()} == dict.fromkeys(shared, 1)


NOUNS = ("account", "catalog", "namespace", "table", "view")


@pytest.mark.parametrize("noun", NOUNS)
@pytest.mark.parametrize(
    ("verb", "expected"),
    [
        ("create", {"--json", "--idempotency-key", "--if-not-exists", "--set", "--description"}),
        ("list", {"--json", "--limit"}),
        ("get", {"--json"}),
        (
            "update",
            {"--json", "--idempotency-key", "--etag", "--version", "--set", "--unset", "--rename"},
        ),
        ("delete", {"--json", "--idempotency-key", "--etag", "--version", "--if-exists"}),
    ],
)
def test_every_noun_has_the_same_options(noun: str, verb: str, expected: set[str]) -> None:
    assert expected <= set(options(VERBS["floecat", noun, verb]))


@pytest.mark.parametrize("noun", ["account", "catalog", "namespace"])
def test_what_has_children_is_deleted_with_cascade(noun: str) -> None:
    assert {"--cascade", "--yes"} <= set(options(VERBS["floecat", noun, "delete"]))


def test_every_command_that_prints_can_print_json() -> None:
    silent = {("floecat", "serve"), ("floecat", "worker"), ("floecat", "snapshot", "attachment")}
    assert {path for path in VERBS if "--json" not in options(VERBS[path])} == silent
