"""Generates the stubs in src/ai from proto/, with type hints.

python scripts/proto.py            write src/ai
python scripts/proto.py --check    fail if src/ai isn't what would be written
"""

import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
from importlib import resources
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
STUBS = ROOT / "src" / "ai"


def generate(target: Path) -> None:
    """Write `target/ai/...` with messages, service stubs and their type hints."""
    protos = sorted(str(path.relative_to(PROTO)) for path in PROTO.rglob("*.proto"))
    well_known = resources.files("grpc_tools") / "_proto"
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTO}", f"-I{well_known}"]
    command += [f"--{kind}_out={target}" for kind in ("python", "grpc_python")]
    command += [f"--{kind}_out=quiet:{target}" for kind in ("mypy", "mypy_grpc")]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    subprocess.run([*command, *protos], check=True, cwd=PROTO, env={**os.environ, "PATH": path})
    for stub in target.rglob("*_pb2_grpc.py*"):
        if not declares_service(stub):
            stub.unlink()


def declares_service(stub: Path) -> bool:
    """Files without a service would only hold an empty `_pb2_grpc` module."""
    source = stub.with_name(stub.name.split("_pb2_grpc")[0] + ".proto")
    relative = source.relative_to(next(p for p in source.parents if p.name == "ai").parent)
    return any(line.startswith("service ") for line in (PROTO / relative).read_text().splitlines())


def differences(comparison: "filecmp.dircmp[str]", prefix: str = "") -> list[str]:
    """Paths that differ between the two trees, bytecode aside."""
    found = [f"{prefix}{name} is stale" for name in comparison.diff_files]
    found += [f"{prefix}{name} is missing" for name in comparison.left_only]
    found += [f"{prefix}{name} has no proto" for name in comparison.right_only]
    for name, child in comparison.subdirs.items():
        found += differences(child, f"{prefix}{name}/")
    return found


def main() -> int:
    """Generate, or compare with what is committed."""
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        fresh = Path(folder) / "ai"
        if "--check" not in sys.argv[1:]:
            shutil.rmtree(STUBS, ignore_errors=True)
            shutil.copytree(fresh, STUBS)
            return 0
        stale = differences(filecmp.dircmp(fresh, STUBS, ignore=["__pycache__"]), "src/ai/")
        for line in stale:
            print(line)
        if stale:
            print("run: make proto")
        return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
