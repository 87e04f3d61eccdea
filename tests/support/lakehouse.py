"""The committed tables of other engines, put back where their metadata says they are.

Iceberg's metadata holds absolute paths, so the tables can be read at one place only: the folder
below /tmp that they were made in. They are copied there byte for byte, which is checked every time,
so that what is tested is what the other engine wrote. Whoever is the last to use them removes them.
"""

import fcntl
import filecmp
import json
import os
import shutil
import tarfile
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

FIXTURES = Path(__file__).parents[1] / "fixtures" / "lakehouse"
_BOOKKEEPING = ("root.txt", "times.json", "truth.json")


@cache
def iceberg_root() -> Path:
    return _installed(FIXTURES / "iceberg")


@cache
def delta_root() -> Path:
    return _installed(FIXTURES / "delta")


@cache
def iceberg_truth() -> dict[str, Any]:
    return _truth("iceberg")


@cache
def delta_truth() -> dict[str, Any]:
    return _truth("delta")


def _truth(name: str) -> dict[str, Any]:
    text = (FIXTURES / name / "truth.json").read_text()
    truth: dict[str, Any] = json.loads(text)
    return truth


_LOCKS: list[IO[str]] = []
"""Held until this process ends: as long as anybody holds one, the tables stay."""


def remove_installed() -> None:
    """Remove the tables, unless another process still reads them."""
    while _LOCKS:
        _LOCKS.pop().close()
    for fixture in FIXTURES.iterdir():
        root = _root(fixture)
        lock_path = root.with_suffix(".lock")
        if not lock_path.exists():
            continue
        with lock_path.open("a") as lock, suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(root, ignore_errors=True)
            lock_path.unlink(missing_ok=True)


def _root(fixture: Path) -> Path:
    return Path((fixture / "root.txt").read_text().strip())


def _hold(root: Path) -> None:
    lock = root.with_suffix(".lock").open("a")
    fcntl.flock(lock, fcntl.LOCK_SH)
    _LOCKS.append(lock)


def _installed(fixture: Path) -> Path:
    root = _root(fixture)
    _hold(root)
    with tempfile.TemporaryDirectory(dir=root.parent, prefix=f"{root.name}-") as folder:
        fresh = Path(folder) / "tables"
        _unpack(fixture, fresh)
        try:
            fresh.rename(root)  # whole, or not at all: other test processes do the same
        except OSError:
            _compare(fresh, root)
    return root


def _unpack(fixture: Path, target: Path) -> None:
    shutil.copytree(fixture, target, ignore=shutil.ignore_patterns(*_BOOKKEEPING))
    for archive in target.rglob("*.tar.xz"):
        with tarfile.open(archive) as opened:
            opened.extractall(
                archive.with_name(archive.name.removesuffix(".tar.xz")), filter="data"
            )
        archive.unlink()
    for namespace in _truth(fixture.name).get("warehouse", {}).get("namespaces", []):
        target.joinpath("warehouse", *namespace).mkdir(exist_ok=True)  # git keeps no empty folder
    times = fixture / "times.json"
    if times.exists():
        for path, milliseconds in json.loads(times.read_text()).items():
            moment = milliseconds * 10**6
            os.utime(target / path, ns=(moment, moment))


def _compare(fresh: Path, installed: Path) -> None:
    """What is there already must be the same, or a test would tell of something else."""
    names = [path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()]
    there = [path.relative_to(installed) for path in installed.rglob("*") if path.is_file()]
    _, different, missing = filecmp.cmpfiles(fresh, installed, names, shallow=False)
    if different or missing or set(there) != set(names):
        raise AssertionError(f"{installed} isn't what is committed: remove it and try again")
