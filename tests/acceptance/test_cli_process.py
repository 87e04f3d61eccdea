"""The command as a process: how it starts, completes words, and is interrupted."""

import os
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from tests.support.cli import PROGRAM, Cli


def completed(cli: Cli, words: str, shell: str = "bash") -> list[str]:
    """What the shell would offer for the last word."""
    environment = {
        "bash": {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)},
        "zsh": {"_TYPER_COMPLETE_ARGS": words},
        "fish": {"_TYPER_COMPLETE_ARGS": words, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    done = subprocess.run(
        [PROGRAM],
        env={
            "PATH": "/usr/bin:/bin",
            **cli.environment,
            **environment,
            "_FLOECAT_COMPLETE": f"complete_{shell}",
        },
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.split()


slow = partial(pytest.param, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("floecat tab", ["table"]),
        ("floecat table get completion.eu.or", ["completion.eu.orders", "completion.eu.orphans"]),
        # A process each, and nothing in them that the two above wouldn't show.
        slow("floecat tabel ge", []),
        slow("floecat table ge", ["get"]),
        slow("floecat table get comp", ["completion"]),
        slow("floecat table get completion.e", ["completion.eu"]),
        slow("floecat namespace get completion.eu.or", []),
        slow("floecat catalog get completion.e", []),
    ],
)
def test_names_are_completed(floecat: Cli, words: str, offered: list[str]) -> None:
    if floecat.run("catalog", "get", "completion").code == 3:
        floecat.make_table("completion.eu.orders")
        floecat.make_table("completion.eu.orphans")
    assert completed(floecat, words) == offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_complete_too(floecat: Cli, shell: str) -> None:
    assert "main" in " ".join(completed(floecat, "floecat catalog get ma", shell))


def test_completion_is_silent_when_nobody_answers(floecat: Cli, unused_port: int) -> None:
    nowhere = floecat.with_settings(client_server=f"localhost:{unused_port}")
    assert completed(nowhere, "floecat catalog get ma") == []


def test_completion_does_not_wait_for_a_service_that_hangs(floecat: Cli) -> None:
    with socket.socket() as deaf:  # accepts connections and never says a word
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        hanging = floecat.with_settings(client_server=f"127.0.0.1:{deaf.getsockname()[1]}")
        started = time.monotonic()
        assert completed(hanging, "floecat catalog get ma") == []
        assert time.monotonic() - started < 5


def test_a_client_command_imports_nothing_of_the_servers(floecat: Cli) -> None:
    script = (
        "import sys; from floecat.cli.main import app; "
        "app(['catalog', 'list'], standalone_mode=False); "
        "print([m for m in sys.modules if m.split('.')[0] in "
        "('apsw', 'pyarrow', 'numpy', 'structlog', 'prometheus_client', 'psycopg', 'boto3') "
        "or m.startswith(('floecat.storage', 'floecat.service', 'floecat.catalog', "
        "'floecat.bootstrap'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PATH": "/usr/bin:/bin", **floecat.environment},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_an_interrupted_command_is_quiet_and_exits_with_130(tmp_path: Path) -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        server = f"127.0.0.1:{deaf.getsockname()[1]}"
        with subprocess.Popen(
            [PROGRAM, "--server", server, "catalog", "list"],
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as waiting:
            connection, _ = deaf.accept()  # now it waits for an answer
            os.kill(waiting.pid, signal.SIGINT)
            out, err = waiting.communicate(timeout=20)
            connection.close()
    assert (waiting.returncode, out, err) == (130, "", "")
