"""`floecat config` as a person would run it: a real process, its output and its exit code."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


def floecat(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).with_name("floecat")), *arguments],
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_show_prints_each_value_with_where_it_came_from(tmp_path: Path) -> None:
    (tmp_path / "floecat.toml").write_text('"reconciler.max-parallelism" = 4\n')
    result = floecat("config", "show", cwd=tmp_path, FLOECAT_KV="memory")
    rows = {line.split()[0]: line.split()[1:] for line in result.stdout.splitlines()[1:]}
    assert result.returncode == 0
    assert rows["reconciler.max-parallelism"] == ["4", "floecat.toml"]
    assert rows["kv"] == ["memory", "environment", "FLOECAT_KV"]
    assert rows["blobs"] == ["filesystem", "default"]


def test_show_changed_as_json_masks_secrets(tmp_path: Path) -> None:
    result = floecat(
        *("config", "show", "--changed", "--json"),
        cwd=tmp_path,
        FLOECAT_RECONCILER_OIDC_CLIENT_SECRET="c4nary",
    )
    assert json.loads(result.stdout) == [
        {"key": "reconciler.oidc.client-secret", "value": "********", "from": "environment"}
    ]


def test_an_unknown_key_is_one_readable_message_and_exit_code_2(tmp_path: Path) -> None:
    result = floecat("config", "show", cwd=tmp_path, FLOECAT_RECONCILER_JOB_STOR="memory")
    assert result.returncode == 2
    assert "did you mean FLOECAT_RECONCILER_JOB_STORE?" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", [[], ["config"], ["config", "show"]])
def test_every_command_has_help_with_an_example(tmp_path: Path, command: list[str]) -> None:
    result = floecat(*command, "--help", cwd=tmp_path)
    assert result.returncode == 0
    assert "Example: " in result.stdout


def test_the_version_is_printed(tmp_path: Path) -> None:
    assert floecat("--version", cwd=tmp_path).stdout.startswith("floecat 0.")


def test_a_command_that_does_not_exist_is_one_line_with_a_guess(tmp_path: Path) -> None:
    result = floecat("tabel", "list", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "floecat: there is no command tabel; did you mean table?\n"
