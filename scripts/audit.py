"""Looks up known vulnerabilities of the locked runtime packages; writes a bill of materials."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SBOM = ROOT / "build" / "sbom.json"


def main() -> int:
    """Audit, then write the bill of materials; the audit's verdict is the exit code."""
    SBOM.parent.mkdir(exist_ok=True)
    audit = [str(Path(sys.executable).parent / "pip-audit"), "--requirement"]
    audit += [
        "requirements/runtime.txt",
        "--require-hashes",
        "--disable-pip",
        "--progress-spinner=off",
    ]
    verdict = subprocess.run(audit, cwd=ROOT, check=False).returncode
    subprocess.run(
        [*audit, "--format=cyclonedx-json", f"--output={SBOM}"],
        cwd=ROOT,
        check=False,
        capture_output=True,
    )
    if SBOM.exists():
        print(f"bill of materials: {SBOM.relative_to(ROOT)}")
    return verdict


if __name__ == "__main__":
    sys.exit(main())
