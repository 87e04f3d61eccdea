"""The same capture on a standalone cluster and through Spark Connect."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.sparks import cluster, connect_server

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).parents[3]
"""In a process each: Spark keeps to the first kind of session that a process starts."""


def run(folder: Path, *options: str) -> str:
    command = [sys.executable, "-m", "tests.support.spark_capture", str(folder), *options]
    ran = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_a_standalone_cluster(tmp_path: Path) -> None:
    with cluster(tmp_path) as master:
        assert "same" in run(tmp_path, "--master", master)


def test_spark_connect(tmp_path: Path) -> None:
    with connect_server(tmp_path) as remote:
        assert "same" in run(tmp_path, "--remote", remote)
