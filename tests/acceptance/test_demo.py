"""`make demo` shows what it says."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.slow
def test_the_demo_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "demo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    for line in (
        "5 tables (5 changed)",
        "3 tables (3 changed)",
        "│   ├── orders_africa",
        "5 tables (1 changed)",
        "3 tables (1 changed)",
    ):
        assert line in done.stdout
