"""What the documentation shows is run: the example, the client's page, the README's session."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.cli import Cli

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def run_example(cli: Cli) -> str:
    done = subprocess.run(
        [
            sys.executable,
            str(ROOT / "examples" / "mirror_a_table.py"),
            cli.environment["FLOECAT_CLIENT_SERVER"],
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_example_runs_twice_with_the_same_result(floecat: Cli) -> None:
    expected = "demo.eu.orders as of 15 January is snapshot 101, with ['id', 'ordered_at']\n"
    assert run_example(floecat) == expected
    assert run_example(floecat) == expected
    assert [row[0] for row in floecat("snapshot", "list", "demo.eu.orders").rows] == ["102", "101"]


def test_the_clients_page_runs_from_top_to_bottom(floecat: Cli) -> None:
    run_example(floecat)  # the page reads what the example declared
    page = (ROOT / "docs" / "client.md").read_text()
    code = "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    code = code.replace("localhost:9100", floecat.environment["FLOECAT_CLIENT_SERVER"])
    names: dict[str, object] = {}
    exec(compile(code, "docs/client.md", "exec"), names)
    assert names["missing"] == ['demo.eu."no.such"']
    assert {"demo", "main", "scratch"} <= set(names["names"])  # type: ignore[call-overload]


def sessions(page: Path) -> list[tuple[str, str]]:
    """Each command that a page shows, with the output it shows."""
    blocks = re.findall(r"```\n(\$ floecat .*?)```", page.read_text(), re.DOTALL)
    shown = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)]
    pairs = (part.partition("\n") for part in shown if part)
    return [(command, output) for command, _, output in pairs]


def test_the_readmes_session_is_real(floecat: Cli) -> None:
    shown = sessions(ROOT / "README.md")
    assert len(shown) > 4
    for command, output in shown:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=ROOT,
            env={
                "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
                "FLOECAT_CLIENT_SERVER": floecat.environment["FLOECAT_CLIENT_SERVER"],
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.stdout + done.stderr == output, command
