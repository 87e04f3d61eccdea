"""Looks up known vulnerabilities of the locked runtime packages; writes a bill of materials.

Fails when a package is known to be vulnerable, and also when one couldn't be looked up.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements" / "runtime.txt"
SBOM = ROOT / "build" / "sbom.json"

PINNED = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(?:\[[^\]]*\])?==(?P<version>[^ ;\\]+)")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def components() -> list[dict[str, object]]:
    """Every locked package with its version and hashes, as CycloneDX writes them."""
    found: list[dict[str, object]] = []
    hashes: list[dict[str, str]] = []
    for line in LOCK.read_text().splitlines():
        if pinned := PINNED.match(line):
            name, version = pinned["name"], pinned["version"]
            hashes = []
            purl = f"pkg:pypi/{name}@{version}"
            found.append(
                {
                    "type": "library",
                    "name": name,
                    "version": version,
                    "purl": purl,
                    "hashes": hashes,
                }
            )
        hashes.extend({"alg": "SHA-256", "content": content} for content in HASH.findall(line))
    return found


def write_bill_of_materials() -> None:
    """The locked packages as a CycloneDX document."""
    SBOM.parent.mkdir(exist_ok=True)
    bill = {"bomFormat": "CycloneDX", "specVersion": "1.5", "components": components()}
    SBOM.write_text(json.dumps(bill, indent=2) + "\n")
    print(f"bill of materials: {SBOM.relative_to(ROOT)}, {len(components())} packages")


def audit() -> int:
    """Ask for known vulnerabilities; 0 only if every package was looked up and none is known."""
    command = [str(Path(sys.executable).parent / "pip-audit"), "--requirement", str(LOCK)]
    command += ["--require-hashes", "--disable-pip", "--progress-spinner=off", "--format=json"]
    result = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    try:
        packages = json.loads(result.stdout)["dependencies"]
    except (json.JSONDecodeError, KeyError):
        print(f"the audit didn't run:\n{result.stderr.strip()}")
        return 1
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    vulnerable = [package for package in packages if package.get("vulns")]
    for package in vulnerable:
        ids = ", ".join(vulnerability["id"] for vulnerability in package["vulns"])
        print(f"{package['name']} {package['version']}: {ids}")
    if skipped:
        print(f"{len(skipped)} of {len(packages)} packages couldn't be looked up: nothing is known")
    if not skipped and not vulnerable:
        print(f"no known vulnerability in {len(packages)} packages")
    return 1 if skipped or vulnerable else 0


if __name__ == "__main__":
    write_bill_of_materials()
    sys.exit(audit())
