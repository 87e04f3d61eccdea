"""TPC-H's tables as parquet files."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

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


def read_parts(folder: Path, table: str) -> Iterator[pa.Table]:
    """A table's files one after another, in types that every writer knows."""
    for path in sorted((folder / table).glob("*.parquet")):
        read = pq.ParquetFile(path).read()
        kinds = {pa.string_view(): pa.string()}
        fields = [pa.field(part.name, kinds.get(part.type, part.type)) for part in read.schema]
        yield read.cast(pa.schema(fields))
