"""TPC-H's tables as parquet files."""

import subprocess
import sys
from pathlib import Path

TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")


def make_tpch(folder: Path, scale: float, parts: int, tables: tuple[str, ...] = TABLES) -> Path:
    """Make tables, each a folder of files; the small ones have one file."""
    program = Path(sys.executable).parent / "tpchgen-cli"
    for table in tables:
        some = 1 if table in {"nation", "region"} else parts
        command = [program, "parquet", "-s", str(scale), "--tables", table]
        command += ["--parts", str(some), "--output-dir", folder, "--overwrite"]
        subprocess.run([str(word) for word in command], check=True, capture_output=True)
    return folder
