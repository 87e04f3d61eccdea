"""Runs every static check, all of them even when one fails, and says which to mend.

What a check prints is shown only when it fails.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent

CHECKS: dict[str, list[str | Path]] = {
    "format": [BIN / "ruff", "format", "--check", "--quiet", "."],
    "lint": [BIN / "ruff", "check", "--quiet", "."],
    "types": [BIN / "mypy", "--no-error-summary"],
    "layers": [BIN / "lint-imports", "--no-logo"],
    "protos": [BIN / "buf", "lint"],
    "stubs fresh": [sys.executable, "scripts/proto.py", "--check"],
    "docs fresh": [sys.executable, "scripts/docs.py", "--check"],
    "locks": [sys.executable, "scripts/lock.py", "--check"],
}


def passes(name: str) -> bool:
    """Run one check and print one line for it, and its output if it failed."""
    started = time.monotonic()
    result = subprocess.run(
        [str(word) for word in CHECKS[name]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "BUF_CACHE_DIR": str(ROOT / "build" / "buf")},
    )
    verdict = "ok" if result.returncode == 0 else "FAILED"
    print(f"  {name:12} {verdict:7} {time.monotonic() - started:5.1f} s", flush=True)
    if result.returncode != 0:
        print(result.stdout + result.stderr)
    return result.returncode == 0


def main() -> int:
    """Run them all."""
    failed = [name for name in CHECKS if not passes(name)]
    if failed:
        print(f"make check failed: {', '.join(failed)} ('make format' mends formatting)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
