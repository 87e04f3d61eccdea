"""Resolves pyproject.toml into hashed requirements files that name no package index.

python scripts/lock.py            resolve anew
python scripts/lock.py --check    fail if a file doesn't satisfy pyproject.toml, or names an index
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^ ;\\]+)", re.MULTILINE)
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}\b")
ADDRESS = re.compile(r"https?://|--index-url|--find-links|--extra-index-url")

LOCKS = {
    "requirements/runtime.txt": ["--all-extras"],
    "requirements/dev.txt": ["--all-extras", "--group", "dev"],
}


def resolve(path: str) -> None:
    """Write one lock file for every platform and Python from 3.11 on."""
    uv = Path(sys.executable).parent / "uv"
    options = [
        "--universal",
        "--python-version",
        "3.11",
        "--generate-hashes",
        "--upgrade",
        "--quiet",
    ]
    command = [str(uv), "pip", "compile", *options, "--no-header", *LOCKS[path]]
    subprocess.run([*command, "pyproject.toml", "-o", path], cwd=ROOT, check=True)


def wanted(path: str) -> list[Requirement]:
    """What pyproject.toml asks of a lock file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    texts = list(project["project"]["dependencies"])
    for extra in project["project"]["optional-dependencies"].values():
        texts += extra
    if "--group" in LOCKS[path]:
        texts += project["dependency-groups"]["dev"]
    return [Requirement(text) for text in texts]


def problems(path: str) -> list[str]:
    """Why a lock file can't be used as it is."""
    text = (ROOT / path).read_text()
    pinned = {canonicalize_name(name): pin for name, pin in PINNED.findall(text)}
    found = [
        f"{path}: {requirement} isn't met"
        for requirement in wanted(path)
        if pinned.get(canonicalize_name(requirement.name)) is None
        or not requirement.specifier.contains(pinned[canonicalize_name(requirement.name)])
    ]
    entries = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
    found += [
        f"{path}: {entry.split()[0]} has no hash" for entry in entries if not HASH.search(entry)
    ]
    if ADDRESS.search(text):
        found.append(f"{path}: names a package index")
    return found


def main() -> int:
    """Resolve, or check what is committed."""
    if "--check" not in sys.argv[1:]:
        for path in LOCKS:
            resolve(path)
        return 0
    found = [problem for path in LOCKS for problem in problems(path)]
    for problem in found:
        print(problem)
    if found:
        print("run: make lock")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
