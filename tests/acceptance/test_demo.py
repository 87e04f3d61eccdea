"""`make demo` shows what it says."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.slow
@pytest.mark.spark
def test_the_demo_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "demo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    for line in (
        "12 files (12 done)",
        "9 files (9 done)",
        "5 files (1 done, 4 used again)",
        "    ├── lineitem",
        "l_extendedprice",
        "600,572",
    ):
        assert line in done.stdout, done.stdout
    for noise in ("WARN", "INFO", "log4j"):
        assert noise not in done.stdout + done.stderr
