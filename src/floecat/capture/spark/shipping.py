"""Our code for executors elsewhere, as a zip; and whether they have the packages it needs."""

import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

import ai.floedb.floecat.execution.stored_pb2 as generated
import floecat
from floecat.errors import FailedPreconditionError

NAME: Final = "floecat-tasks.zip"
NEEDED: Final = ("pyarrow", "numpy", "pandas", "polars", "polars-hash", "datasketches", "protobuf")
"""Packages that aren't shipped, since they are made for a machine."""
_PROBES: Final = 4


def tasks_archive(folder: Path) -> Path:
    """A zip of our code; a wheel wouldn't be importable, and Connect takes no folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / NAME
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, name in _files():
            archive.write(file, name)
    return path


def _files() -> Iterator[tuple[Path, str]]:
    ours = Path(str(floecat.__file__)).parent
    stubs = Path(str(generated.__file__)).parents[1]
    for root, name in ((ours, "floecat"), (stubs, "ai/floedb/floecat")):
        for file in sorted(root.rglob("*.py")):
            yield file, f"{name}/{file.relative_to(root).as_posix()}"


def require_packages(session: Any) -> None:
    """Ask executors what they have, and say what is missing before a capture fails for it."""
    frame = session.range(0, _PROBES, 1, _PROBES).mapInArrow(_probe, "problems string")
    problems = sorted({row.problems for row in frame.collect() if row.problems})
    if problems:
        raise FailedPreconditionError(
            f"Spark's executors can't run captures: {'; '.join(problems)}. Give them a Python with "
            "these packages (spark.archives or their image)",
            reason="EXECUTORS_UNPREPARED",
        )


def _probe(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        missing = ", ".join(name for name in NEEDED if not _has(name))
        text = f"they lack {missing}" if missing else ""
        yield pa.RecordBatch.from_pydict({"problems": [text] * batch.num_rows})


def _has(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True
